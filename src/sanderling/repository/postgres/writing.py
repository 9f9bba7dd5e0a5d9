"""What changes the state: every method is one transaction.

New URLs come in by COPY, everything else a commit changes in a few statements over arrays, so that
a report of a hundred pages is about ten round trips.
"""

import json
from collections.abc import Iterable
from typing import Any

import msgspec

from sanderling.model import (
    DUE_AT_ONCE,
    Change,
    Commit,
    Counts,
    FormChanges,
    HintCommit,
    Host,
    Lost,
    NewUrl,
    Outcome,
    Pruned,
    Rejudged,
    Reworked,
    Settled,
    State,
    Visit,
)
from sanderling.repository import beliefs, form_rows, image_pages, rows
from sanderling.repository.known_file import KnownFile
from sanderling.repository.ownership import Owner
from sanderling.repository.postgres.database import PostgresDatabase, quoted
from sanderling.repository.postgres.session import META, Connection
from sanderling.repository.store import WhileAway

_NEW_URLS = """COPY urls (id, url, host, depth, state, rank, via, hops, anchor, reason, kind, modified, alias,
    relevance, off_topic)
    FROM STDIN (FORMAT BINARY)"""
_NEW_URL_TYPES = (
    "int8", "text", "int8", "int4", "int4", "float8", "int8", "int4", "text", "text", "int4", "float8", "int8",
    "float8", "int4",
)  # fmt: skip


def _insert(table: str, columns: Iterable[str], types: str) -> str:
    arrays = ", ".join(f"%b::{each}[]" for each in types.split())
    return f"INSERT INTO {table} ({', '.join(map(quoted, columns))}) SELECT * FROM unnest({arrays})"


def _from_new(columns: Iterable[str]) -> str:
    return ", ".join(f"{quoted(column)} = excluded.{quoted(column)}" for column in columns)


_SETTLE = """UPDATE urls SET state = v.state, attempts = v.attempts, due = v.due, reason = v.reason
    FROM unnest(%b::int8[], %b::int4[], %b::int4[], %b::float8[], %b::text[]) AS v (id, state, attempts, due, reason)
    WHERE urls.id = v.id"""
_ALIASES = "UPDATE urls SET alias = v.alias FROM unnest(%b::int8[], %b::int8[]) AS v (id, alias) WHERE urls.id = v.id"
_DATED = """UPDATE urls SET modified = v.modified
    FROM unnest(%b::int8[], %b::float8[]) AS v (id, modified) WHERE urls.id = v.id"""
_OFF_TOPIC = """UPDATE urls SET off_topic = v.off_topic, rank = coalesce(v.rank, urls.rank)
    FROM unnest(%b::int8[], %b::int4[], %b::float8[]) AS v (id, off_topic, rank) WHERE urls.id = v.id"""
_RELEVANCES = """UPDATE pages SET relevance = v.relevance FROM unnest(%b::int8[], %b::float8[]) AS v (number, relevance)
    JOIN versions o ON o.number = v.number WHERE pages.id = o.page"""
_TO_COMPLETE = """UPDATE pages SET etag = '', modified = '' FROM unnest(%b::int8[]) AS v (number)
    JOIN versions o ON o.number = v.number WHERE pages.id = o.page AND flags & 1 = 1"""
_LINK_RELEVANCES = """UPDATE urls SET relevance = v.relevance FROM unnest(%b::int8[], %b::float8[]) AS v (number, relevance)
    WHERE urls.number = v.number"""
_COUNTED = """UPDATE urls SET off_topic = v.off_topic FROM unnest(%b::int8[], %b::int4[]) AS v (id, off_topic)
    WHERE urls.id = v.id"""
_REWORK = """UPDATE urls SET state = v.state, due = 0, attempts = 0, reason = v.reason, alias = v.alias
    FROM unnest(%b::int8[], %b::int4[], %b::text[], %b::int8[]) AS v (id, state, reason, alias) WHERE urls.id = v.id"""
