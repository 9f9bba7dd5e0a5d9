"""Reads a crawl folder, whoever made it, also while a crawl runs in it."""

import contextlib
import os
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple, Self

from sanderling.errors import IndexInUse, UsageError, quoted
from sanderling.library import changes
from sanderling.library.changes import Cursor, Event, NamedReader
from sanderling.library.page import Page, StoredPages, page_of
from sanderling.library.shared_store import SharedStore
from sanderling.library.stream import Stream
from sanderling.model import State
from sanderling.repository import views
from sanderling.repository.folder import Folder
from sanderling.repository.opening import open_store
from sanderling.repository.store import Store
from sanderling.repository.templates import SiteTemplates, sampled
from sanderling.urls import SEEDABLE, identity, with_fragment

if TYPE_CHECKING:
    from sanderling.search.query import Results

BATCH = 500
When = float | datetime


class Edge(NamedTuple):
    """A link from one page to another URL."""

    source: str
    target: str


def open_folder(folder: str | os.PathLike[str], *, with_login: bool = False) -> "OpenFolder":
    """Opens a crawl folder for reading.

    Pages that were read with your login are given only `with_login`. Close it when you are done, or
    use it in a `with` statement. It can be used from several threads.
    """
    return OpenFolder(Path(folder), with_login)


class OpenFolder:
    """The pages, versions, changes and links of a crawl. `sanderling.open` makes one."""

    def __init__(self, path: Path, with_login: bool) -> None:
        self._folder = Folder(path)
        self._folder.require()
        self._login = with_login
        self._store = SharedStore(open_store(self._folder, readonly=True))
        self._archive = StoredPages(self._folder)
        self._archive.templates = SiteTemplates(lambda: self._store.ask(sampled, with_login), self._archive.read)

    def __repr__(self) -> str:
        return f"sanderling.open({str(self._folder.path)!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._store.close()
        self._archive.close()

    def pages(self) -> Stream[Page]:
        """The newest version of every page that is there, in the order of commits."""
        return Stream(self._pages)

    def page(self, url: str, at: When | None = None) -> Page | None:
        """A page as it is, or as it was at a time; None if it was not there. `url` may be another
        name of the page."""
        found = self._versions(url, _seconds(at) if at is not None else None)
        return found[-1] if found else None

    def versions(self, url: str) -> list[Page]:
        """All versions of a page that have content, the oldest first."""
        return self._versions(url, float("inf"))

    def changes(self, since: str = "", *, reader: str = "", everything: bool = False) -> Stream[Event]:
        """What happened to pages after a cursor, or since the beginning.

        With the name of a `reader`, the folder remembers how far that reader is: the next loop goes
        on behind the last event that this one was done with. An event counts as done when the loop
        asks for the next one. `everything` also gives changes that are only noise.
        """
        if since and reader:
            raise UsageError("give changes() a cursor or the name of a reader, not both")
        if since:
            Cursor.read(since)
        if reader:
            self._reader(reader)

        def begin() -> Iterator[Event]:
            cursor = self._reader(reader).cursor if reader else Cursor.read(since) if since else Cursor()
            return changes.events(self._store, cursor, self._archive, everything, self._login)

        return Stream(begin, (lambda: self._reader(reader)) if reader else None)

    def cursor(self, at: When | None = None) -> str:
        """The cursor behind all that is stored, or that was stored at a time."""
        if at is None:
            return str(self._store.ask(changes.newest))
        return str(self._store.ask(changes.cursor_at, _seconds(at)))

    def links(self, *, of: str = "", to: str = "") -> Stream[Edge]:
        """All links between URLs, those of one page, or those to one URL. `Page.links` also has the
        texts of links."""
        if to:
            target = _canonical(to)
            found = self._store.ask(lambda store: store.known(store.linking(identity(target))))
            return Stream(lambda: iter(sorted(Edge(url, target) for url, _ in found.values())))
        if of:
            return Stream(lambda: iter(self._links_of(_canonical(of))))
        return Stream(self._links)

    def search(
        self, query: str, *, limit: int = 10, page: int = 1, host: str = "", language: str = "", since: When = 0.0,
        changed: When = 0.0, at: When = 0.0, until: When = 0.0, versions: bool = False, gone: bool = False,
        semantic: bool = False,
    ) -> "Results":  # fmt: skip
        """Finds pages by their words, the best first, in the language of `sanderling search`. What
        is not indexed yet is indexed first, unless another process does it. `at` searches pages as
        they were then; with `until`, all versions that were current from `at` until before it.
        `semantic` also finds what says it in other words, and needs `pip install
        'sanderling[semantic]'`."""
        from sanderling.search.query import Query
        from sanderling.search.searching import check, open_search

        asked = Query(
            text=query, limit=limit, page=page, host=host, language=language, since=_seconds(since),
            changed=_seconds(changed), at=_seconds(at), until=_seconds(until), versions=versions,
            gone=gone, semantic=semantic,
        )  # fmt: skip
        check(asked)
        with open_search(self._folder) as search:
            if search.behind():
                with contextlib.suppress(IndexInUse):
                    search.catch_up()
            if semantic:
                with contextlib.suppress(IndexInUse):
                    search.catch_up_meaning()
            return search.find(asked)

    def _pages(self) -> Iterator[Page]:
        number = 0
        while some := self._store.ask(views.current_versions, number, BATCH, self._login):
            for found in some:
                yield page_of(found, self._archive)
            number = some[-1].version.number

    def _versions(self, text: str, until: float | None) -> list[Page]:
        """Up to a time; None for now, if the page is there."""

        def look(store: Store) -> list[Page]:
            shown = views.url(store, identity(_canonical(text)))
            if shown is not None and shown.same_as:
                shown = views.url(store, identity(shown.same_as))
            if shown is None or (shown.login and not self._login):
                return []
            if until is None and shown.state in _NOT_THERE:
                return []
            moment = float("inf") if until is None else until
            gone = views.gone_at(store, shown.id, moment) if moment != float("inf") else False
            found = [] if gone else views.versions_with_content(store, shown.id, moment)
            return [page_of(each, self._archive) for each in found]

        return self._store.ask(look)

    def _links(self) -> Iterator[Edge]:
        page = None
        while some := self._store.ask(views.links_after, page, BATCH):
            for found in some:
                yield from (Edge(found.url, target) for target in found.targets)
            page = some[-1].page

    def _links_of(self, url: str) -> list[Edge]:
        def look(store: Store) -> list[Edge]:
            ids = list(memoryview(store.links_of(identity(url))).cast("q"))
            known = store.known(ids)
            return [Edge(url, known[id][0]) for id in ids if id in known]

        return self._store.ask(look)

    def _reader(self, name: str) -> NamedReader:
        return NamedReader(self._folder.readers, name)


_NOT_THERE = (State.GONE.name.lower(), State.EXCLUDED.name.lower())


def _canonical(text: str) -> str:
    url = with_fragment(text.strip(), SEEDABLE)
    if url is None:
        raise UsageError(f"{quoted(text)} is not a URL: write it with http:// or https://")
    return url


def _seconds(at: When) -> float:
    return at.timestamp() if isinstance(at, datetime) else float(at)
