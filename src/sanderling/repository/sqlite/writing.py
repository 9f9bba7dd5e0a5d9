"""What changes the state: every method is one transaction."""

import contextlib
import json
from collections.abc import Iterable, Iterator
from operator import itemgetter
from pathlib import Path

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
from sanderling.repository.sqlite.database import SqliteDatabase, Transaction, insert
from sanderling.repository.sqlite.identities import Identities

# The size of the file is checked every so often, after this many commits.
COMMITS_A_LOOK = 32
# A file with a larger share of free pages is written again when its owner has time for it.
MUCH_FREE = 0.25

_SETTLE = """UPDATE urls SET state = ?, attempts = ?, due = ?, reason = ?, page = iif(page, page, ?)
    WHERE number = ?"""
_INSERT_PAGE = f"""{insert("pages", ("number", "url", *rows.PAGE_COLUMNS[1:]))}
    ON CONFLICT (number) DO UPDATE SET visits = visits + 1"""
_PAGE = f"""{_INSERT_PAGE}, changes = changes + excluded.changes,
    changed_at = iif(excluded.changes, excluded.changed_at, changed_at),
    {", ".join(f"{name} = excluded.{name}" for name in rows.RENEWED)},
    {rows.RENEWED_FLAGS.format(pages="pages")}"""
_ANSWER = f"{_INSERT_PAGE}, {', '.join(f'{name} = excluded.{name}' for name in rows.TOUCHED)}"
_UNCHANGED = """UPDATE pages SET visits = visits + 1, status = iif(status BETWEEN 200 AND 299, status, 200), fetched_at = ?,
    not_modified = not_modified + ?, same = same + ?,
    etag = coalesce(nullif(?, ''), etag), modified = coalesce(nullif(?, ''), modified), noise = coalesce(nullif(?, x''), noise)
    WHERE number = ?"""
_VERSION = insert("versions", rows.VERSION_COLUMNS)
_FAILURE = rows.FAILURE.format("?", key="number")
_LINKS = "INSERT OR REPLACE INTO links VALUES (?, ?)"
_HOST = f"""{insert("hosts", rows.HOST_COLUMNS)} ON CONFLICT (id) DO UPDATE SET robots = excluded.robots,
    not_before = excluded.not_before, interval = excluded.interval, learned = excluded.learned,
    rendering = excluded.rendering"""
_MARK, _MARKED = rows.MARK.format("?"), rows.MARKED.format("?", "number")
_RESTORE_VERSIONS = rows.RESTORE_VERSIONS.format("?", key="number")
_RESTORE_PAGE = rows.RESTORE_PAGE.format("?", key="number")
_REWORK = "UPDATE urls SET state = ?, due = 0, attempts = 0, reason = ?, alias = ? WHERE number = ?"


