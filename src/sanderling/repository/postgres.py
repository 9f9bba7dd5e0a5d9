"""The shared store: a PostgreSQL database, one writing server per crawl, any number of readers.

New URLs come in by COPY, everything else a commit changes in a few statements over arrays, so that a report of a
hundred pages is about ten round trips. A crawl has a namespace of its own (see `address`), and a database that goes
away does not end it (see `session`).

Before an upgrade all tables are copied to the namespace NAME_schema_N, in the same transaction. To go back:
`DROP SCHEMA name CASCADE; ALTER SCHEMA name_schema_1 RENAME TO name`. The tables are in `migrations/postgres`.
"""

import json
import math
import random
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

import msgspec
from psycopg import errors, sql

from sanderling.errors import BadFolder
from sanderling.model import (
    Before,
    Change,
    Commit,
    Counts,
    Host,
    NewUrl,
    Outcome,
    PageFacts,
    PageRow,
    Reworked,
    Seen,
    Settled,
    State,
    Subject,
    Task,
    VersionRow,
)
from sanderling.repository import beliefs, migrations, rows
from sanderling.repository.known import KnownUrls
from sanderling.repository.session import META, Connection, Session, reason
from sanderling.repository.store import Judged, UrlFacts, Waiting, WhileAway

STEPS = migrations.steps("postgres")
SCHEMA = len(STEPS)

_NEW_URLS = """COPY urls (id, url, host, depth, state, rank, via, hops, anchor, reason, kind, modified, priority, alias)
    FROM STDIN (FORMAT BINARY)"""
_NEW_URL_TYPES = (
    "int8", "text", "int8", "int4", "int4", "float8", "int8", "int4", "text", "text", "int4", "float8", "float8",
    "int8",
)  # fmt: skip


def _insert(table: str, columns: Iterable[str], types: str) -> str:
    arrays = ", ".join(f"%b::{each}[]" for each in types.split())
    return f"INSERT INTO {table} ({', '.join(map(_quoted, columns))}) SELECT * FROM unnest({arrays})"


def _quoted(column: str) -> str:
    return f'"{column}"'


def _from_new(columns: Iterable[str]) -> str:
    return ", ".join(f"{_quoted(column)} = excluded.{_quoted(column)}" for column in columns)


_SETTLE = """UPDATE urls SET state = v.state, attempts = v.attempts, due = v.due, reason = v.reason
    FROM unnest(%b::int8[], %b::int4[], %b::int4[], %b::float8[], %b::text[]) AS v (id, state, attempts, due, reason)
    WHERE urls.id = v.id"""
_ALIASES = "UPDATE urls SET alias = v.alias FROM unnest(%b::int8[], %b::int8[]) AS v (id, alias) WHERE urls.id = v.id"
_DATED = """UPDATE urls SET modified = v.modified, priority = v.priority
    FROM unnest(%b::int8[], %b::float8[], %b::float8[]) AS v (id, modified, priority) WHERE urls.id = v.id"""
_REWORK = """UPDATE urls SET state = v.state, due = 0, reason = v.reason, alias = v.alias
    FROM unnest(%b::int8[], %b::int4[], %b::text[], %b::int8[]) AS v (id, state, reason, alias) WHERE urls.id = v.id"""
_NEW_PAGES = _insert(
    "pages AS p",
    rows.PAGE_COLUMNS,
    "int8 int4 float8 float8 int4 int4 float8 int8 bytea bytea text text text text text text int4 int8 int8 int8 int4 "
    "int8 int8 bytea bytea",
)
_PAGES = f"""{_NEW_PAGES}
    ON CONFLICT (id) DO UPDATE SET visits = p.visits + 1, changes = p.changes + excluded.changes,
    changed_at = CASE WHEN excluded.changes > 0 THEN excluded.changed_at ELSE p.changed_at END,
    {_from_new(rows.RENEWED)}"""
_ANSWERS = f"{_NEW_PAGES} ON CONFLICT (id) DO UPDATE SET visits = p.visits + 1, {_from_new(rows.TOUCHED)}"
_UNCHANGED = """UPDATE pages AS p SET visits = p.visits + 1, fetched_at = v.at, not_modified = p.not_modified + v.not_modified,
    same = p.same + v.same, etag = coalesce(nullif(v.etag, ''), p.etag),
    modified = coalesce(nullif(v.modified, ''), p.modified), noise = coalesce(nullif(v.noise, ''), p.noise)
    FROM unnest(%b::int8[], %b::float8[], %b::int4[], %b::int4[], %b::text[], %b::text[], %b::bytea[])
    AS v (id, at, not_modified, same, etag, modified, noise) WHERE p.id = v.id"""
