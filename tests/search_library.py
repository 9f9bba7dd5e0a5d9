"""A crawl folder with pages that a test defines, made without a crawl."""

import secrets
from pathlib import Path

from sanderling.client.sketch import sketch
from sanderling.client.warc_writer import WarcWriter
from sanderling.model import Change, ChangeKind, Commit, Counts, Exchange, Host, NewUrl, Outcome, Settled, State, Visit
from sanderling.repository.folder import Folder
from sanderling.repository.opening import open_store
from sanderling.search.searching import Query, Results, Searcher, open_search
from sanderling.settings import Settings, dump, overlay
from sanderling.urls import identity, origin

NOW = 1_790_000_000.0


class Library:
    """Pages as if they had been crawled, one commit each."""

    def __init__(self, path: Path, **settings: object) -> None:
        self.folder = Folder(path)
        path.mkdir()
        self.folder.warcs.mkdir()
        self.folder.settings.write_text(dump(overlay(Settings(), settings), ()))
        self._store = open_store(self.folder, readonly=False)
        self._archive = WarcWriter(self.folder.warcs, f"test-{secrets.token_hex(4)}")
        self._known: set[str] = set()
        self._reports = 0

    def page(
        self, url: str, body: str, at: float = 0.0, kinds: ChangeKind | None = None, mime: str = "text/html",
        noindex: bool = False, header: str = "", title: str = "", extracted: bytes = b"",
    ) -> None:  # fmt: skip
        """A visit that found a page with a body; with a title, a plain page around it."""
        if title:
            body = f"<html lang=en><title>{title}</title><body><p>{body}"
        data = body.encode()
        self._visit(url, at, 200, Outcome.PAGE, data, mime, kinds, noindex, header, sketch(body), extracted)

    def gone(self, url: str, at: float) -> None:
        self._visit(url, at, 404, Outcome.GONE, b"", "text/html", ChangeKind.GONE, False, "", sketch(""))

    def importance(self, url: str, value: float) -> None:
        self._store.weigh([(identity(url), value)])

    def rejudge(self, url: str, kinds: ChangeKind) -> None:
        """As after a change of the user's rules."""
        page = identity(url)
        versions = [(each.number, Change(kinds, 1.0, "", "")) for each in self._store.versions(page)]
        self._store.rejudge(page, versions, b"", b"")
        self._store.note("rules", '["others"]')

    def open(self) -> Searcher:
        return open_search(self.folder)

    def find(self, text: str = "", **filters: object) -> Results:
        """What a search finds after it has caught up."""
        with self.open() as search:
            search.catch_up()
            return search.find(Query(text=text, **filters))  # type: ignore[arg-type]

    def urls(self, text: str = "", **filters: object) -> list[str]:
        return [hit.url.rpartition("/")[2] for hit in self.find(text, **filters).hits]

    def close(self) -> None:
        self._store.close()
        self._archive.close()

    def _visit(
        self, url: str, at: float, status: int, outcome: Outcome, data: bytes, mime: str, kinds: ChangeKind | None,
        noindex: bool, header: str, found: object, extracted: bytes = b"",
    ) -> None:  # fmt: skip
        at = at or NOW
        self._reports += 1
        head = f"HTTP/1.1 {status} OK\r\nContent-Type: {mime}; charset=utf-8\r\n{header}\r\n".encode()
        stored = self._archive.add(Exchange(url, at, b"", head, data, mime, "", False, "", b""))
        id = identity(url)
        visit = Visit(
            id=id, outcome=outcome, status=status, at=at, mime=mime, digest=data[:16], noindex=noindex, stored=stored,
            extracted=extracted, text_digest=found.digest, simhash=found.simhash, size=len(data),  # type: ignore[attr-defined]
        )  # fmt: skip
        new = url not in self._known
        self._known.add(url)
        home = identity(origin(url))
        state = State.GONE if outcome is Outcome.GONE else State.FETCHED
        kinds = kinds if kinds is not None else ChangeKind.NEW if new else ChangeKind.TEXT
        self._store.commit(
            Commit(
                "test", self._reports,
                [NewUrl(id, url, home, 0, State.QUEUED, 0.0, 0, 0, "", "")] if new else [],
                [Settled(id, state, 0, 0.0, "")], [visit], [Host(home, origin(url))], self._archive.flush(), Counts(),
                changes={id: Change(kinds, 1.0, "", "")},
            )
        )  # fmt: skip
