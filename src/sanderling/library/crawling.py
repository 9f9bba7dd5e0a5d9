"""Crawls from Python. There is no global state, so several crawls can run in one process, notebook
or web server.

with sanderling.Crawl("example", seeds=["https://example.org/"], max_pages=100) as crawl:
    for page in crawl:
        print(page.url, page.title)

`async with` and `async for` do the same in a coroutine.
"""

import asyncio
import contextlib
import os
import queue
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self, Unpack, cast

from sanderling.cluster.crews import as_set
from sanderling.errors import NothingFetched, UsageError
from sanderling.files import write_whole
from sanderling.library.options import CrawlOptions
from sanderling.library.page import Page, StoredPages, page_of
from sanderling.model import Counts, State
from sanderling.plugins import name_of
from sanderling.repository import views
from sanderling.repository.folder import Folder
from sanderling.repository.opening import settings_for
from sanderling.repository.store import Store
from sanderling.server.frontier.scope import canonical_seed
from sanderling.server.loop import CrawlServer
from sanderling.settings import PLUGINS
from sanderling.urls import identity

# With this many unread pages, the crawl waits for the reader.
MOST_UNREAD = 10_000
# Pages are read from the store in batches of this size.
BATCH = 500
# Seconds between two notes of how far the reader is. After a kill, the pages since the last one are
# given again.
NOTE_EVERY = 1.0


class ReadPages:
    """Remembers in the crawl folder which pages the reader is done with, by the numbers of their
    versions.

    Numbers grow in the order in which pages are given.
    """

    def __init__(self, place: Path, newest: int) -> None:
        """A folder that is read for the first time begins with the versions after `newest`."""
        self._place = place
        self._given = min(newest, int(place.read_text())) if place.exists() else newest
        self._open: set[int] = set()
        self.done = self._given
        self._noted = -1
        self._noted_at = 0.0

    def begin(self, number: int) -> None:
        """A page is given to the reader."""
        self._given = max(self._given, number)
        self._open.add(number)

    def end(self, number: int) -> None:
        """The reader is done with a page."""
        self._open.discard(number)
        self.done = min(self._open, default=self._given + 1) - 1

    def end_all(self) -> None:
        self._open.clear()
        self.done = self._given

    def note(self) -> None:
        """Writes how far the reader is."""
        done = self.done
        if done != self._noted:
            write_whole(self._place, str(done).encode())
            self._noted, self._noted_at = done, time.monotonic()

    def note_sometimes(self) -> None:
        """The same, unless it was written a moment ago."""
        if time.monotonic() - self._noted_at >= NOTE_EVERY:
            self.note()


class _Unread(Protocol):
    """Pages that are committed and not given to the reader yet; None when the crawl has ended."""

    def put(self, page: Page | None) -> None: ...

    def qsize(self) -> int: ...


