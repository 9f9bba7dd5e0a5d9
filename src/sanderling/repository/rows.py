"""What the tables of both stores share: how a commit becomes rows, and rows become what people
read."""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import UNSET
from xxhash import xxh3_64_digest

from sanderling.model import (
    Before,
    Change,
    ChangeKind,
    Commit,
    Host,
    Kind,
    Outcome,
    PageRow,
    Robots,
    State,
    Stored,
    Task,
    VersionRow,
    Visit,
)
from sanderling.model.reasons import reason, sentence

FIRST = Change(ChangeKind.NEW, 1.0, "", "new")

TRUNCATED, NOINDEX, PERMANENT, LOGIN = 1, 2, 4, 8

PAGE_COLUMNS = (
    "id", "status", "fetched_at", "changed_at", "visits", "changes", "importance", "size", "digest", "text_digest",
    "mime", "charset", "language", "title", "etag", "modified", "flags", "redirect", "canonical", "simhash", "warc",
    "offset", "length", "fingerprint", "noise", "relevance",
)  # fmt: skip
VERSION_COLUMNS = (
    "page", "at", "status", "digest", "text_digest", "size", "mime", "warc", "offset", "length", "kinds",
    "significance", "degree", "summary", "news", "excerpt", "extracted",
)  # fmt: skip
HOST_COLUMNS = ("id", "origin", "robots", "not_before", "interval", "learned", "rendering")
# A version like the page's last one, with another moment and another change. {0} is where a value
# goes, {1} the key of a page.
MARK = """INSERT INTO versions (page, at, status, digest, text_digest, size, mime, warc, "offset", length, kinds,
    significance, degree, summary, news, excerpt, extracted, marked)
    SELECT page, {0}, status, digest, text_digest, size, mime, warc, "offset", length, {0}, {0}, {0}, {0}, {0}, {0},
    extracted, 1 FROM versions WHERE page = {0} ORDER BY number DESC LIMIT 1"""
MARKED = "UPDATE pages SET changes = changes + 1, changed_at = {0} WHERE {1} = {0}"
# Only a page that was not known to be gone. {0} is where a value goes, {key} the key of a URL.
FAILURE = """INSERT INTO failures (url, at, reason)
    SELECT {key}, {0}, {0} FROM urls WHERE {key} = {0} AND kind = 0 AND state <> 5"""
HOSTS = f"SELECT {', '.join(HOST_COLUMNS)} FROM hosts"

# How relevant a URL is: what was said of the page, and of the link to it only until the page is
# seen; for both dialects.
RELEVANCE = "coalesce(p.relevance, u.relevance)"

# What `page` turns into a `PageRow`, with the texts of `redirect` and `alias` behind it; for both
# dialects, which differ in the key of a page.
PAGE_FIELDS = f"""u.url, p.status, u.state, u.depth, p.fetched_at, p.changed_at, p.visits, p.changes, p.importance,
    p.digest, p.title, p.mime, p.charset, p.language, p.size, p.flags, u.reason, w.name, p."offset", p.length,
    p.simhash, {RELEVANCE},
    (SELECT v.extracted FROM versions v WHERE v.page = p.{{key}} ORDER BY v.number DESC LIMIT 1)"""
# What `version` turns into a `VersionRow`.
VERSION_FIELDS = """v.number, u.url, v.at, v.status, v.kinds, v.significance, v.degree, v.summary, v.news, v.digest,
    v.size, v.mime, w.name, v."offset", v.length, p.title, v.extracted, p.flags, v.excerpt"""

# The pages whose newest copy lies, in part at least, between two bytes of an archive; for both
# dialects.
IN_PLACE = """warc = (SELECT number FROM warcs WHERE name = {0}) AND "offset" < {0} AND "offset" + length > {0}"""
# Without validators and digest, the next visit fetches the page whole.
DISTRUST = f"UPDATE pages SET etag = '', modified = '', digest = {{empty}} WHERE {IN_PLACE} RETURNING {{key}}"
DISTRUSTED = f"SELECT count(*) FROM pages WHERE {IN_PLACE} AND digest = {{empty}}"
# Versions at the place of a lost copy get the place of the new one, and then the page does.
RESTORE_VERSIONS = """UPDATE versions SET warc = {0}, "offset" = {0}, length = {0} WHERE page = {0} AND digest = {0}
    AND (warc, "offset") = (SELECT p.warc, p."offset" FROM pages p WHERE p.{key} = versions.page)"""
RESTORE_PAGE = 'UPDATE pages SET digest = {0}, warc = {0}, "offset" = {0}, length = {0} WHERE {key} = {0}'
# What stays of an archive that is replaced: where each record was, and where it is now.
MOVED = """CREATE TEMPORARY TABLE moved (warc bigint, "offset" bigint, place bigint, PRIMARY KEY (warc, "offset"))"""
MOVE = """UPDATE {table} SET warc = {value}, "offset" = moved.place FROM moved
    WHERE moved.warc = {table}.warc AND moved."offset" = {table}."offset\""""
