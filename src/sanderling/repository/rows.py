"""What the tables of both stores share: how a commit becomes rows, and rows become what people read."""

from collections.abc import Mapping
from typing import Any

import msgspec

from sanderling.model import Commit, Host, Outcome, PageRow, Robots, State, Visit

_TRUNCATED, _NOINDEX, _PERMANENT = 1, 2, 4

PAGE_COLUMNS = (
    "id", "status", "fetched_at", "changed_at", "visits", "changes", "importance", "size", "digest", "text_digest",
    "mime", "charset", "language", "title", "etag", "modified", "flags", "redirect", "canonical", "simhash", "warc",
    "offset", "length",
)  # fmt: skip
VERSION_COLUMNS = (
    "page", "at", "status", "digest", "text_digest", "size", "mime", "warc", "offset", "length",
)  # fmt: skip
HOST_COLUMNS = ("id", "origin", "robots", "not_before", "interval", "learned")

# The columns that `page` turns into a `PageRow`, for both dialects.
PAGES = """SELECT u.url, p.status, u.state, u.depth, p.fetched_at, p.changed_at, p.visits, p.changes, p.importance,
    p.digest, p.title, p.mime, p.charset, p.language, p.size, p.flags, t.url, u.reason, w.name, p."offset", p.length,
    a.url
    FROM pages p JOIN urls u ON u.id = p.id LEFT JOIN urls t ON t.id = p.redirect
    LEFT JOIN urls a ON a.id = u.alias AND u.alias <> 0 LEFT JOIN warcs w ON w.number = p.warc"""


def answered(commit: Commit) -> list[Visit]:
    return [visit for visit in commit.visits if visit.status]


def page_row(v: Visit, warcs: Mapping[str, int]) -> tuple[Any, ...]:
    """A row of `pages` as the first visit leaves it."""
    place = (warcs[v.stored.warc], v.stored.offset, v.stored.length) if v.stored else (None, 0, 0)
    redirect = int.from_bytes(v.links[:8], "little", signed=True) if v.outcome is Outcome.REDIRECT and v.links else None
    flags = v.truncated * _TRUNCATED | v.noindex * _NOINDEX | v.permanent * _PERMANENT
    return (
        v.id, v.status, v.at, v.at, 1, 0, 0.0, v.size, v.digest, v.text_digest, v.mime, v.charset, v.language, v.title,
        v.etag, v.modified, flags, redirect, v.canonical, v.simhash, *place,
    )  # fmt: skip


def version_rows(visits: list[Visit], warcs: Mapping[str, int]) -> list[tuple[Any, ...]]:
    return [
        (
            v.id, v.at, v.status, v.digest, v.text_digest, v.size, v.mime,
            warcs[v.stored.warc], v.stored.offset, v.stored.length,
        )
        for v in visits
        if v.outcome is Outcome.PAGE and v.stored
    ]  # fmt: skip


def host_row(host: Host) -> tuple[Any, ...]:
    robots = msgspec.msgpack.encode(host.robots) if host.robots else None
    return host.id, host.origin, robots, host.not_before, host.interval, host.learned


def host(row: tuple[Any, ...]) -> Host:
    robots = msgspec.msgpack.decode(row[2], type=Robots) if row[2] else None
    return Host(row[0], row[1], robots, row[3], row[4], row[5])


def page(r: tuple[Any, ...]) -> PageRow:
    return PageRow(
        url=r[0], status=r[1], state=State(r[2]).name.lower(), depth=r[3], fetched_at=r[4], changed_at=r[5],
        visits=r[6], changes=r[7], importance=r[8], digest=r[9].hex(), title=r[10], mime=r[11], charset=r[12],
        language=r[13], size=r[14], truncated=bool(r[15] & _TRUNCATED), noindex=bool(r[15] & _NOINDEX), redirect=r[16],
        permanent=bool(r[15] & _PERMANENT), reason=r[17], warc=r[18], offset=r[19], length=r[20], same_as=r[21],
    )  # fmt: skip
