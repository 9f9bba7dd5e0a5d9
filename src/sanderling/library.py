"""Crawls from Python. There is no global state, so several crawls can run in one process, notebook or web server.

async with sanderling.Crawl("example", seeds=["https://example.org/"], max_pages=100) as crawl:
    async for page in crawl:
        print(page.url, page.title)
"""

import asyncio
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
from sanderling.model import Counts, Outcome, Stored, Visit
from sanderling.repository import warc
from sanderling.repository.archive import text_of
from sanderling.repository.folder import Folder
from sanderling.repository.opening import settings_for
from sanderling.server.dispatcher import canonical_seed

# With this many unread pages, the crawl waits for the reader.
MOST_UNREAD = 10_000


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """A page that was just committed. `body` and `text` read it from the archive."""

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
    stored: Stored
    folder: Path

    def body(self) -> bytes:
        """The received bytes, decompressed."""
        return warc.read(self.folder, self.stored).body

    def text(self) -> str:
        """The visible text."""
        return text_of(warc.read(self.folder, self.stored))


class Crawl:
    """A crawl into one folder. It runs inside `async with`."""

    def __init__(self, folder: str | os.PathLike[str], seeds: Sequence[str] = (), **settings: object) -> None:
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
        if self._failure is not None and error is None:
            raise self._failure

    async def __aiter__(self) -> AsyncIterator[Page]:
        """Pages as they are committed, until the crawl ends."""
        while (page := await self._unread.get()) is not None:
            yield page
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
            server.on_visits = self._hand_over
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
        return CrawlServer(self._folder, settings, seeds, settings.clients or os.cpu_count() or 1)

    def _hand_over(self, visits: list[tuple[str, Visit]]) -> None:
        for url, visit in visits:
            if visit.outcome is Outcome.PAGE and visit.stored is not None:
                self._tell(self._unread.put_nowait, self._page(url, visit, visit.stored))
        while self._unread.qsize() > MOST_UNREAD and not self._stop.is_set():
            time.sleep(0.05)

    def _page(self, url: str, visit: Visit, stored: Stored) -> Page:
        return Page(
            url=url, status=visit.status, title=visit.title, mime=visit.mime, charset=visit.charset,
            language=visit.language, size=visit.size, truncated=visit.truncated, fetched_at=visit.at,
            digest=visit.digest.hex(), extracted=msgspec.json.decode(visit.extracted) if visit.extracted else None,
            stored=stored, folder=self._folder.warcs,
        )  # fmt: skip

    def _tell(self, act: object, value: object) -> None:
        """Calls a function in the event loop, unless the loop is already closed."""
        try:
            self._loop.call_soon_threadsafe(act, value)  # type: ignore[arg-type]
        except RuntimeError:
            self._stop.set()
