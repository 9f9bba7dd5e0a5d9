"""Deletes the folder of a crawl."""

import contextlib
import shutil
from pathlib import Path

from sanderling.errors import FolderInUse, UsageError
from sanderling.repository.folder import Folder, in_use
from sanderling.settings import load
from sanderling.web.problems import Conflict
from sanderling.web.shelf import Shelf


def delete(shelf: Shelf, crawl: str) -> None:
    """Deletes everything in the folder. It is renamed first, so that nobody sees a part of it."""
    folder = shelf.folder(crawl)
    if in_use(folder):
        raise FolderInUse(f"{crawl} is at work: stop it first")
    if _store(folder):
        raise Conflict(f"the data of {crawl} is in a PostgreSQL database: delete it there, then the folder")
    shelf.close_idle(0)
    doomed = _free_name(folder.path)
    try:
        folder.path.rename(doomed)
        shutil.rmtree(doomed)
    except OSError as error:
        with contextlib.suppress(OSError):
            doomed.rename(folder.path)
        raise UsageError(f"{crawl} cannot be deleted: {error.strerror or error}") from None


def _store(folder: Folder) -> str | None:
    return load(folder.settings)[0].store if folder.settings.exists() else None


def _free_name(path: Path) -> Path:
    return next(found for n in range(1000) if not (found := path.with_name(f".{path.name}.deleted{n or ''}")).exists())
