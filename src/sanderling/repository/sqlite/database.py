"""The file itself: opening it, bringing it up to date, and what all parts of the store need of
it."""

import contextlib
import resource
import shutil
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from sanderling.errors import BadFolder, Damaged, DiskFails, DiskFull
from sanderling.model import Counts
from sanderling.repository import archives, migrations
from sanderling.repository.disk import FULL
from sanderling.repository.known_file import MARK, KnownFile
from sanderling.repository.shared_queries import SharedQueries
from sanderling.repository.sqlite.identities import Finder, Identities, Numbers
from sanderling.repository.store import Joins

STEPS = migrations.steps("sqlite")
SCHEMA = len(STEPS)

JOINS = Joins(
    urls="urls u LEFT JOIN pages p ON p.number = u.page",
    # Said both ways round, so that it can be followed from either end.
    versions="""versions v JOIN pages p ON p.number = v.page JOIN urls u ON u.number = p.url AND u.page = p.number
    JOIN warcs w ON w.number = v.warc""",
    links="links l JOIN pages p ON p.number = l.page JOIN urls u ON u.number = p.url",
    failures="failures f JOIN urls u ON u.number = f.url",
)

# Pages a log may have before it is worked into the file, and the memory for pages, of a writer and
# of a reader. A page that changes several times meanwhile is copied once: with 4,000 pages new URLs
# cost a third more. The log is not larger than the data, or 4 MB, either.
CHECKPOINT_PAGES = 32_000
FEWEST_CHECKPOINT_PAGES = 1_000
PAGE = 4096  # bytes
CACHE_KIB = 131_072
READER_CACHE_KIB = 16_384

# Bytes: with less, a disk counts as full.
_ROOM = 1 << 20
_META = "INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"


def _connected(path: Path, how: str) -> sqlite3.Connection:
    return sqlite3.connect(path.absolute().as_uri() + how, uri=True, isolation_level=None, check_same_thread=False)


def _needs_no_log(db: sqlite3.Connection, path: Path) -> bool:
    """Whether a file that was closed well cannot be read for want of a place for its log: on a
    disk that is full, or that may not be written. Then there is no writer, and it can be read
    as it is."""
    try:
        db.execute("SELECT count(*) FROM sqlite_master")
    except sqlite3.OperationalError as error:
        log = path.with_name(path.name + "-wal")
        no_place = error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR)
        return no_place and not (log.exists() and log.stat().st_size)
    return False


def _cannot_write(error: sqlite3.DatabaseError, path: Path) -> DiskFull | None:
    """What is said of a disk that is full or fails; None for other errors."""
    if "full" in str(error):
        return DiskFull(FULL)
    if "disk I/O" not in str(error):
        return None
    if resource.getrlimit(resource.RLIMIT_FSIZE)[0] != resource.RLIM_INFINITY:  # a file may not grow
        return DiskFull(FULL)
    with contextlib.suppress(OSError):
        if shutil.disk_usage(path.parent).free < _ROOM:  # a log without room is an I/O error, too
            return DiskFull(FULL)
    return DiskFails(f"{path} cannot be written or read ({error}): nothing committed is lost; look after the disk")


def insert(table: str, columns: Iterable[str]) -> str:
    names = list(columns)
    return f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"


