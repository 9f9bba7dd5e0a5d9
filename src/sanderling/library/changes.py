"""What happened to pages since a cursor: new, changed, gone, moved and failed ones.

A cursor names the last version and the last failure that a program has seen. Both are numbered in
the order of commits and never change, so a cursor is valid as long as the folder is.
"""

import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self

from msgspec import Struct

from sanderling.errors import UsageError, quoted
from sanderling.files import write_whole
from sanderling.library.page import Page, StoredPages, page_of
from sanderling.library.shared_store import SharedStore
from sanderling.model import ChangeKind
from sanderling.repository import views
from sanderling.repository.store import Store
from sanderling.repository.views import Failure, PageVersion
from sanderling.urls import identity

Kind = Literal["new", "changed", "gone", "moved", "failed"]

BATCH = 500
# Seconds between two notes of how far a reader is. After a kill, the events since the last one are
# given again.
NOTE_EVERY = 1.0
_READER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


class Event(Struct, frozen=True, kw_only=True, eq=False):
    """Something that happened to a page."""

    kind: Kind
    url: str
    at: float
    cursor: str  # for `changes(since=...)`: whatever comes after this event
    page: Page | None = None  # the version that is new
    target: str = ""  # where a page that moved is now
    reason: str = ""  # why a page is gone or could not be fetched
    parts: tuple[str, ...] = ()  # what changed: text, image, structure, presentation, behaviour
    significance: float = 0.0
    summary: str = ""
    excerpt: str = ""  # the change itself, before → after
    news: bool = True  # not only noise, which changes on every visit


class Cursor(NamedTuple):
    """The last version and the last failure that a program has seen."""

    version: int = 0
    failure: int = 0

    def __str__(self) -> str:
        return f"{self.version}.{self.failure}"

    @classmethod
    def read(cls, text: str) -> Self:
        match = re.fullmatch(r"(\d{1,18})\.(\d{1,18})", text, re.ASCII)
        if not match:
            raise UsageError(
                f"{quoted(text)} is not a cursor: give the `cursor` of an event, or what `cursor()` returns"
            )
        return cls(int(match[1]), int(match[2]))


def newest(store: Store) -> Cursor:
    """The cursor behind all that is stored."""
    return Cursor(store.newest_version(), int(store.select("SELECT coalesce(max(number), 0) FROM failures")[0][0]))


def cursor_at(store: Store, at: float) -> Cursor:
    """The cursor behind all that was stored up to a time."""
    found = (store.select(f"SELECT max(number) FROM {table} WHERE at <= ?", at)[0][0] for table in _TABLES)
    return Cursor(*(each or 0 for each in found))


_TABLES = ("versions", "failures")


def events(store: SharedStore, since: Cursor, archive: StoredPages, everything: bool, login: bool) -> Iterator[Event]:
    """What happened after a cursor, nearly in the order of time."""
    there = store.ask(newest)
    if since.version > there.version or since.failure > there.failure:
        raise UsageError(f"the cursor {since} is ahead of this folder: it belongs to another one")
    cursor = since
    while True:
        versions = store.ask(views.versions_after, cursor.version, BATCH)
        failures = store.ask(views.failures, cursor.failure, BATCH)
        if not versions and not failures:
            return
        # A list that ends with a full batch goes on: of the other one, only what is older is given.
        until = min(_last(versions), _last(failures))
        while versions or failures:
            if versions and (not failures or versions[0].version.at <= failures[0].at):
                if versions[0].version.at > until:
                    break
                found: PageVersion = versions.pop(0)
                cursor = cursor._replace(version=found.version.number)
                if (everything or found.version.news) and (login or not found.version.login):
                    yield _of_version(store, found, cursor, archive)
            else:
                if failures[0].at > until:
                    break
                failure: Failure = failures.pop(0)
                cursor = cursor._replace(failure=failure.number)
                yield Event(
                    kind="failed", url=failure.url, at=failure.at, cursor=str(cursor), reason=failure.reason
                )  # fmt: skip


def _last(batch: list[Any]) -> float:
    """The time up to which a batch says everything."""
    if len(batch) < BATCH:
        return float("inf")
    return max(row.version.at if isinstance(row, PageVersion) else row.at for row in batch)


def _of_version(store: SharedStore, found: PageVersion, cursor: Cursor, archive: StoredPages) -> Event:
    version, target = found.version, ""
    kind: Kind = "new" if version.kinds & ChangeKind.NEW else "changed"
    if version.kinds & ChangeKind.GONE:
        kind = "gone"
        if 300 <= version.status < 400:
            kind, shown = "moved", store.ask(views.url, identity(version.url))
            target = shown.redirect if shown is not None else ""
    there = kind in ("new", "changed")
    return Event(
        kind=kind, url=version.url, at=version.at, cursor=str(cursor), target=target,
        page=page_of(found, archive) if there else None, reason="" if there else version.summary,
        parts=tuple(name for name in version.kinds.names if name not in ("new", "gone")),
        significance=version.significance, summary=version.summary, excerpt=version.excerpt, news=version.news,
    )  # fmt: skip


class NamedReader:
    """Remembers in the crawl folder how far a program is, under a name."""

    def __init__(self, folder: Path, name: str) -> None:
        if not _READER.fullmatch(name):
            raise UsageError(f"{quoted(name)} is not a name for a reader: use letters, digits, dots and dashes")
        self._place = folder / name
        self.cursor = Cursor.read(self._place.read_text().strip()) if self._place.exists() else Cursor()
        self._noted, self._noted_at = self.cursor, time.monotonic()

    def end(self, event: Event) -> None:
        self.cursor = Cursor.read(event.cursor)
        if time.monotonic() - self._noted_at >= NOTE_EVERY:
            self.note()

    def note(self) -> None:
        if self.cursor != self._noted:
            self._place.parent.mkdir(exist_ok=True)
            write_whole(self._place, str(self.cursor).encode())
        self._noted, self._noted_at = self.cursor, time.monotonic()
