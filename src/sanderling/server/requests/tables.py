"""Tables of a folder's settings that are added and removed one by one: rules, and who is told.

Each change is written whole, and only if the settings with it are right. Comments and the other
settings stay as they are.
"""

from collections.abc import Mapping
from typing import Literal

import tomlkit
from tomlkit.items import AoT

from sanderling.errors import UsageError
from sanderling.files import PRIVATE, write_whole
from sanderling.repository.folder import Folder
from sanderling.settings import load

TableName = Literal["rules", "notify"]


def add_table(folder: Folder, name: TableName, table: Mapping[str, object]) -> None:
    file, found = _read(folder, name)
    found.append(tomlkit.item(dict(table)))
    keep_file(folder, file, name, found)


def remove_table(folder: Folder, name: TableName, place: int) -> None:
    file, found = _read(folder, name)
    if not 0 <= place < len(found):
        raise UsageError(f"there are {len(found)} of {name}")
    del found[place]
    keep_file(folder, file, name, found)


def read_file(folder: Folder) -> tomlkit.TOMLDocument:
    """The settings of a folder, with their comments."""
    return tomlkit.parse(folder.settings.read_text("utf-8-sig")) if folder.settings.exists() else tomlkit.document()


def keep_file(folder: Folder, file: tomlkit.TOMLDocument, name: str, tables: AoT) -> None:
    """Writes settings with other tables of a name, if they are right."""
    if name in file:
        del file[name]
    if len(tables):
        file[name] = tables
    trial = folder.settings.with_suffix(".new")
    write_whole(trial, tomlkit.dumps(file).encode(), mode=PRIVATE)
    try:
        load(trial)
        trial.replace(folder.settings)
    finally:
        trial.unlink(missing_ok=True)


def _read(folder: Folder, name: str) -> tuple[tomlkit.TOMLDocument, AoT]:
    """The settings, and their tables of a name. A list in one line becomes tables."""
    file = read_file(folder)
    found = file.get(name)
    if isinstance(found, AoT):
        return file, found
    tables = tomlkit.aot()
    for each in found.unwrap() if found is not None else ():
        tables.append(tomlkit.item({"to": each} if isinstance(each, str) else each))
    return file, tables