class SqliteWriting(SqliteDatabase):
    """The writing half of a store."""

    _identities: Identities  # unless it is opened for reading

    def __init__(self, path: Path, readonly: bool = False) -> None:
        super().__init__(path, readonly)
        self._warc_numbers: dict[str, int] = {}
        self._commits = 0

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        try:
            with Transaction(self._db, self._path):
                yield
        except BaseException:
            self._identities.forget()
            raise

    def commit(self, commit: Commit) -> bool:
        db = self._db
        with self._transaction():
            row = db.execute("SELECT number FROM reports WHERE client = ?", (commit.client,)).fetchone()
            if row and row[0] >= commit.number:
                return False
            db.execute("INSERT OR REPLACE INTO reports VALUES (?, ?)", (commit.client, commit.number))
            self._put_hosts(commit.hosts)
            self._identities.append(commit.urls)
            warcs = self._warc_numbers | {name: self._put_warc(name, size) for name, size in commit.warcs.items()}
            self._put_visits(commit, warcs)
            self._put_marks(commit)
            numbers = self._identities.numbers({*(id for id, _ in commit.aliases), *(id for id, _ in commit.dated)})
            db.executemany(
                "UPDATE urls SET alias = ? WHERE number = ?",
                [(alias, numbers[id]) for id, alias in commit.aliases if id in numbers],
            )
            db.executemany(
                "UPDATE urls SET modified = ? WHERE number = ?",
                [(modified, numbers[id]) for id, modified in commit.dated if id in numbers],
            )
            if commit.off_topic:
                nearer = self._identities.numbers(commit.off_topic)
                db.executemany(
                    "UPDATE urls SET off_topic = ?, rank = coalesce(?, rank) WHERE number = ?",
                    [(*commit.off_topic[id], number) for id, number in nearer.items()],
                )
            if commit.requisites:
                found = self._identities.numbers(commit.requisites).values()
                db.executemany(rows.REQUISITE.format("number = ?"), [(number,) for number in sorted(found)])
            self._put_beliefs(commit)
            if commit.forms is not None:
                self._put_forms(commit.forms)
            self._put_counts(commit.counts)
            for key, value in commit.notes.items():
                self._set(key, value)
            if commit.homes is not None:
                self._set("homes", json.dumps(commit.homes))
        self._warc_numbers = warcs
        self._commits += 1
        if self._commits % COMMITS_A_LOOK == 0:
            self._bound_log()
        return True

    def _put_visits(self, commit: Commit, warcs: dict[str, int]) -> None:
        """The rows of what was visited, each page at its place: where it was, or at the end."""
        db = self._db
        numbers = self._identities.numbers({*(s.id for s in commit.settled), *(v.id for v in commit.visits)})
        query = "SELECT id, page FROM urls WHERE page != 0 AND number IN"
        places: dict[int, int] = dict(self._in(query, sorted(numbers.values())))
        answered = rows.answered(commit)
        last = db.execute("SELECT coalesce(max(number), 0) FROM pages").fetchone()[0]
        new = dict.fromkeys(v.id for v in answered if v.id not in places)
        places.update((id, place) for place, id in enumerate(new, last + 1))
        failed = [(at, reason, numbers[id]) for id, at, reason in rows.failures(commit) if id in numbers]
        db.executemany(_FAILURE, failed)
        self._settle(commit.settled, numbers, places)
        for is_page, statement in ((True, _PAGE), (False, _ANSWER)):
            some = [v for v in answered if (v.outcome is Outcome.PAGE) is is_page]
            db.executemany(
                statement,
                [(places[v.id], numbers[v.id], *rows.page_row(v, warcs, commit)[1:]) for v in some],
            )
        db.executemany(_UNCHANGED, [(*facts, places.get(id)) for id, *facts in rows.unchanged(commit)])
        for v in commit.restored:
            place = rows.restored(v, warcs)
            db.execute(_RESTORE_VERSIONS, (*place, places[v.id], v.digest))
            db.execute(_RESTORE_PAGE, (v.digest, *place, places[v.id]))
        versions = rows.version_rows(answered, warcs, commit)
        db.executemany(_VERSION, [(places[id], *facts) for id, *facts in versions])
        db.executemany(_LINKS, [(places[v.id], v.links) for v in answered if v.links])
        self._put_image_pages(image_pages.looked_at(commit), places)

    def _put_image_pages(self, visits: list[Visit], places: dict[int, int]) -> None:
        if not visits:
            return
        numbers = self._identities.numbers(image_pages.images_of(visits))
        now = [(numbers[id], places[v.id]) for v in visits for id in image_pages.unpacked(v.images) if id in numbers]
        kept = [*self._in("SELECT image, page FROM shown WHERE page IN", sorted({places[v.id] for v in visits}))]
        images = sorted({image for image, _ in [*kept, *now]})
        changes = image_pages.image_page_changes(
            kept, self._in("SELECT image, page FROM shown WHERE image IN", images), now
        )
        self._db.executemany("DELETE FROM shown WHERE image = ? AND page = ?", changes.removed)
        self._db.executemany("INSERT INTO shown VALUES (?, ?)", changes.added)

    def _put_marks(self, commit: Commit) -> None:
        if not commit.marked:
            return
        query = "SELECT id, page FROM urls WHERE page != 0 AND number IN"
        places = dict(self._by_ids(query, [each.id for each in commit.marked]))
        for id, at, change in commit.marked:
            if id in places:
                self._db.execute(_MARK, (at, *rows.judged(change), places[id]))
                if not change.kinds.of_site:
                    self._db.execute(_MARKED, (at, places[id]))

    def _put_beliefs(self, commit: Commit) -> None:
        numbers = self._identities.numbers(id for id, *_ in commit.beliefs)
        found = [(numbers[id], *facts) for id, *facts in commit.beliefs if id in numbers]
        self._db.executemany(beliefs.SQLITE_WRITE, sorted(found))
        self._db.executemany(beliefs.SQLITE_TRUST, commit.trust)

    def put_forms(self, changes: FormChanges) -> None:
        with self._transaction():
            self._put_forms(changes)

    def _put_forms(self, changes: FormChanges) -> None:
        self._db.executemany(form_rows.SQLITE_FORM, form_rows.form_rows(changes))
        self._db.executemany(form_rows.SQLITE_LEARNED, form_rows.learned_rows(changes))
        self._db.executemany(form_rows.SQLITE_SUBMISSION, form_rows.submission_rows(changes))

    def _settle(self, settled: list[Settled], numbers: dict[int, int], places: dict[int, int]) -> None:
        found = [
            (int(s.state), s.attempts, s.due, s.reason, places.get(s.id, 0), numbers[s.id])
            for s in settled
            if s.id in numbers
        ]
        self._db.executemany(_SETTLE, sorted(found, key=itemgetter(-1)))

    def seed(self, seeds: list[str], urls: list[NewUrl], hosts: list[Host], counts: Counts) -> None:
        with self._transaction():
            self._set("seeds", json.dumps(seeds))
            self._put_hosts(hosts)
            self._identities.append(urls)
            self._put_counts(counts)

    def put_depth(self, ids: list[int], depth: int) -> None:
        with self._transaction():
            numbers = sorted(self._identities.numbers(ids).values())
            self._db.executemany("UPDATE urls SET depth = ? WHERE number = ?", [(depth, each) for each in numbers])

    def rework(self, changes: list[Reworked], urls: list[NewUrl], hosts: list[Host], counts: Counts) -> None:
        with self._transaction():
            self._rework(changes, urls, hosts, counts)

    def _rework(self, changes: list[Reworked], urls: list[NewUrl], hosts: list[Host], counts: Counts) -> None:
        self._put_hosts(hosts)
        self._identities.append(urls)
        numbers = self._identities.numbers(each.id for each in changes)
        found = [(int(state), reason, alias, numbers[id]) for id, state, reason, alias in changes if id in numbers]
        self._db.executemany(_REWORK, found)
        self._put_counts(counts)

    def take_hints(self, commit: HintCommit) -> None:
        with self._transaction():
            self._rework(commit.reworked, commit.urls, commit.hosts, commit.counts)
            numbers = self._identities.numbers(id for id, _ in commit.named)
            found = sorted((numbers[id], at) for id, at in commit.named if id in numbers)
            self._db.executemany(beliefs.SQLITE_TOLD.format(source=commit.source), found)
            self._db.executemany(beliefs.SQLITE_TRUST, commit.trust)
            for key, value in commit.notes.items():
                self._set(key, value)

    def set_aside(self, id: int, reason: str, counts: Counts) -> None:
        with self._transaction():
            self._settle([Settled(id, State.FAILED, 0, 0.0, reason)], self._identities.numbers([id]), {})
            self._put_counts(counts)

    def wake(self, now: float) -> list[tuple[int, int]]:
        due = "state = 1 AND due > 0 AND due <= ?"
        with self._transaction():
            woken = self._db.execute(f"SELECT host, count(*) FROM urls WHERE {due} GROUP BY host", (now,)).fetchall()
            self._db.execute(f"UPDATE urls SET due = 0 WHERE {due}", (now,))
        return woken

    def retry_failed(self, counts: Counts) -> None:
        with self._transaction():
            self._db.execute(rows.RETRY_FAILED)
            self._put_counts(counts)

    def revisit_all(self, now: float, sitemaps: bool) -> None:
        with self._transaction():
            self._db.execute("UPDATE urls SET due = ?, attempts = 0 WHERE state IN (3, 5) AND kind IN (0, 3)", (now,))
            if sitemaps:
                self._db.execute("UPDATE urls SET due = ?, attempts = 0 WHERE state = 3 AND kind IN (1, 2)", (now,))

    def bring_forward(self, now: float, later_than: float, visited: bool) -> None:
        with self._transaction():
            self._db.execute(beliefs.BRING_FORWARD[visited].format(value="?"), (now, later_than))

    def forget_due(self) -> None:
        with self._transaction():
            self._db.execute(beliefs.FORGET_DUE)

    def make_due(self, ids: list[int]) -> None:
        with self._transaction():
            numbers = sorted(self._identities.numbers(ids).values())
            self._db.executemany(
                "UPDATE urls SET due = ?, attempts = 0 WHERE number = ? AND state IN (3, 5)",
                [(DUE_AT_ONCE, number) for number in numbers],
            )

    def rerank(self, ranks: Iterable[tuple[int, float]]) -> None:
        chosen = dict(ranks)
        with self._transaction():
            urls = sorted((number, id) for id, number in self._identities.numbers(chosen).items())
            self._db.executemany(
                "UPDATE urls SET rank = ? WHERE number = ? AND state = 1 AND kind = 0",
                [(chosen[id], number) for number, id in urls],
            )

    def weigh(self, importances: Iterable[tuple[int, float]]) -> None:
        chosen = dict(importances)
        query = "SELECT page, id FROM urls WHERE page != 0 AND number IN"
        pages = self._by_ids(query, chosen)
        with self._transaction():
            self._db.executemany(
                "UPDATE pages SET importance = ? WHERE number = ?", [(chosen[id], page) for page, id in sorted(pages)]
            )

    def distrust(self, lost: Iterable[Lost]) -> int:
        query = rows.DISTRUST.format("?", empty="x''", key="number")
        with self._transaction():
            return len({row for name, start, end in lost for row in self._db.execute(query, (name, end, start))})

    def distrusted(self, lost: Lost) -> int:
        name, start, end = lost
        query = rows.DISTRUSTED.format("?", empty="x''")
        return int(self._db.execute(query, (name, end, start)).fetchone()[0])

    def note(self, key: str, value: str) -> None:
        with self._transaction():
            self._set(key, value)

    def rejudge(self, page: int, changes: list[tuple[int, Change]], fingerprint: bytes, noise: bytes) -> None:
        with self._transaction():
            self._db.executemany(
                "UPDATE versions SET kinds = ?, significance = ?, degree = ?, summary = ?, news = ?, excerpt = ? WHERE number = ?",
                [(*rows.judged(change), number) for number, change in changes],
            )
            self._db.execute(
                "UPDATE pages SET fingerprint = ?, noise = ? WHERE number = (SELECT page FROM urls WHERE number = ?)",
                (fingerprint, noise, self.number(page)),
            )

    def judge_anew(self, judged: Rejudged) -> None:
        with self._transaction():
            self._db.executemany(
                "UPDATE pages SET relevance = ? WHERE number = (SELECT page FROM versions WHERE number = ?)",
                [(relevance, number) for number, relevance in judged.pages],
            )
            self._db.executemany(
                """UPDATE pages SET etag = '', modified = ''
                WHERE number = (SELECT page FROM versions WHERE number = ?) AND flags & 1 = 1""",
                [(number,) for number, relevance in judged.pages if relevance >= judged.relatedness],
            )
            self._db.executemany(
                "UPDATE urls SET relevance = ? WHERE number = ?", [(each, number) for number, each in judged.links]
            )
            numbers = self._identities.numbers(id for id, _ in judged.off_topic)
            self._db.executemany(
                "UPDATE urls SET off_topic = ? WHERE number = ?",
                [(count, numbers[id]) for id, count in judged.off_topic if id in numbers],
            )
            for key, value in judged.notes.items():
                self._set(key, value)

    def put_extracted(self, data: list[tuple[int, str | None]]) -> None:
        with self._transaction():
            self._db.executemany("UPDATE versions SET extracted = ? WHERE number = ?", [(e, n) for n, e in data])

    def prune(self, pruned: Pruned) -> None:
        db = self._db
        db.execute("PRAGMA synchronous = FULL")  # the old archives are deleted after it
        try:
            with self._transaction():
                numbers = dict(db.execute("SELECT name, number FROM warcs"))
                db.executemany("DELETE FROM versions WHERE number = ?", [(each,) for each in pruned.versions])
                if pruned.archive:
                    new = self._put_warc(pruned.archive, pruned.size)
                    db.execute(rows.MOVED)
                    moved = [(numbers[name], offset, stored.offset) for name, offset, stored in pruned.moved]
                    db.executemany("INSERT INTO moved VALUES (?, ?, ?)", moved)
                    for table in ("versions", "pages"):
                        db.execute(rows.MOVE.format(table=table, value="?"), (new,))
                    db.execute("DROP TABLE moved")
                db.executemany("DELETE FROM warcs WHERE name = ?", [(each,) for each in pruned.replaced])
                counts = self.counts()
                counts.versions = max(0, counts.versions - len(pruned.versions))
                self._put_counts(counts)
                for key, value in pruned.notes.items():
                    self._set(key, value)
        finally:
            db.execute("PRAGMA synchronous = NORMAL")
        self._warc_numbers = {}

    def compact(self) -> None:
        free, pages = (self.select(f"PRAGMA {each}")[0][0] for each in ("freelist_count", "page_count"))
        if free > pages * MUCH_FREE:
            self._db.execute("VACUUM")

    def _put_hosts(self, hosts: list[Host]) -> None:
        self._db.executemany(_HOST, map(rows.host_row, hosts))

    def _put_warc(self, name: str, size: int) -> int:
        row = self._db.execute(
            """INSERT INTO warcs (name, bytes) VALUES (?, ?)
            ON CONFLICT (name) DO UPDATE SET bytes = max(bytes, excluded.bytes) RETURNING number""",
            (name, size),
        ).fetchone()
        return int(row[0])

    def _put_counts(self, counts: Counts) -> None:
        self._set("counts", msgspec.json.encode(counts).decode())