_NEW_PAGES = _insert(
    "pages AS p",
    rows.PAGE_COLUMNS,
    "int8 int4 float8 float8 int4 int4 float8 int8 bytea bytea text text text text text text int4 int8 int8 int8 int4 "
    "int8 int8 bytea bytea float8",
)
_PAGES = f"""{_NEW_PAGES}
    ON CONFLICT (id) DO UPDATE SET visits = p.visits + 1, changes = p.changes + excluded.changes,
    changed_at = CASE WHEN excluded.changes > 0 THEN excluded.changed_at ELSE p.changed_at END,
    {_from_new(rows.RENEWED)}, {rows.RENEWED_FLAGS.format(pages="p")}"""
_ANSWERS = f"{_NEW_PAGES} ON CONFLICT (id) DO UPDATE SET visits = p.visits + 1, {_from_new(rows.TOUCHED)}"
_UNCHANGED = """UPDATE pages AS p SET visits = p.visits + 1, fetched_at = v.at,
    status = CASE WHEN p.status BETWEEN 200 AND 299 THEN p.status ELSE 200 END,
    not_modified = p.not_modified + v.not_modified,
    same = p.same + v.same, etag = coalesce(nullif(v.etag, ''), p.etag),
    modified = coalesce(nullif(v.modified, ''), p.modified), noise = coalesce(nullif(v.noise, ''), p.noise)
    FROM unnest(%b::int8[], %b::float8[], %b::int4[], %b::int4[], %b::text[], %b::text[], %b::bytea[])
    AS v (id, at, not_modified, same, etag, modified, noise) WHERE p.id = v.id"""
_VERSIONS = _insert(
    "versions",
    rows.VERSION_COLUMNS,
    "int8 float8 int4 bytea bytea int8 text int4 int8 int8 int4 float8 text text int4 text text",
)
_LINKS = f"""{_insert("links", ("page", "targets"), "int8 bytea")}
    ON CONFLICT (page) DO UPDATE SET targets = excluded.targets"""
_FAILURE = rows.FAILURE.format("%s", key="id")
_MARK, _MARKED = rows.MARK.format("%s"), rows.MARKED.format("%s", "id")
_RESTORE_VERSIONS = rows.RESTORE_VERSIONS.format("%s", key="id")
_RESTORE_PAGE = rows.RESTORE_PAGE.format("%s", key="id")
_HOSTS = f"""{_insert("hosts", rows.HOST_COLUMNS, "int8 text bytea float8 float8 bytea bytea")}
    ON CONFLICT (id) DO UPDATE SET robots = excluded.robots, not_before = excluded.not_before,
    interval = excluded.interval, learned = excluded.learned, rendering = excluded.rendering"""
_WARCS = f"""{_insert("warcs", ("name", "bytes"), "text int8")}
    ON CONFLICT (name) DO UPDATE SET bytes = greatest(warcs.bytes, excluded.bytes) RETURNING name, number"""


