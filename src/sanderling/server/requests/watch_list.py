"""The watched pages of a folder: the tables `[[watch]]` of its settings.

Each change is written whole, and only if the settings with it are right. Comments and the other
settings stay as they are.
"""

import shlex
from collections.abc import Iterable, Mapping

import tomlkit
from tomlkit.items import AoT

from sanderling.errors import UsageError
from sanderling.repository import views
from sanderling.repository.folder import Folder
from sanderling.repository.store import ViewStore
from sanderling.server.requests.tables import keep_file, read_file
from sanderling.settings import load
from sanderling.urls import identity
from sanderling.watches import Watch

# A page is not followed, so only watched pages are in such a folder.
_NEW_FOLDER = {"max_depth": 0, "sitemaps": False}


def watches(folder: Folder) -> tuple[Watch, ...]:
    return load(folder.settings)[0].watch if folder.settings.exists() else ()


def add(folder: Folder, url: str, given: Mapping[str, object]) -> None:
    file = read_file(folder)
    tables = _tables(folder, file)
    if _place(tables, url) is not None:
        raise UsageError(f"{url} is watched already: use `sanderling watch edit`")
    tables.append(tomlkit.item({"url": url, **given}))
    _keep(folder, file, tables, added=url)


def edit(folder: Folder, url: str, given: Mapping[str, object]) -> None:
    """Changes the given facts of a watch. None removes one."""
    file = read_file(folder)
    tables = _tables(folder, file)
    table = tables[_known(folder, tables, url)]
    for name, value in given.items():
        if value is None:
            table.pop(name, None)
        else:
            table[name] = value
    _keep(folder, file, tables)


def remove(folder: Folder, url: str) -> None:
    file = read_file(folder)
    tables = _tables(folder, file)
    del tables[_known(folder, tables, url)]
    _keep(folder, file, tables, removed=url)


def last_visits(store: ViewStore, watches: Iterable[Watch]) -> dict[str, float]:
    """When watched pages were last visited; nothing for those that never answered."""
    found = {watch.url: views.url(store, identity(watch.url)) for watch in watches}
    return {url: shown.fetched_at for url, shown in found.items() if shown is not None and shown.fetched_at}


def _tables(folder: Folder, file: tomlkit.TOMLDocument) -> AoT:
    tables = file.get("watch") or tomlkit.aot()
    if not isinstance(tables, AoT):
        raise UsageError(f"{folder.settings} has its watches in one line: write each as a table [[watch]]")
    return tables


def _place(tables: AoT, url: str) -> int | None:
    return next((n for n, table in enumerate(tables) if table.get("url") == url), None)


def _known(folder: Folder, tables: AoT, url: str) -> int:
    at = _place(tables, url)
    if at is None:
        raise UsageError(
            f"{url} is not watched in {folder.path}: `sanderling watch list -d {shlex.quote(str(folder.path))}`"
        )
    return at


def _keep(folder: Folder, file: tomlkit.TOMLDocument, tables: AoT, added: str = "", removed: str = "") -> None:
    """Writes the settings, if they are right."""
    new = not folder.settings.exists()
    if new or (file.get("max_depth") == 0 and "watch" in file):  # in other folders, the crawl has its own seeds
        seeds = [str(seed) for seed in file.get("seeds", []) if seed not in (added, removed)]
        file["seeds"] = [*seeds, added] if added else seeds
    if new:
        file.update(_NEW_FOLDER)
    folder.path.mkdir(parents=True, exist_ok=True)
    keep_file(folder, file, "watch", tables)