class _InLoop:
    """For a coroutine."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[Page | None] = asyncio.Queue()
        self.get = self._queue.get
        self.qsize = self._queue.qsize

    def put(self, page: Page | None) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._queue.put_nowait, page)


class Crawl:
    """A crawl into one folder. It runs inside `with` or `async with`."""

    def __init__(
        self, folder: str | os.PathLike[str], seeds: str | Sequence[str] = (), *, again: bool = False,
        with_login: bool = False, **settings: Unpack[CrawlOptions],
    ) -> None:  # fmt: skip
        """`again` visits every known page once more, and gives those that have changed.

        Pages that were read with your login are given only `with_login`.
        """
        self._with_login = with_login
        self._again = again
        self._folder = Folder(Path(folder))
        self._seeds = [canonical_seed(seed) for seed in ([seeds] if isinstance(seeds, str) else seeds)]
        self._chosen = _by_name(cast(dict[str, object], settings))
        self._archive = StoredPages(self._folder)
        self._stop = threading.Event()
        self._failure: BaseException | None = None

    def __enter__(self) -> Self:
        self._in_thread: queue.SimpleQueue[Page | None] = queue.SimpleQueue()
        self._start(self._in_thread).result()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join()
        self._end(error)

    def __iter__(self) -> Iterator[Page]:
        """Pages as they are committed, until the crawl ends. Those that an earlier run did not
        finish come first."""
        while (page := self._in_thread.get()) is not None:
            self._pages.begin(page.version)
            yield page
            self._pages.end(page.version)
        self._in_thread.put(None)  # so that another iteration ends too

    async def __aenter__(self) -> Self:
        self._in_loop = _InLoop()
        await asyncio.wrap_future(self._start(self._in_loop))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        await asyncio.to_thread(self._thread.join)
        self._end(error)

    async def __aiter__(self) -> AsyncIterator[Page]:
        """The same for a coroutine."""
        while (page := await self._in_loop.get()) is not None:
            self._pages.begin(page.version)
            yield page
            self._pages.end(page.version)
        self._in_loop.put(None)

    @property
    def counts(self) -> Counts:
        """Totals so far."""
        return self._server.progress().counts

    def _start(self, unread: _Unread) -> "Future[None]":
        """Begins in a thread of its own, because the server blocks."""
        started: Future[None] = Future()
        self._thread = threading.Thread(target=self._crawl, args=(started, unread), name="sanderling", daemon=True)
        self._thread.start()
        return started

    def _end(self, error: BaseException | None) -> None:
        if error is None:
            self._pages.end_all()
        self._pages.note()
        self._archive.close()
        if self._failure is not None and error is None:
            raise self._failure

    def _crawl(self, started: "Future[None]", unread: _Unread) -> None:
        try:
            server = self._server = self._open()
        except BaseException as error:
            started.set_exception(error)
            return
        started.set_result(None)
        try:
            server.on_commit = hand_over = self._handing_over(unread)
            hand_over()
            server.run(lambda _: None, self._stop.is_set)
            if not self._stop.is_set():
                check_seeds(server.store)
        except BaseException as error:
            self._failure = error
        finally:
            server.close()
            unread.put(None)

    def _open(self) -> CrawlServer:
        self._folder.check_usable()
        settings, planted = settings_for(self._folder, self._chosen)
        seeds = [*planted, *self._seeds]
        if not seeds and not self._folder.exists():
            raise UsageError("nothing to crawl: give at least one seed")
        server = CrawlServer(
            self._folder, settings, seeds, settings.clients or os.cpu_count() or 1, self._again, place=as_set
        )
        with contextlib.ExitStack() as failed:
            failed.callback(server.close)
            self._pages = ReadPages(self._folder.read, server.store.newest_version())
            self._pages.note()
            self._queued = self._pages.done
            failed.pop_all()
        return server

    def _handing_over(self, unread: _Unread) -> Callable[[], None]:
        """Gives the reader what was committed, as fast as it reads."""

        def hand_over() -> None:
            while not self._stop.is_set() and (found := views.page_versions(self._server.store, self._queued, BATCH)):
                for each in found:
                    if self._with_login or not each.version.login:
                        unread.put(page_of(each, self._archive))
                self._queued = found[-1].version.number
                while unread.qsize() > MOST_UNREAD and not self._stop.is_set():
                    time.sleep(0.05)
            self._pages.note_sometimes()

        return hand_over


def check_seeds(store: Store) -> None:
    """Raises NothingFetched when a crawl has no page because none of its seeds could be fetched."""
    if store.counts().pages:
        return
    shown = [views.url(store, identity(seed)) for seed in store.seeds()[:MOST_NAMED]]
    failed = [each for each in shown if each is not None and each.state in _FAILED]
    if failed and len(failed) == len(shown):
        why = failed[0].reason or f"answered {failed[0].status}"
        raise NothingFetched(f"no seed could be fetched; {failed[0].url}: {why}")


MOST_NAMED = 100
_FAILED = tuple(state.name.lower() for state in (State.FAILED, State.GONE, State.EXCLUDED))


def _by_name(settings: dict[str, object]) -> dict[str, object]:
    """Settings, with the user's functions by the names under which clients find them."""
    given = {name: settings[name] for name in PLUGINS if isinstance(settings.get(name), Iterable)}
    return settings | {
        name: [name_of(each) if callable(each) else each for each in cast(Iterable[object], values)]
        for name, values in given.items()
        if not isinstance(values, str)
    }
