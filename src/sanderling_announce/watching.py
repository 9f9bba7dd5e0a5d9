"""Events of the file system, through watchdog: inotify, FSEvents, kqueue or
ReadDirectoryChangesW."""

from __future__ import annotations

import logging
import os
import sys
import warnings
from typing import Any

from sanderling_announce import clock
from sanderling_announce.dirty import DirtyPaths
from sanderling_announce.pages import is_hidden
from sanderling_announce.paths import HERE


class CannotWatch(Exception):
    """There are no events; the text says why. Scans find changes, too."""


class FolderWatch:
    """Tells of everything that happens below a folder."""

    def __init__(self, root: bytes, dirty: DirtyPaths) -> None:
        try:
            from watchdog import events
            from watchdog.observers import Observer
        except ImportError:
            raise CannotWatch("watchdog is not installed (`pip install watchdog`)") from None
        # What web servers do all day, opening and closing, is not asked for. Where the system says
        # that a file was closed by its writer, each write before it does not matter.
        wanted: list[Any] = [] if sys.platform == "linux" else [events.FileModifiedEvent]
        wanted += [
            events.FileCreatedEvent, events.FileMovedEvent, events.FileDeletedEvent,
            events.FileClosedEvent, events.DirCreatedEvent, events.DirMovedEvent, events.DirDeletedEvent,
        ]  # fmt: skip
        self._overflow = _Overflow(dirty)
        logging.getLogger("watchdog").addHandler(self._overflow)
        # Said when a folder is made while the one above it is added. It is watched all the same.
        warnings.filterwarnings("ignore", "Callback with id", RuntimeWarning)
        self._observer = Observer()
        try:
            handler: Any = _Handler(root, dirty)
            self._observer.schedule(handler, os.fsdecode(root), recursive=True, event_filter=wanted)
            self._observer.start()
        except OSError as error:
            self.close()
            raise CannotWatch(_why(error)) from None

    def is_alive(self) -> bool:
        return self._observer.is_alive()

    def close(self) -> None:
        logging.getLogger("watchdog").removeHandler(self._overflow)
        if self._observer.is_alive():
            self._observer.stop()
            self._observer.join(2)


def _why(error: OSError) -> str:
    if error.errno == 28:  # ENOSPC, which means here that there are no more watches
        return "the system allows too few inotify watches (sysctl fs.inotify.max_user_watches)"
    return error.strerror or str(error)


class _Handler:
    """What watchdog calls, in a thread of its own."""

    def __init__(self, root: bytes, dirty: DirtyPaths) -> None:
        self._roots = (root, os.path.realpath(root))  # some systems tell of the real one
        self._dirty = dirty

    def dispatch(self, event: Any) -> None:
        for where in (event.src_path, event.dest_path):
            if where:
                self._happened(event, os.fsencode(where))

    def _happened(self, event: Any, where: bytes) -> None:
        path = next((path for root in self._roots if (path := HERE.inside(root, where)) is not None), b"")
        if not path:  # the root itself, or something else that says nothing of a file
            self._dirty.lose()
        elif is_hidden(path):
            return
        elif event.is_directory:
            self._dirty.touch_folder(path)
        else:
            self._dirty.touch(path, clock.now(), event.event_type)


class _Overflow(logging.Handler):
    """The one way in which watchdog says that events were lost."""

    def __init__(self, dirty: DirtyPaths) -> None:
        super().__init__(logging.WARNING)
        self._dirty = dirty

    def emit(self, record: logging.LogRecord) -> None:
        if "overflow" in record.getMessage().lower():
            self._dirty.lose()