RETRY_FAILED = "UPDATE urls SET state = 1, attempts = 0, due = 0, reason = '' WHERE state = 4 AND kind IN (0, 3)"
# A link that is a file of a page after all, with the rank of such files.
REQUISITE = f"UPDATE urls SET kind = 3, rank = {2e6} WHERE {{}}"

# What a new version leaves of a page's row; `changes` of the new row says whether it is a change
# worth telling.
RENEWED = (
    "status", "fetched_at", "size", "digest", "text_digest", "mime", "charset", "language", "title", "etag", "modified",
    "redirect", "canonical", "simhash", "warc", "offset", "length", "fingerprint", "noise", "relevance",
)  # fmt: skip
# A page that was ever read with a login stays marked: its older versions are behind the login.
RENEWED_FLAGS = f"flags = excluded.flags | ({{pages}}.flags & {LOGIN})"
# What a visit that brought no content leaves of it: the copy we have stands.
TOUCHED = ("status", "fetched_at", "redirect")

# As `Before.there` has it, for both dialects.
THERE = "u.state <> 5 AND p.status NOT BETWEEN 300 AND 399 AND EXISTS (SELECT 1 FROM versions v WHERE v.page = p.{key})"


def answered(commit: Commit) -> list[Visit]:
    return [visit for visit in commit.visits if visit.status and visit.outcome is not Outcome.UNCHANGED]


def unchanged(commit: Commit) -> list[tuple[Any, ...]]:
    """What visits that found nothing new add to their pages: (id, at, 304s, same bytes, etag,
    modified, noise)."""
    return [
        (v.id, v.at, int(v.status == 304), int(v.status != 304), v.etag, v.modified, commit.noise.get(v.id, b""))
        for v in commit.visits
        if v.outcome is Outcome.UNCHANGED
    ]  # fmt: skip


def page_row(v: Visit, warcs: Mapping[str, int], commit: Commit) -> tuple[Any, ...]:
    """A row of `pages` as the first visit leaves it."""
    change = commit.changes.get(v.id)
    changed = change is not None and change.news and not change.kinds & ChangeKind.NEW
    place = (warcs[v.stored.warc], v.stored.offset, v.stored.length) if v.stored else (None, 0, 0)
    redirect = int.from_bytes(v.links[:8], "little", signed=True) if v.outcome is Outcome.REDIRECT and v.links else None
    flags = v.truncated * TRUNCATED | v.noindex * NOINDEX | v.permanent * PERMANENT | v.login * LOGIN
    return (
        v.id, v.status, v.at, v.at, 1, int(changed), 0.0, v.size, v.digest, v.text_digest, v.mime, v.charset,
        v.language, v.title, v.etag, v.modified, flags, redirect, v.canonical, v.simhash, *place, v.fingerprint,
        commit.noise.get(v.id, b""), v.relevance,
    )  # fmt: skip


def version_rows(visits: list[Visit], warcs: Mapping[str, int], commit: Commit) -> list[tuple[Any, ...]]:
    return [
        (
            v.id, v.at, v.status, v.digest, v.text_digest, v.size, v.mime,
            warcs[v.stored.warc], v.stored.offset, v.stored.length,
            *judged(change), v.extracted.decode() if v.extracted and v.outcome is Outcome.PAGE else None,
        )
        for v in visits
        if (v.outcome is Outcome.PAGE or v.id in commit.changes) and v.stored
        for change in [commit.changes.get(v.id, FIRST)]
    ]  # fmt: skip


def failures(commit: Commit) -> list[tuple[int, float, str]]:
    """(id, at, reason) of visits that brought no content, leave no version and are not repeated
    soon."""
    settled = {each.id: each for each in commit.settled if not each.due}
    failed = (Outcome.FAILED, Outcome.RETRY, Outcome.GONE)
    return [
        (v.id, v.at, settled[v.id].reason or reason("status", v.status))
        for v in commit.visits
        if v.outcome in failed and v.id in settled and v.id not in commit.changes
    ]


# The end of a `Task`: etag, modified, digest, where the newest version is, and the digests of its
# text and of its fingerprint.
Validators = tuple[str, str, bytes, Stored | None, bytes, bytes]
# Of a page that is not there: whatever comes is news. Never empty, which is how tasks of new URLs
# are told apart.
NO_VALIDATORS: Validators = ("", "", b"none", None, b"", b"")
# What `validators` takes; for both dialects, which differ in the key of a page.
VALIDATORS = f"""{THERE}, p.etag, p.modified, p.digest, w.name, p."offset", p.length, p.text_digest, p.fingerprint FROM
    pages p LEFT JOIN warcs w ON w.number = p.warc"""


