"""Finds and replaces the folder of the index. `DIR/index/current` holds its name.

A new index is made in another folder. Replacing the file `current` then puts it into use at once. A
running search keeps the old index open until the next query; the system frees its files when nobody
has them open.
"""

import contextlib
import fcntl
import re
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path

import msgspec
import tantivy

from sanderling.errors import BadIndex, IndexInUse
from sanderling.files import is_locked
from sanderling.search.schema import FORMAT, SCHEMA, register
from sanderling.search.writing import IndexProgress, write_errors

_CURRENT = "current"
_LOCK = "rebuild.lock"
_PREFIX = f"v{FORMAT}-"


def current(root: Path) -> Path | None:
    """The folder of the index in use. None if there is no index, or only one of another format."""
    try:
        name = (root / _CURRENT).read_text("utf-8").strip()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise BadIndex(f"{root / _CURRENT} cannot be read ({error}): {_remedy(root)}") from None
    if not name or Path(name).name != name or not (root / name).is_dir():
        raise BadIndex(f"{root} is damaged: {_remedy(root)}")
    return root / name if name.startswith(_PREFIX) else None


def create(root: Path) -> Path:
    """Makes an empty folder for a new index."""
    folder = root / f"{_PREFIX}{secrets.token_hex(4)}"
    folder.mkdir(parents=True)
    return folder


def install(root: Path, folder: Path) -> None:
    """Puts the index in a folder into use."""
    part = root / f"{_CURRENT}.{secrets.token_hex(4)}"
    part.write_text(folder.name + "\n", "utf-8")
    part.replace(root / _CURRENT)


def clear(root: Path, keep: Path | None) -> None:
    """Removes every index except `keep`. To be called only while `rebuilding`.

    An index that another process writes to also stays: that process removes it when it ends.
    """
    for path in root.iterdir():
        if path.is_dir() and path != keep and path.name.startswith("v") and not _written_to(path):
            discard(path)
        elif path.name.startswith(f"{_CURRENT}."):
            path.unlink(missing_ok=True)


def discard(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)


def _written_to(folder: Path) -> bool:
    return is_locked(folder / ".tantivy-writer.lock")


@contextlib.contextmanager
def rebuilding(root: Path) -> Iterator[None]:
    """Makes sure that only one process at a time makes a new index."""
    root.mkdir(exist_ok=True)
    with (root / _LOCK).open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise IndexInUse(f"another process is making a new index in {root}") from None
        yield


def open_index(folder: Path, fresh: bool = False) -> tantivy.Index:
    """Opens an index for reading and writing. Raises BadIndex if this version cannot read it."""
    with write_errors() if fresh else read_errors(folder.parent):
        index = register(tantivy.Index(SCHEMA, str(folder), reuse=not fresh))
        index.config_reader("manual")
        return index


def progress_of(searcher: tantivy.Searcher, root: Path) -> IndexProgress:
    with read_errors(root):
        hits = searcher.search(tantivy.Query.term_query(SCHEMA, "progress", "here", "basic"), 1).hits
        note = searcher.doc(hits[0][1]).get_first("cursor") if hits else None
        found = msgspec.json.decode(note, type=IndexProgress) if note else IndexProgress()
    if found.format != FORMAT:
        raise BadIndex(f"the index in {root} was made by another version of Sanderling: {_remedy(root)}")
    return found


@contextlib.contextmanager
def read_errors(root: Path) -> Iterator[None]:
    """Turns the errors of an index that cannot be read into a BadIndex that says what to do."""
    try:
        yield
    except BaseException as error:
        # On some kinds of damage the library panics. A panic is not a subclass of Exception.
        panic = type(error).__name__ == "PanicException"
        if not panic and not isinstance(error, ValueError | OSError | msgspec.MsgspecError):
            raise
        said = " ".join(str(error).split())[:200] or type(error).__name__
        forbidden = re.search("ReadOnlyFilesystem|PermissionDenied", said)
        remedy = "a search has to lock it; copy the crawl to a writable place" if forbidden else _remedy(root)
        raise BadIndex(f"the index in {root} cannot be read ({said}): {remedy}") from None


def _remedy(root: Path) -> str:
    return f"`sanderling reindex {root.parent}` makes a new one from the archive"