class PostgresWriting(PostgresDatabase):
    """The writing half of a store."""

    def __init__(
        self,
        dsn: str,
        readonly: bool = False,
        while_away: WhileAway | None = None,
        owner: Owner | None = None,
        known_file: KnownFile | None = None,
    ) -> None:
        super().__init__(dsn, readonly, while_away, owner, known_file)
        self._warc_numbers: dict[str, int] = {}

    def commit(self, commit: Commit) -> bool:
        def work(db: Connection) -> dict[str, int] | None:
            row = db.execute("SELECT number FROM reports WHERE client = %s", (commit.client,)).fetchone()
            if row and row[0] >= commit.number:
                return None
            db.execute(
                "INSERT INTO reports VALUES (%s, %s) ON CONFLICT (client) DO UPDATE SET number = excluded.number",
                (commit.client, commit.number),
            )
            _apply(db, _HOSTS, map(rows.host_row, commit.hosts))
            _copy(db, commit.urls)
            for id, failed_at, why in rows.failures(commit):
                db.execute(_FAILURE, (failed_at, why, id))
            _apply(db, _SETTLE, map(_settled, commit.settled))
            numbers = self._warc_numbers | dict(_apply(db, _WARCS, commit.warcs.items()))
            answered = rows.answered(commit)
            for is_page, statement in ((True, _PAGES), (False, _ANSWERS)):
                some = [v for v in answered if (v.outcome is Outcome.PAGE) is is_page]
                _apply(db, statement, [rows.page_row(visit, numbers, commit) for visit in some])
            _apply(db, _UNCHANGED, rows.unchanged(commit))
            for v in commit.restored:
                place = rows.restored(v, numbers)
                db.execute(_RESTORE_VERSIONS, (*place, v.id, v.digest))
                db.execute(_RESTORE_PAGE, (v.digest, *place, v.id))
            _apply(db, _VERSIONS, rows.version_rows(answered, numbers, commit), distinct=False)
            _apply(db, _LINKS, [(v.id, v.links) for v in answered if v.links])
            _put_image_pages(db, image_pages.looked_at(commit))
            for id, at, change in commit.marked:
                db.execute(_MARK, (at, *rows.judged(change), id))
                if not change.kinds.of_site:
                    db.execute(_MARKED, (at, id))
            _apply(db, _ALIASES, commit.aliases)
            _apply(db, _DATED, commit.dated)
            _apply(db, _OFF_TOPIC, [(id, *nearer) for id, nearer in commit.off_topic.items()])
            if commit.requisites:
                db.execute(rows.REQUISITE.format("id = ANY(%b::int8[])"), (commit.requisites,))
            _apply(db, beliefs.POSTGRES_WRITE, commit.beliefs)
            _apply(db, beliefs.POSTGRES_TRUST, commit.trust)
            if commit.forms is not None:
                _put_forms(db, commit.forms)
            _put_counts(db, commit.counts)
            for key, value in commit.notes.items():
                db.execute(META, (key, value))
            if commit.homes is not None:
                db.execute(META, ("homes", json.dumps(commit.homes)))
            return numbers

        numbers = self._session.write(work)
        if numbers is None:
            return False
        self._warc_numbers = numbers
        self._learn(commit.urls)
        return True

    def put_forms(self, changes: FormChanges) -> None:
        self._session.write(lambda db: _put_forms(db, changes))

    def seed(self, seeds: list[str], urls: list[NewUrl], hosts: list[Host], counts: Counts) -> None:
        def work(db: Connection) -> None:
            db.execute(META, ("seeds", json.dumps(seeds)))
            _apply(db, _HOSTS, map(rows.host_row, hosts))
            _copy(db, urls)
            _put_counts(db, counts)

        self._session.write(work)
        self._learn(urls)

    def put_depth(self, ids: list[int], depth: int) -> None:
        query = "UPDATE urls SET depth = %s WHERE id = ANY(%b::int8[])"
        self._session.write(lambda db: db.execute(query, (depth, ids)))

    def set_aside(self, id: int, reason: str, counts: Counts) -> None:
        def work(db: Connection) -> None:
            _apply(db, _SETTLE, [_settled(Settled(id, State.FAILED, 0, 0.0, reason))])
            _put_counts(db, counts)

        self._session.write(work)

    def wake(self, now: float) -> list[tuple[int, int]]:
        query = """WITH woken AS
            (UPDATE urls SET due = 0 WHERE state = 1 AND due > 0 AND due <= %s RETURNING host)
            SELECT host, count(*) FROM woken GROUP BY host"""
        return self._session.write(lambda db: [(host, count) for host, count in db.execute(query, (now,))])

    def retry_failed(self, counts: Counts) -> None:
        def work(db: Connection) -> None:
            db.execute(rows.RETRY_FAILED)
            _put_counts(db, counts)

        self._session.write(work)

    def revisit_all(self, now: float, sitemaps: bool) -> None:
        query = """UPDATE urls SET due = %s, attempts = 0
            WHERE state IN (3, 5) AND kind IN (0, 3) OR state = 3 AND kind IN (1, 2) AND %s"""
        self._session.write(lambda db: db.execute(query, (now, sitemaps)))

    def weigh(self, importances: Iterable[tuple[int, float]]) -> None:
        query = """UPDATE pages SET importance = v.importance FROM unnest(%b::int8[], %b::float8[]) AS v (id, importance)
            WHERE pages.id = v.id"""
        chosen = list(importances)
        self._session.write(lambda db: _apply(db, query, chosen))

    def distrust(self, lost: Iterable[Lost]) -> int:
        query, places = rows.DISTRUST.format("%s", empty="''::bytea", key="id"), list(lost)

        def work(db: Connection) -> int:
            return len({row for name, start, end in places for row in db.execute(query, (name, end, start))})

        return self._session.write(work)

    def distrusted(self, lost: Lost) -> int:
        name, start, end = lost
        query = rows.DISTRUSTED.format("%s", empty="''::bytea")
        return int(self._session.read(query, name, end, start)[0][0])

    def note(self, key: str, value: str) -> None:
        self._session.write(lambda db: db.execute(META, (key, value)))

    def rejudge(self, page: int, changes: list[tuple[int, Change]], fingerprint: bytes, noise: bytes) -> None:
        def work(db: Connection) -> None:
            for number, change in changes:
                db.execute(
                    """UPDATE versions SET kinds = %s, significance = %s, degree = %s, summary = %s, news = %s,
                    excerpt = %s WHERE number = %s""",
                    (*rows.judged(change), number),
                )
            db.execute("UPDATE pages SET fingerprint = %s, noise = %s WHERE id = %s", (fingerprint, noise, page))

        self._session.write(work)

    def judge_anew(self, judged: Rejudged) -> None:
        def work(db: Connection) -> None:
            _apply(db, _RELEVANCES, judged.pages)
            whole = [(number,) for number, relevance in judged.pages if relevance >= judged.relatedness]
            _apply(db, _TO_COMPLETE, whole)
            _apply(db, _LINK_RELEVANCES, judged.links)
            _apply(db, _COUNTED, judged.off_topic)
            for key, value in judged.notes.items():
                db.execute(META, (key, value))

        self._session.write(work)

    def put_extracted(self, data: list[tuple[int, str | None]]) -> None:
        query = """UPDATE versions SET extracted = v.extracted FROM unnest(%b::int8[], %b::text[]) AS v (number, extracted)
            WHERE versions.number = v.number"""
        self._session.write(lambda db: _apply(db, query, data))

    def prune(self, pruned: Pruned) -> None:
        def work(db: Connection) -> None:
            db.execute("SET LOCAL synchronous_commit = on")  # the old archives are deleted after it
            numbers: dict[str, int] = dict(db.execute("SELECT name, number FROM warcs").fetchall())
            db.execute("DELETE FROM versions WHERE number = ANY(%b::int8[])", (pruned.versions,))
            if pruned.archive:
                ((_, new),) = _apply(db, _WARCS, [(pruned.archive, pruned.size)])
                db.execute(f"{rows.MOVED} ON COMMIT DROP")
                moved = [(numbers[name], offset, stored.offset) for name, offset, stored in pruned.moved]
                query = "INSERT INTO moved SELECT * FROM unnest(%b::int8[], %b::int8[], %b::int8[])"
                _apply(db, query, moved, distinct=False)
                for table in ("versions", "pages"):
                    db.execute(rows.MOVE.format(table=table, value="%s"), (new,))
            db.execute("DELETE FROM warcs WHERE name = ANY(%s::text[])", (pruned.replaced,))
            counts = self.counts()
            counts.versions = max(0, counts.versions - len(pruned.versions))
            _put_counts(db, counts)
            for key, value in pruned.notes.items():
                db.execute(META, (key, value))

        self._session.write(work)
        self._warc_numbers = {}

    def compact(self) -> None:
        pass  # the database does that

    def bring_forward(self, now: float, later_than: float, visited: bool) -> None:
        query = beliefs.BRING_FORWARD[visited].format(value="%s")
        self._session.write(lambda db: db.execute(query, (now, later_than)))

    def forget_due(self) -> None:
        self._session.write(lambda db: db.execute(beliefs.FORGET_DUE))

    def make_due(self, ids: list[int]) -> None:
        query = "UPDATE urls SET due = %s, attempts = 0 WHERE id = ANY(%s::int8[]) AND state IN (3, 5)"
        self._session.write(lambda db: db.execute(query, (DUE_AT_ONCE, ids)))

    def rerank(self, ranks: Iterable[tuple[int, float]]) -> None:
        query = """UPDATE urls SET rank = v.rank FROM unnest(%b::int8[], %b::float8[]) AS v (id, rank)
            WHERE urls.id = v.id AND state = 1 AND kind = 0"""
        chosen = list(ranks)
        self._session.write(lambda db: _apply(db, query, chosen))

    def rework(self, changes: list[Reworked], urls: list[NewUrl], hosts: list[Host], counts: Counts) -> None:
        self._session.write(lambda db: _rework(db, changes, urls, hosts, counts))
        self._learn(urls)

    def take_hints(self, commit: HintCommit) -> None:
        def work(db: Connection) -> None:
            _rework(db, commit.reworked, commit.urls, commit.hosts, commit.counts)
            _apply(db, beliefs.POSTGRES_TOLD.format(source=commit.source), commit.named)
            _apply(db, beliefs.POSTGRES_TRUST, commit.trust)
            for key, value in commit.notes.items():
                db.execute(META, (key, value))

        self._session.write(work)
        self._learn(commit.urls)

    def _learn(self, urls: list[NewUrl]) -> None:
        if self._known is not None and urls:
            added = self._known.add((0, row.id, row.url) for row in urls)
            if self._known_file is not None:
                self._known_file.add(added)
                self._save_known(self._known_file)


