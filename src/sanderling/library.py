"""Crawls from Python. There is no global state, so several crawls can run in one process, notebook
or web server.

async with sanderling.Crawl("example", seeds=["https://example.org/"], max_pages=100) as crawl:
    async for page in crawl:
        print(page.url, page.title)
"""

import asyncio
import contextlib
import os
import threading
import time
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec

from sanderling.crawling.server import CrawlServer
from sanderling.errors import UsageError
from sanderling.files import write_whole
from sanderling.model import Counts, Stored
from sanderling.repository import views, warc
from sanderling.repository.archive import text_of
from sanderling.repository.folder import Folder
from sanderling.repository.opening import settings_for
from sanderling.repository.views import PageVersion
from sanderling.server.dispatcher import canonical_seed

# With this many unread pages, the crawl waits for the reader.
MOST_UNREAD = 10_000
# Pages are read from the store in batches of this size.
BATCH = 500
# Seconds between two notes of how far the reader is. After a kill, the pages since the last one are
# given again.
NOTE_EVERY = 1.0


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """A page that was just committed. `body` and `text` read it from the archive."""

    version: int  # its number in the crawl
    url: str
    status: int
    title: str
    mime: str
    charset: str
    language: str
    size: int
    truncated: bool
    fetched_at: float
    digest: str
    extracted: dict[str, Any] | None  # what your extractors said
    login: bool  # it was read with your login
    stored: Stored
    folder: Path

    def body(self) -> bytes:
        """The received bytes, decompressed."""
        return warc.read(self.folder, self.stored).body

    def text(self) -> str:
        """The visible text."""
        return text_of(warc.read(self.folder, self.stored))


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


class Crawl:
    """A crawl into one folder. It runs inside `async with`."""

    def __init__(
        self, folder: str | os.PathLike[str], seeds: Sequence[str] = (), *, again: bool = False,
        with_login: bool = False, **settings: object,
    ) -> None:  # fmt: skip
        """`again` visits every known page once more, and gives those that have changed.

        Pages that were read with your login are given only `with_login`.
        """
        self._with_login = with_login
        self._again = again
        self._folder = Folder(Path(folder))
        self._seeds = [canonical_seed(seed) for seed in ([seeds] if isinstance(seeds, str) else seeds)]
        self._chosen = settings
        self._stop = threading.Event()
        self._failure: BaseException | None = None

    async def __aenter__(self) -> Self:
        self._loop = asyncio.get_running_loop()
        self._unread: asyncio.Queue[Page | None] = asyncio.Queue()
        started: asyncio.Future[None] = self._loop.create_future()
        self._thread = threading.Thread(target=self._crawl, args=(started,), name="sanderling", daemon=True)
        self._thread.start()
        await started
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        await asyncio.to_thread(self._thread.join)
        if error is None:
            self._pages.end_all()
        self._pages.note()
        if self._failure is not None and error is None:
            raise self._failure

    async def __aiter__(self) -> AsyncIterator[Page]:
        """Pages as they are committed, until the crawl ends. Those that an earlier run did not
        finish come first."""
        while (page := await self._unread.get()) is not None:
            self._pages.begin(page.version)
            yield page
            self._pages.end(page.version)
        self._unread.put_nowait(None)  # so that another iteration ends too

    @property
    def counts(self) -> Counts:
        """Totals so far."""
        return self._server.progress().counts

    def _crawl(self, started: "asyncio.Future[None]") -> None:
        """Runs in its own thread, because the server blocks and the event loop must not."""
        try:
            server = self._server = self._open()
        except BaseException as error:
            self._tell(started.set_exception, error)
            return
        self._tell(started.set_result, None)
        try:
            server.on_commit = self._hand_over
            self._hand_over()
            server.run(lambda _: None, self._stop.is_set)
        except BaseException as error:
            self._failure = error
        finally:
            server.close()
            self._tell(self._unread.put_nowait, None)

    def _open(self) -> CrawlServer:
        self._folder.check_usable()
        settings, planted = settings_for(self._folder, self._chosen)
        seeds = [*planted, *self._seeds]
        if not seeds and not self._folder.exists():
            raise UsageError("nothing to crawl: give at least one seed")
        server = CrawlServer(self._folder, settings, seeds, settings.clients or os.cpu_count() or 1, self._again)
        with contextlib.ExitStack() as failed:
            failed.callback(server.close)
            self._pages = ReadPages(self._folder.read, server.store.newest_version())
            self._pages.note()
            self._queued = self._pages.done
            failed.pop_all()
        return server

    def _hand_over(self) -> None:
        """Gives the reader what was committed, as fast as it reads."""
        while not self._stop.is_set() and (found := views.page_versions(self._server.store, self._queued, BATCH)):
            for each in found if self._with_login else [each for each in found if not each.version.login]:
                self._tell(self._unread.put_nowait, self._page(each))
            self._queued = found[-1].version.number
            while self._unread.qsize() > MOST_UNREAD and not self._stop.is_set():
                time.sleep(0.05)
        self._pages.note_sometimes()

    def _page(self, found: PageVersion) -> Page:
        version, charset, language, truncated = found
        return Page(
            version=version.number, url=version.url, status=version.status, title=version.title, mime=version.mime,
            charset=charset, language=language, size=version.size, truncated=truncated, fetched_at=version.at,
            digest=version.digest, extracted=version.extracted, login=version.login, stored=version.stored, folder=self._folder.warcs,
        )  # fmt: skip

    def _tell(self, act: object, value: object) -> None:
        """Calls a function in the event loop, unless the loop is already closed."""
        try:
            self._loop.call_soon_threadsafe(act, value)  # type: ignore[arg-type]
        except RuntimeError:
            self._stop.set()