_VERSIONS = _insert(
    "versions", rows.VERSION_COLUMNS, "int8 float8 int4 bytea bytea int8 text int4 int8 int8 int4 float8 text text int4"
)
_LINKS = f"""{_insert("links", ("page", "targets"), "int8 bytea")}
    ON CONFLICT (page) DO UPDATE SET targets = excluded.targets"""
_HOSTS = f"""{_insert("hosts", rows.HOST_COLUMNS, "int8 text bytea float8 float8 bytea")}
    ON CONFLICT (id) DO UPDATE SET robots = excluded.robots, not_before = excluded.not_before,
    interval = excluded.interval, learned = excluded.learned"""
_WARCS = f"""{_insert("warcs", ("name", "bytes"), "text int8")}
    ON CONFLICT (name) DO UPDATE SET bytes = greatest(warcs.bytes, excluded.bytes) RETURNING name, number"""
# As the index of revisits has it.
_VISITED = "state IN (3, 5) AND due > 0"
_HOST_COLUMNS = ", ".join(map(_quoted, rows.HOST_COLUMNS))


class PostgresStore:
    """A `Store` in a namespace of a database."""

    def __init__(self, dsn: str, readonly: bool = False, while_away: WhileAway | None = None) -> None:
        self._readonly = readonly
        self._warc_numbers: dict[str, int] = {}
        self._known: KnownUrls | None = None
        self.notices: list[str] = []
        self._session = Session(dsn, readonly, while_away)
        try:
            self._check_schema()
        except BaseException:
            self._session.close()
            raise

    def close(self) -> None:
        self._session.close()

    # ---- the schema

    def _check_schema(self) -> None:
        """Makes a new store, and brings an old one up to date when it may be written."""
        table = self._session.read("SELECT to_regclass(%s)::text", f"{_quoted(self._session.namespace)}.meta")[0][0]
        if table is None:
            if self._readonly:
                raise BadFolder(f"nothing has been crawled into {self._session.place} yet")
            try:
                self._session.write(self._create)
            except errors.InsufficientPrivilege as error:
                raise BadFolder(f"no crawl can be made in {self._session.place}: {reason(error)}") from None
            return
        found = int(self._get("schema"))
        if found > SCHEMA:
            raise BadFolder(
                f"{self._session.place} was written by a newer Sanderling (schema {found}, this one knows {SCHEMA})"
            )
        if found < SCHEMA:
            if self._readonly:
                raise BadFolder(
                    f"{self._session.place} was written by an older Sanderling (schema {found}, this one reads {SCHEMA}): "
                    "`sanderling crawl -d` on its folder brings it up to date, after a backup"
                )
            backup = f"{self._session.namespace}_schema_{found}"
            self._session.write(lambda db: self._upgrade(db, found, backup))
            self.notices.append(
                f"brought {self._session.place} from schema {found} to {SCHEMA}; as it was, it is in the namespace {backup}"
            )

    def _create(self, db: Connection) -> None:
        db.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(sql.Identifier(self._session.namespace)))
        self._climb(db, 0)
        for key, value in (("counts", msgspec.json.encode(Counts()).decode()), ("seeds", "[]"), ("homes", "[]")):
            db.execute(META, (key, value))

    def _climb(self, db: Connection, found: int) -> None:
        for step in STEPS[found:]:
            db.execute(step)
        db.execute(META, ("schema", str(SCHEMA)))

    def _upgrade(self, db: Connection, found: int, backup: str) -> None:
        there, here = sql.Identifier(backup), sql.Identifier(self._session.namespace)
        db.execute(sql.SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(there))
        db.execute(sql.SQL("CREATE SCHEMA {}").format(there))
        tables = db.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname = %s", (self._session.namespace,)
        ).fetchall()
        for (name,) in tables:
            names = {
                "new": sql.SQL(".").join([there, sql.Identifier(name)]),
                "old": sql.SQL(".").join([here, sql.Identifier(name)]),
            }
            db.execute(sql.SQL("CREATE TABLE {new} (LIKE {old} INCLUDING ALL)").format(**names))
            db.execute(sql.SQL("INSERT INTO {new} OVERRIDING SYSTEM VALUE SELECT * FROM {old}").format(**names))
        counted = db.execute(
            "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = %s AND is_identity = 'YES'",
            (backup,),
        ).fetchall()
        for table, column in counted:
            db.execute(
                sql.SQL("SELECT setval(pg_get_serial_sequence({}, {}), (SELECT coalesce(max({}), 0) + 1 FROM {}), false)").format(
                    sql.Literal(f'"{backup}"."{table}"'), sql.Literal(column), sql.Identifier(column),
                    sql.SQL(".").join([there, sql.Identifier(table)]),
                )
            )  # fmt: skip
        self._climb(db, found)

    # ---- writing

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
            _apply(db, _SETTLE, map(_settled, commit.settled))
            numbers = self._warc_numbers | dict(_apply(db, _WARCS, commit.warcs.items()))
            answered = rows.answered(commit)
            for is_page, statement in ((True, _PAGES), (False, _ANSWERS)):
                some = [v for v in answered if (v.outcome is Outcome.PAGE) is is_page]
                _apply(db, statement, [rows.page_row(visit, numbers, commit) for visit in some])
            _apply(db, _UNCHANGED, rows.unchanged(commit))
            _apply(db, _VERSIONS, rows.version_rows(answered, numbers, commit), distinct=False)
            _apply(db, _LINKS, [(v.id, v.links) for v in answered if v.links])
            _apply(db, _ALIASES, commit.aliases)
            _apply(db, _DATED, commit.dated)
            _apply(db, beliefs.POSTGRES_WRITE, commit.beliefs)
            _apply(db, beliefs.POSTGRES_TRUST, commit.trust)
            _put_counts(db, commit.counts)
            if commit.homes is not None:
                db.execute(META, ("homes", json.dumps(commit.homes)))
            return numbers

        numbers = self._session.write(work)
        if numbers is None:
            return False
        self._warc_numbers = numbers
        self._learn(commit.urls)
        return True

    def seed(self, seeds: list[str], urls: list[NewUrl], hosts: list[Host], counts: Counts) -> None:
        def work(db: Connection) -> None:
            db.execute(META, ("seeds", json.dumps(seeds)))
            _apply(db, _HOSTS, map(rows.host_row, hosts))
            _copy(db, urls)
            _put_counts(db, counts)

        self._session.write(work)
        self._learn(urls)

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

    def revisit_all(self, now: float) -> None:
        query = "UPDATE urls SET due = %s, attempts = 0 WHERE state IN (3, 5) AND kind = 0"
        self._session.write(lambda db: db.execute(query, (now,)))

    def forget_due(self) -> None:
        self._session.write(lambda db: db.execute(beliefs.FORGET_DUE))

    def note(self, key: str, value: str) -> None:
        self._session.write(lambda db: db.execute(META, (key, value)))

    def noted(self, key: str) -> str:
        return self._find(key) or ""

    def rejudge(self, page: int, changes: list[tuple[int, Change]], parameters: bytes, noise: bytes) -> None:
        def work(db: Connection) -> None:
            for number, change in changes:
                db.execute(
                    """UPDATE versions SET kinds = %s, significance = %s, degree = %s, summary = %s, news = %s
                    WHERE number = %s""",
                    (*rows.judged(change), number),
                )
            db.execute("UPDATE pages SET parameters = %s, noise = %s WHERE id = %s", (parameters, noise, page))

        self._session.write(work)

    def rerank(self, ranks: Iterable[tuple[int, float]]) -> None:
        query = """UPDATE urls SET rank = v.rank FROM unnest(%b::int8[], %b::float8[]) AS v (id, rank)
            WHERE urls.id = v.id AND state = 1 AND kind = 0"""
        chosen = list(ranks)
        self._session.write(lambda db: _apply(db, query, chosen))

    def _learn(self, urls: list[NewUrl]) -> None:
        if self._known is not None:
            self._known.add((row.id, row.url) for row in urls)

    def _find(self, key: str) -> str | None:
        found = self._session.read("SELECT value FROM meta WHERE key = %s", key)
        return str(found[0][0]) if found else None

    def _get(self, key: str) -> str:
        value = self._find(key)
        if value is None:
            raise BadFolder(f"{self._session.place} is incomplete: it has no {key!r}")
        return value

    # ---- reading for the server

    def counts(self) -> Counts:
        return msgspec.json.decode(self._get("counts"), type=Counts)

    def seeds(self) -> list[str]:
        return msgspec.json.decode(self._get("seeds"), type=list[str])

    def homes(self) -> list[str]:
        return msgspec.json.decode(self._get("homes"), type=list[str])

    def depths(self) -> dict[int, int]:
        return {
            row[0]: row[1]
            for row in self._session.read("SELECT depth, count(*) FROM urls WHERE state = 1 GROUP BY depth")
        }

    def waiting(self) -> list[Waiting]:
        queued = {
            row[0]: row[1]
            for row in self._session.read("SELECT host, count(*) FROM urls WHERE state = 1 AND due = 0 GROUP BY host")
        }
        hosts = map(rows.host, self._session.read(f"SELECT {_HOST_COLUMNS} FROM hosts"))
        return [Waiting(host, queued[host.id]) for host in hosts if host.id in queued]

    def next_wake(self) -> float | None:
        due: float | None = self._session.read("SELECT min(due) FROM urls WHERE state = 1 AND due > 0")[0][0]
        return due

    def take(
        self, host: int, count: int, leased: Collection[int], above: float = -math.inf, below: float = math.inf
    ) -> list[Task]:
        # Leased URLs are still marked queued (a lease is not worth a write), so they come up again: skip them.
        best = self._session.read(
            """SELECT id, url, depth, attempts, hops, kind FROM urls WHERE state = 1 AND due = 0 AND host = %s
            AND rank >= %s AND rank < %s ORDER BY rank DESC, number LIMIT %s""",
            host, above, below, count + len(leased),
        )  # fmt: skip
        return list(islice((Task(*row) for row in best if row[0] not in leased), count))

    def due(self, after: float, until: float) -> list[tuple[int, int]]:
        query = f"SELECT host, count(*) FROM urls WHERE {_VISITED} AND due > %s AND due <= %s GROUP BY host"
        return [(row[0], row[1]) for row in self._session.read(query, after, until)]

    def next_due(self, after: float) -> float | None:
        due: float | None = self._session.read(f"SELECT min(due) FROM urls WHERE {_VISITED} AND due > %s", after)[0][0]
        return due

    def take_due(self, host: int, count: int, leased: Collection[int], now: float) -> list[Task]:
        first = self._session.read(
            f"""SELECT id, url, depth, attempts, hops, kind FROM urls WHERE {_VISITED} AND host = %s AND due <= %s
            ORDER BY due LIMIT %s""",
            host, now, count + len(leased),
        )  # fmt: skip
        return self._with_validators(list(islice((Task(*row) for row in first if row[0] not in leased), count)))

    def tasks(self, ids: list[int]) -> list[Task]:
        query = "SELECT id, url, depth, attempts, hops, kind FROM urls WHERE id = ANY(%b::int8[])"
        found = {row[0]: Task(*row) for row in self._session.read(query, ids)}
        return self._with_validators([found[id] for id in ids if id in found])

    def _with_validators(self, tasks: list[Task]) -> list[Task]:
        query = "SELECT id, status, etag, modified, digest FROM pages WHERE id = ANY(%b::int8[])"
        kept = {row[0]: rows.validators(*row[1:]) for row in self._session.read(query, [task.id for task in tasks])}
        return [rows.again(task, kept) for task in tasks]

    def seen(self, ids: list[int]) -> dict[int, Seen]:
        found = self._session.read(f"{beliefs.SEEN} = ANY(%b::int8[])", ids)
        return {row[0]: beliefs.seen(row) for row in found}

    def trust(self) -> dict[int, bytes]:
        return {row[0]: bytes(row[1]) for row in self._session.read("SELECT host, learned FROM trust")}

    def before(self, ids: list[int]) -> dict[int, Before]:
        query = """SELECT p.id, p.parameters, p.noise, u.state, p.status, w.name, p."offset", p.length FROM pages p
            JOIN urls u ON u.id = p.id LEFT JOIN warcs w ON w.number = p.warc WHERE p.id = ANY(%b::int8[])"""
        return {row[0]: rows.before(row[1:]) for row in self._session.read(query, ids)}

    def ranks(self, most: int) -> list[float]:
        found = self._session.read("SELECT rank FROM urls WHERE state = 1 AND due = 0 LIMIT %s", most + 1)
        if len(found) > most:
            # Ids are hashes, so neighbours by id have nothing else in common. Rows that are not queued are read too:
            # their number is bounded, and a queue that is such a small part of a crawl gets a smaller sample.
            sample = """SELECT rank FROM (SELECT rank, state, due FROM urls WHERE id >= %s ORDER BY id LIMIT %s) AS sample
                WHERE state = 1 AND due = 0 LIMIT %s"""
            start = random.getrandbits(63) - (1 << 63)  # the lower half, so that there are as many above it
            found = self._session.read(sample, start, most * 20, most) or found
        return [row[0] for row in found]

    def unknown(self, urls: Mapping[int, str]) -> list[int]:
        if self._known is None:
            self._known = KnownUrls((row[0], row[1]) for row in self._session.stream("SELECT id, url FROM urls"))
        return self._known.unknown(urls)

    def known(self, ids: list[int]) -> dict[int, tuple[str, int]]:
        found = self._session.read("SELECT id, url, state FROM urls WHERE id = ANY(%b::int8[])", ids)
        return {id: (url, state) for id, url, state in found}

    def host(self, id: int) -> Host | None:
        found = self._session.read(f"SELECT {_HOST_COLUMNS} FROM hosts WHERE id = %s", id)
        return rows.host(found[0]) if found else None

    def last_number(self) -> int:
        return int(self._session.read("SELECT coalesce(max(number), 0) FROM urls")[0][0])

    def judged(self, first: int, end: int) -> list[Judged]:
        found = self._session.read(f"{rows.JUDGED} AND number >= %s AND number < %s", first, end)
        return [*map(Judged._make, found)]

    def warcs(self) -> dict[str, int]:
        return {row[0]: row[1] for row in self._session.read("SELECT name, bytes FROM warcs")}

    # ---- reading the whole

    def url_facts(self) -> Iterator[UrlFacts]:
        yield from map(
            UrlFacts._make, self._session.stream("SELECT id, host, depth, state, rank, alias FROM urls ORDER BY id")
        )

    def url_texts(self) -> Iterator[tuple[int, str]]:
        yield from ((row[0], row[1]) for row in self._session.stream("SELECT id, url FROM urls ORDER BY id"))

    def visit_times(self) -> Iterator[tuple[int, float]]:
        yield from ((row[0], row[1]) for row in self._session.stream("SELECT id, fetched_at FROM pages ORDER BY id"))

    def packed_links(self) -> Iterator[tuple[int, bytes]]:
        yield from ((row[0], row[1]) for row in self._session.stream("SELECT page, targets FROM links ORDER BY page"))

    def subjects(self) -> Iterator[Subject]:
        yield from map(Subject._make, self._session.stream(beliefs.SUBJECTS))

    # ---- reading for people

    def select(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        return self._session.read(query.replace("?", "%s"), *values)

    def pages(self) -> Iterator[PageRow]:
        yield from map(rows.page, self._session.stream(rows.PAGES))

    def unanswered(self, state: State) -> Iterator[PageRow]:
        query = """SELECT url, depth, reason FROM urls u
            WHERE state = %s AND kind = 0 AND NOT EXISTS (SELECT 1 FROM pages WHERE id = u.id)"""
        for row in self._session.stream(query, int(state)):
            yield PageRow(url=row[0], state=state.name.lower(), depth=row[1], reason=row[2])

    def versions(self, page: int) -> list[VersionRow]:
        found = self._session.read(f"{rows.VERSIONS} WHERE v.page = %s ORDER BY v.number", page)
        return [*map(rows.version, found)]

    def with_history(self) -> Iterator[int]:
        yield from [row[0] for row in self._session.read("SELECT page FROM versions GROUP BY page HAVING count(*) > 1")]

    def changes(self, before: int | None = None) -> Iterator[VersionRow]:
        newest_first = f"{rows.VERSIONS} WHERE v.number < %s ORDER BY v.number DESC"
        yield from map(rows.version, self._session.stream(newest_first, (1 << 62) if before is None else before))

    def changes_after(self, number: int, most: int) -> list[VersionRow]:
        query = f"{rows.VERSIONS} WHERE v.number > %s ORDER BY v.number LIMIT %s"
        return [*map(rows.version, self._session.read(query, number, most))]

    def newest_version(self) -> int:
        return int(self._session.read("SELECT coalesce(max(number), 0) FROM versions")[0][0])

    def edges(self) -> Iterator[tuple[str, list[str]]]:
        for url, targets in self._session.stream("SELECT u.url, l.targets FROM links l JOIN urls u ON u.id = l.page"):
            ids = list(memoryview(targets).cast("q"))
            texts = self.known(ids)
            yield url, [texts[target][0] for target in ids if target in texts]

    def links_of(self, id: int) -> bytes:
        found = self._session.read("SELECT targets FROM links WHERE page = %s", id)
        return bytes(found[0][0]) if found else b""

    def linking(self, id: int) -> list[int]:
        names = [id, *(row[0] for row in self._session.read("SELECT id FROM urls WHERE alias = %s AND alias <> 0", id))]
        found: set[int] = set()
        for name in names:
            # One look through all packed links, in C. It also finds the eight bytes across two ids: look again.
            packed = name.to_bytes(8, "little", signed=True)
            near = self._session.read(
                "SELECT page, targets FROM links WHERE position(%b::bytea IN targets) > 0", packed
            )
            found.update(page for page, targets in near if name in memoryview(targets).cast("q"))
        return sorted(found)

    # ---- one page, several names; and what is held back

    def rework(self, changes: list[Reworked], urls: list[NewUrl], hosts: list[Host], counts: Counts) -> None:
        def work(db: Connection) -> None:
            _apply(db, _HOSTS, map(rows.host_row, hosts))
            _copy(db, urls)
            _apply(db, _REWORK, [(each.id, int(each.state), each.reason, each.alias) for each in changes])
            _put_counts(db, counts)

        self._session.write(work)
        self._learn(urls)

    def page_facts(self, ids: list[int]) -> dict[int, PageFacts]:
        query = """SELECT u.id, u.state, u.alias, coalesce(p.status, 0), coalesce(p.text_digest, ''),
            coalesce(p.simhash, 0) FROM urls u LEFT JOIN pages p ON p.id = u.id WHERE u.id = ANY(%b::int8[])"""
        return {
            row[0]: PageFacts(row[1], row[2], row[3], bytes(row[4]), row[5]) for row in self._session.read(query, ids)
        }

    def claims(self, ids: list[int]) -> list[tuple[int, int]]:
        query = "SELECT id, canonical FROM pages WHERE canonical <> 0 AND canonical = ANY(%b::int8[])"
        return [(row[0], row[1]) for row in self._session.read(query, ids)]

    def held(self, host: int, reason: str, most: int) -> list[tuple[int, int]]:
        query = "SELECT id, depth FROM urls WHERE state = 0 AND host = %s AND reason = %s ORDER BY number LIMIT %s"
        return [(row[0], row[1]) for row in self._session.read(query, host, reason, most)]

    def all_held(self, most: int) -> list[tuple[int, int, int, str]]:
        query = "SELECT id, host, depth, reason FROM urls WHERE state = 0 LIMIT %s"
        return [(row[0], row[1], row[2], row[3]) for row in self._session.read(query, most)]

    def merged(self, host: int, reason: str, most: int) -> list[tuple[int, int]]:
        query = "SELECT id, depth FROM urls WHERE alias <> 0 AND state = 6 AND host = %s AND reason = %s LIMIT %s"
        return [(row[0], row[1]) for row in self._session.read(query, host, reason, most)]

    def hosts(self) -> Iterator[Host]:
        yield from map(rows.host, self._session.stream(f"SELECT {_HOST_COLUMNS} FROM hosts ORDER BY origin"))

    def host_states(self) -> dict[int, dict[int, int]]:
        found: dict[int, dict[int, int]] = {}
        for row in self._session.read("SELECT host, state, count(*) FROM urls WHERE kind = 0 GROUP BY host, state"):
            found.setdefault(row[0], {})[row[1]] = row[2]
        return found

    def simhashes(self) -> Iterator[tuple[int, int, float]]:
        query = "SELECT id, simhash, fetched_at FROM pages WHERE simhash <> 0"
        yield from ((row[0], row[1], row[2]) for row in self._session.stream(query))


def _apply(
    db: Connection, query: str, lines: Iterable[tuple[Any, ...]], distinct: bool = True
) -> list[tuple[Any, ...]]:
    """Runs a statement over rows as arrays, one for each column; rows with one key go one after the other."""
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


def _put_counts(db: Connection, counts: Counts) -> None:
    db.execute(META, ("counts", msgspec.json.encode(counts).decode()))