def _apply(
    db: Connection, query: str, lines: Iterable[tuple[Any, ...]], distinct: bool = True
) -> list[tuple[Any, ...]]:
    """Runs a statement over rows as arrays, one for each column; rows with one key go one after the
    other.
    """
    chosen = [tuple(_storable(value) for value in line) for line in lines]
    if not chosen:
        return []
    at_once = not distinct or len({line[0] for line in chosen}) == len(chosen)
    found: list[tuple[Any, ...]] = []
    for part in [chosen] if at_once else [[line] for line in chosen]:
        cursor = db.execute(query, [list(column) for column in zip(*part, strict=True)])
        if cursor.description is not None:
            found += cursor.fetchall()
    return found


def _storable(value: Any) -> Any:
    """PostgreSQL has no text with a zero byte in it; pages on the web do."""
    return value.replace("\0", "\N{REPLACEMENT CHARACTER}") if isinstance(value, str) and "\0" in value else value


def _copy(db: Connection, urls: list[NewUrl]) -> None:
    if not urls:
        return
    with db.cursor() as cursor, cursor.copy(_NEW_URLS) as copy:
        copy.set_types(_NEW_URL_TYPES)
        for row in urls:
            copy.write_row(row if "\0" not in row.anchor else row._replace(anchor=_storable(row.anchor)))