class SqliteDatabase(SharedQueries):
    """One connection to the file."""

    joins: ClassVar[Joins] = JOINS

    def __init__(self, path: Path, readonly: bool = False) -> None:
        self._path = path
        self._closed = False
        self.messages: list[str] = []
        if readonly and not path.exists():
            lost = archives.rebuilt_by(path.parent)
            raise BadFolder(f"{path} does not exist; {lost or 'nothing has been crawled into this folder yet'}")
        with contextlib.ExitStack() as undo:
            try:
                self._db = _connected(path, "?mode=ro" if readonly else "")
                undo.callback(lambda: self._db.close())
                self._prepare(path, readonly)
                self._check_schema(readonly)
                self._identities: Numbers = (
                    Finder(self._db) if readonly else Identities(self._db, KnownFile(path.with_suffix(".known")))
                )
            except sqlite3.DatabaseError as error:
                if not readonly and (trouble := _cannot_write(error, path)) is not None:
                    raise trouble from None
                lost = archives.rebuilt_by(path.parent)
                hint = f"; restore it from a backup, or move it away: then {lost}" if lost else ""
                raise Damaged(f"{path} cannot be read: {error}{hint}") from None
            undo.pop_all()

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._db.close()

    def _prepare(self, path: Path, readonly: bool) -> None:
        if not readonly:
            self._db.execute("PRAGMA journal_mode = WAL")
        elif _needs_no_log(self._db, path):
            self._db.close()
            self._db = _connected(path, "?mode=ro&immutable=1")
        # NORMAL: a power cut may lose the last commits, never the file; the pages in them are
        # fetched again, and their WARC bytes, which were synced first, are cut off on resume. A
        # killed process loses nothing.
        self._db.execute("PRAGMA synchronous = NORMAL")
        self._db.execute(f"PRAGMA cache_size = -{READER_CACHE_KIB if readonly else CACHE_KIB}")
        self._db.execute("PRAGMA temp_store = MEMORY")
        self._db.execute("PRAGMA busy_timeout = 10000")
        self._db.execute(f"PRAGMA journal_size_limit = {CHECKPOINT_PAGES * PAGE}")
        if not readonly:
            self._bound_log()

    def _bound_log(self) -> None:
        """To be called now and then, while the file grows."""
        pages = self._db.execute("PRAGMA page_count").fetchone()[0]
        most = min(max(pages, FEWEST_CHECKPOINT_PAGES), CHECKPOINT_PAGES)
        self._db.execute(f"PRAGMA wal_autocheckpoint = {most}")

    # ---- the schema

    def _check_schema(self, readonly: bool) -> None:
        """Makes a new store, and brings an old one up to date when it may be written."""
        if not self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            if readonly:
                raise BadFolder(f"{self._path} is empty; nothing has been crawled into this folder yet")
            with Transaction(self._db, self._path):
                self._climb(0)
                for key, value in (
                    ("counts", msgspec.json.encode(Counts()).decode()),
                    ("seeds", "[]"),
                    ("homes", "[]"),
                ):
                    self._set(key, value)
            return
        found = int(self._get("schema"))
        if found > SCHEMA:
            raise BadFolder(f"{self._path} was written by a newer Sanderling (schema {found}, this one knows {SCHEMA})")
        if found < SCHEMA:
            if readonly:
                raise BadFolder(
                    f"{self._path} was written by an older Sanderling (schema {found}, this one reads {SCHEMA}): "
                    f"`sanderling crawl -d {self._path.parent}` brings it up to date, after a backup"
                )
            self._upgrade(found)

    def _upgrade(self, found: int) -> None:
        backup = self._path.with_name(f"{self._path.name}.schema-{found}.backup")
        part = backup.with_name(backup.name + ".part")
        part.unlink(missing_ok=True)
        with contextlib.closing(sqlite3.connect(part)) as copy:
            self._db.backup(copy)
        part.replace(backup)
        with Transaction(self._db, self._path):
            self._climb(found)
        self.messages.append(f"brought {self._path} from schema {found} to {SCHEMA}; as it was, it is in {backup}")

    def _climb(self, found: int) -> None:
        """Takes the steps that are missing, inside a transaction."""
        for step in STEPS[found:]:
            for statement in _statements(step.sql):
                self._db.execute(statement)
            if step.then is not None:
                step.then(self.select)
        self._set("schema", str(SCHEMA))
        self._db.execute("DELETE FROM meta WHERE key = ?", (MARK,))  # a step may have given the URLs other numbers

    # ---- what all parts need

    def _set(self, key: str, value: str) -> None:
        self._db.execute(_META, (key, value))

    def _get(self, key: str) -> str:
        if not (value := self.noted(key)):
            raise Damaged(f"{self._path} is incomplete: it has no {key!r}")
        return value

    def select(self, query: str, *values: object) -> list[Any]:
        return self._db.execute(query, values).fetchall()

    def _each(self, query: str, *values: object) -> Iterator[Any]:
        return self._db.execute(query, values)

    def _by_ids(self, query: str, ids: Iterable[int]) -> Iterator[tuple[Any, ...]]:
        """The rows of URLs that are known; the query ends in a list of `urls.number`."""
        return self._in(query, sorted(self._identities.numbers(ids).values()))

    def _in(self, query: str, numbers: list[int]) -> Iterator[tuple[Any, ...]]:
        for start in range(0, len(numbers), 512):
            part = numbers[start : start + 512]
            # Few lengths, so that the statement is prepared already: the last one is asked for
            # several times.
            part += part[-1:] * ((8 if len(part) <= 8 else 64 if len(part) <= 64 else 512) - len(part))
            yield from self._db.execute(f"{query} ({','.join('?' * len(part))})", part)

    def number(self, id: int) -> int | None:
        return self._identities.numbers([id]).get(id)

    def known(self, ids: list[int]) -> dict[int, tuple[str, int]]:
        found = self._by_ids("SELECT id, url, state FROM urls WHERE number IN", ids)
        return {id: (url, state) for id, url, state in found}


class Transaction:
    """BEGIN IMMEDIATE ... COMMIT, rolled back on any error; a disk that is full or fails becomes a
    sentence."""

    def __init__(self, db: sqlite3.Connection, path: Path) -> None:
        self._db, self._path = db, path

    def __enter__(self) -> None:
        self._db.execute("BEGIN IMMEDIATE")

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        try:
            self._db.execute("ROLLBACK" if error else "COMMIT")
        except sqlite3.OperationalError as failure:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            error = error or failure
        if isinstance(error, sqlite3.OperationalError):
            if (trouble := _cannot_write(error, self._path)) is not None:
                raise trouble from error
            raise error


def _statements(script: str) -> Iterator[str]:
    """The statements of a script one by one: the driver's own way to run a script ends our
    transaction."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
