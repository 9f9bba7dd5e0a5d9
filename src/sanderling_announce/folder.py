"""A site that is a folder of files, such as what a static-site generator writes."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from sanderling_announce import clock
from sanderling_announce.content import read
from sanderling_announce.dirty import QUIET, SHORT, DirtyPaths
from sanderling_announce.linked import Reach
from sanderling_announce.memory import AnnouncedPage, SiteMemory
from sanderling_announce.pages import PageMap, depth
from sanderling_announce.recording import PageState, record, record_gone
from sanderling_announce.scanning import FileSeen, Walk, compared

if TYPE_CHECKING:
    from sanderling_announce.watching import FolderWatch

# How long a page has to be missing, in seconds, until it is gone: generators remove all files and
# write them again.
GONE_AFTER = 10.0
# How long a step may take while there is more to do, in seconds.
SLICE = 0.1
# Between scans: at least this many seconds, and this many times as long as a scan takes.
SCAN_WITH_EVENTS, SCAN_WITHOUT = (3600.0, 1000), (10.0, 50)
# Files of a scan that are committed together.
_TOGETHER = 1000
_READY = 500

Say = Callable[[str], None]


class FolderSource:
    def __init__(
        self, root: str, pages: PageMap, memory: SiteMemory, say: Say, wake: Callable[[], None], *,
        events: bool = True, ignored: list[Any] | None = None, outside: tuple[bytes, ...] = (), every: float = 0.0,
        gone_after: float = GONE_AFTER, reach: Reach | None = None,
    ) -> None:  # fmt: skip
        self.root = os.fsencode(os.path.abspath(root))
        self._pages = pages
        self._memory = memory
        self._say = say
        self._ignored = ignored or []
        self._outside = outside  # what the announcer itself writes
        self._every = every
        self._gone_after = gone_after
        self._reach = reach  # new pages are those that it has
        self._links_changed = False
        self.hints = True  # turned off in rush hours
        self._dirty = DirtyPaths(wake)
        self._walk = Walk(self.root)
        self._scan: Iterator[None] | None = None
        self._next_scan = 0.0
        self._scanned = False  # in this run
        self._scanned_at = memory.fact("scanned_at", 0.0)  # when the last whole scan began, perhaps of an earlier run
        self.trouble = ""
        self._inode = 0
        self._events = events
        self._watch = self._start_watch() if events and not self._missing_root() else None
        self._complete = bool(memory.fact("complete", 0))
        self._late: set[bytes] = set()  # files that were being written when the first scan came by

    def _start_watch(self) -> FolderWatch | None:
        from sanderling_announce.watching import CannotWatch, FolderWatch

        try:
            return FolderWatch(self.root, self._dirty)
        except CannotWatch as why:
            self._say(f"no events of the file system: {why}; the folder is scanned again and again instead")
            return None

    @property
    def complete(self) -> bool:
        """Whether all pages were seen once."""
        return self._complete

    @property
    def settled(self) -> bool:
        """Whether a scan is done, and no file is waited for."""
        waits = self._dirty.next_at() < float("inf") or self._memory.first_missing()
        return self._scanned and self._scan is None and not waits

    @property
    def how(self) -> str:
        return "events of the file system" if self._watch else "scans"

    def close(self) -> None:
        if self._watch:
            self._watch.close()

    def step(self, now: float) -> float:
        """Does some of what is to be done; returns when there is more."""
        if why := self._missing_root():
            if why != self.trouble:
                self._say(f"{why}; nothing is announced until it is back")
            self.trouble, self._scan = why, None
            return now + 1.0
        if self.trouble or (self._watch and not self._watch.is_alive()):
            self._watch_anew()
        ready = self._dirty.take(now, _READY)
        if ready:
            with self._memory.together():
                for path in ready:
                    for alias in self._aliases(path):
                        self._look(alias, now)
            self._links_changed = self._reach is not None
        self._go_on_scanning(now)
        self._complete_first_scan()
        gone_at = self._confirm_missing(now)
        if self._scan or len(ready) == _READY:
            return now
        return min(self._dirty.next_at(), self._next_scan, gone_at)

    def _missing_root(self) -> str:
        """Why the folder cannot be believed; empty when it can."""
        try:
            found = os.stat(self.root).st_ino
            if self._inode and found != self._inode:
                self.trouble = self.trouble or "it is another folder now"
            self._inode = found
            with os.scandir(self.root) as entries:
                if len(self._memory) and not any(self._is_foreign(entry.name) for entry in entries):
                    return f"{os.fsdecode(self.root)} is empty, as if a disk were not mounted"
        except OSError as error:
            return f"{os.fsdecode(self.root)} cannot be read: {error.strerror}"
        return ""

    def _is_foreign(self, name: bytes) -> bool:
        """Whether something in the folder was put there by others: a report that was just written
        into the place of a disk that is not mounted does not make it a site."""
        return not name.startswith(b".") and not any(
            own == name or own.startswith(name + b"/") for own in self._outside
        )

    def _watch_anew(self) -> None:
        """The folder was away, or replaced by another: what happened meanwhile was not seen."""
        if self.trouble:
            self._say(f"{os.fsdecode(self.root)} is watched again")
        self.trouble = ""
        if self._events:
            self.close()
            self._watch = self._start_watch()
        self._scan, self._next_scan = None, 0.0

    def _aliases(self, path: bytes) -> Iterator[bytes]:
        """A path, and the others that lead to it by links to folders."""
        yield path
        for link, target in self._walk.links.items():
            if path.startswith(target + b"/"):
                yield link + path[len(target) :]

    # Single files

    def _look(self, path: bytes, now: float) -> None:
        if self.url_of(path) is None:
            return
        row, file = self._memory.page(path), self._walk.look(path)
        if row is None and not self._is_found(path):
            return
        if file is not None:
            self._compare(file, row, now)
        elif row is not None:
            self._memory.miss(path, now)
        self._late.discard(path)

    def url_of(self, path: bytes) -> str | None:
        return None if path.startswith(self._outside) else self._pages.url(path)

    def _is_found(self, path: bytes) -> bool:
        """Whether a file is a page, and one that visitors find."""
        url = self.url_of(path)
        return url is not None and (self._reach is None or url in self._reach.urls)

    def _compare(self, file: FileSeen, row: AnnouncedPage | None, now: float) -> None:
        if row is not None and (row.size, row.mtime, row.inode) == (file.size, file.mtime, file.inode):
            if self._memory.first_missing():
                self._memory.found_again(file.path)
            return
        age = now - file.mtime / 1e9
        if 0 <= age < (QUIET if file.size == 0 else SHORT):  # just emptied, to be filled; or written this moment
            self._dirty.wait_for(file.path, now + QUIET)
            if not self._complete:
                self._late.add(file.path)
            return
        url = self.url_of(file.path)
        content = read(self.root, file, self._ignored, self.hints, self._memory.hasher)
        if url is None or content is None:
            if url and os.access(os.path.join(self.root, file.path), os.R_OK):
                self._dirty.wait_for(file.path, now + QUIET)
            return
        written = file.mtime / 1e9
        # A file may come with an older date than the one it replaces. It is not older than the last
        # look at it.
        at = written if not self._complete or self._scanned_at <= written <= now else now
        state = PageState(
            file.path,
            url,
            depth(url, self._pages.site),
            content.hash,
            at,
            file.size,
            file.mtime,
            file.inode,
            content.hints,
        )
        record(self._memory, state, row, announce=self._complete)

    # Scans

    def _go_on_scanning(self, now: float) -> None:
        if self._scan is None:
            folder = self._dirty.take_folder()
            if now >= self._next_scan or folder == b"" or self._links_changed:
                self._scan = self._scan_all(now)
            elif folder is not None:
                self._scan = self._scan_below(folder, now)
        end = time.monotonic() + SLICE
        while self._scan is not None:
            if next(self._scan, self) is self:
                self._scan = None
            elif time.monotonic() > end:
                break

    def _scan_all(self, began: float) -> Iterator[None]:
        self._next_scan = float("inf")
        self._walk = Walk(self.root)
        self._late.clear()
        self._links_changed = False
        if self._reach is not None:
            self._reach.look()
        cost = 0.0
        steps = self._scan_below(b"", began)
        while True:
            start = time.thread_time()
            if next(steps, self) is self:
                break
            cost += time.thread_time() - start
            yield
        self._scanned, self._scanned_at = True, began
        self._memory.remember("scanned_at", began)
        if self._walk.unreadable:
            first = os.fsdecode(self._walk.unreadable[0])
            self._say(
                f"{len(self._walk.unreadable)} folders cannot be read, such as {first}; their pages are left as they were"
            )
        least, times = SCAN_WITH_EVENTS if self._watch else (self._every or SCAN_WITHOUT[0], SCAN_WITHOUT[1])
        self._next_scan = clock.now() + max(least, times * cost)

    def _complete_first_scan(self) -> None:
        """What is there from the beginning is not new, even if it was written a moment ago."""
        if self._scanned and not self._complete and not self._late:
            self._memory.remember("complete", 1)
            self._complete = True

    def _scan_below(self, folder: bytes, now: float) -> Iterator[None]:
        """Compares all files of a folder with the memory, some at each step."""
        first, before = (folder + b"/", folder + b"0") if folder else (b"", None)
        pairs = compared(self._walk.files(folder), self._memory.pages(first, before))
        more = True
        while more:
            with self._memory.together():
                more = self._compare_some(pairs, clock.now())
            yield

    def _compare_some(self, pairs: Iterator[tuple[FileSeen | None, AnnouncedPage | None]], now: float) -> bool:
        end = time.monotonic() + SLICE
        for number, (file, row) in enumerate(pairs, 1):
            if file is None:
                if row is not None and not any(row.key.startswith(each) for each in self._walk.unreadable):
                    self._memory.miss(row.key, now)
            elif row is not None or self._is_found(file.path):
                self._compare(file, row, now)
            if number % 100 == 0 and (number >= _TOGETHER or time.monotonic() > end):
                return True
        return False

    # What is gone

    def _confirm_missing(self, now: float) -> float:
        since = self._memory.first_missing()
        if not since:
            return float("inf")
        if since + self._gone_after > now:
            return since + self._gone_after
        with self._memory.together():
            keys = self._memory.missing(now - self._gone_after, _READY)
            for key in keys:
                row = self._memory.page(key)
                if row is None or (self.url_of(key) is not None and self._walk.look(key) is not None):
                    self._memory.found_again(key)
                    self._look(key, now)
                else:
                    record_gone(self._memory, row, self.url_of(key) or "", since, announce=self._complete)
        return now if len(keys) == _READY else self._memory.first_missing() + self._gone_after or float("inf")