def _settled(s: Settled) -> tuple[Any, ...]:
    return s.id, int(s.state), s.attempts, float(s.due), s.reason


def _rework(db: Connection, changes: list[Reworked], urls: list[NewUrl], hosts: list[Host], counts: Counts) -> None:
    _apply(db, _HOSTS, map(rows.host_row, hosts))
    _copy(db, urls)
    _apply(db, _REWORK, [(each.id, int(each.state), each.reason, each.alias) for each in changes])
    _put_counts(db, counts)


def _put_image_pages(db: Connection, visits: list[Visit]) -> None:
    if not visits:
        return
    query = "SELECT image, page FROM shown WHERE {} = ANY(%b::int8[])"
    kept = db.execute(query.format("page"), ([visit.id for visit in visits],)).fetchall()
    now = [(image, visit.id) for visit in visits for image in image_pages.unpacked(visit.images)]
    images = sorted({image for image, _ in [*kept, *now]})
    changes = image_pages.image_page_changes(kept, db.execute(query.format("image"), (images,)).fetchall(), now)
    delete = "DELETE FROM shown USING unnest(%b::int8[], %b::int8[]) AS v (i, p) WHERE image = v.i AND page = v.p"
    _apply(db, delete, changes.removed, distinct=False)
    _apply(db, _insert("shown", ("image", "page"), "int8 int8"), changes.added, distinct=False)


def _put_forms(db: Connection, changes: FormChanges) -> None:
    _apply(db, form_rows.POSTGRES_FORM, form_rows.form_rows(changes))
    _apply(db, form_rows.POSTGRES_LEARNED, form_rows.learned_rows(changes), distinct=False)
    _apply(db, form_rows.POSTGRES_SUBMISSION, form_rows.submission_rows(changes))


def _put_counts(db: Connection, counts: Counts) -> None:
    db.execute(META, ("counts", msgspec.json.encode(counts).decode()))