def validators(
    there: bool,
    etag: str,
    modified: str,
    digest: bytes,
    warc: str | None,
    offset: int,
    length: int,
    text: bytes,
    fingerprint: bytes,
) -> Validators:
    """What to ask a server with whether a page is as it was, and to compare its answer with."""
    if not there or not digest:
        return NO_VALIDATORS
    stored = Stored(warc, offset, length) if warc else None
    return etag, modified, digest, stored, text, xxh3_64_digest(fingerprint) if fingerprint else b""


def again(task: Task, kept: Mapping[int, Validators]) -> Task:
    """A task for another visit; a sitemap is always read whole."""
    return task if task.kind not in (Kind.PAGE, Kind.REQUISITE) else Task(*task[:6], *kept.get(task.id, NO_VALIDATORS))


def queued_again(tasks: list[Task], stored: list[Task]) -> list[Task]:
    """Queued URLs, of which some were `stored` before: what the visit brings is compared with that
    copy."""
    kept = {task.id: task for task in stored if task.stored is not None}
    return [kept.get(task.id, task) for task in tasks] if kept else tasks


def restored(visit: Visit, warcs: Mapping[str, int]) -> tuple[int, int, int]:
    """Where the new copy of a page is."""
    assert visit.stored is not None
    return warcs[visit.stored.warc], visit.stored.offset, visit.stored.length


def judged(change: Change) -> tuple[int, float, str, str, int, str]:
    """The columns of a version that say what it changed."""
    return int(change.kinds), change.significance, change.degree, change.summary, int(change.news), change.excerpt


def version(r: tuple[Any, ...]) -> VersionRow:
    return VersionRow(
        number=r[0], url=r[1], at=r[2], status=r[3], kinds=ChangeKind(r[4]), significance=r[5], degree=r[6],
        summary=r[7], news=bool(r[8]), digest=r[9].hex(), size=r[10], mime=r[11], warc=r[12], offset=r[13], length=r[14],
        title=r[15], extracted=_data(r[16]), login=bool(r[17] & LOGIN), excerpt=r[18],
    )  # fmt: skip


def _data(extracted: str | None) -> dict[str, Any] | None:
    return msgspec.json.decode(extracted) if extracted else None


# What `before` takes; for both dialects, which differ in the key of a page.
BEFORE = """p.fingerprint, p.noise, u.state, p.status, w.name, p."offset", p.length, p.digest, p.text_digest,
    (SELECT v.digest FROM versions v WHERE v.page = p.{key} ORDER BY v.number DESC LIMIT 1), p.mime"""


def before(r: tuple[Any, ...]) -> Before:
    """From the columns `BEFORE`. A page without versions has no digest of the last one."""
    stored, last = Stored(r[4], r[5], r[6]) if r[4] else None, bytes(r[9] or b"")
    lost = bool(last) and not r[7]
    return Before(bytes(r[0]), bytes(r[1]), r[2], r[3], stored, r[9] is not None, last, bytes(r[8]), lost, r[10])


def host_row(host: Host) -> tuple[Any, ...]:
    robots = msgspec.msgpack.encode(host.robots) if host.robots else None
    return host.id, host.origin, robots, host.not_before, host.interval, host.learned, host.rendering


def host(row: tuple[Any, ...]) -> Host:
    robots = msgspec.msgpack.decode(row[2], type=Robots) if row[2] else None
    return Host(row[0], row[1], robots, row[3], row[4], bytes(row[5]), bytes(row[6]))


def page(r: tuple[Any, ...]) -> PageRow:
    return PageRow(
        url=r[0], status=r[1], state=State(r[2]).name.lower(), depth=r[3], fetched_at=r[4], changed_at=r[5],
        visits=r[6], changes=r[7], importance=r[8], digest=r[9].hex(), title=r[10], mime=r[11], charset=r[12],
        language=r[13], size=r[14], truncated=bool(r[15] & TRUNCATED), noindex=bool(r[15] & NOINDEX),
        permanent=bool(r[15] & PERMANENT), login=bool(r[15] & LOGIN), reason=sentence(r[16]), reason_code=r[16], warc=r[17], offset=r[18],
        length=r[19], simhash=f"{r[20] & 0xFFFF_FFFF_FFFF_FFFF:016x}" if r[20] else "", relevance=r[21] or UNSET,
        extracted=_data(r[22]), redirect=r[23], same_as=r[24],
    )  # fmt: skip


def unanswered(state: State, r: tuple[Any, ...]) -> PageRow:
    """From (url, depth, reason, relevance) of a URL that never answered."""
    return PageRow(
        url=r[0], state=state.name.lower(), depth=r[1], reason=sentence(r[2]), reason_code=r[2],
        relevance=r[3] or UNSET,
    )  # fmt: skip
