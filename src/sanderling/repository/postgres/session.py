"""A connection to PostgreSQL that outlives the connection: it writes exactly once and comes back by
itself.

The writer holds an advisory lock on the crawl's namespace: when a server was killed, the next one
waits until the database has noticed, so that nothing is committed behind its back.

Every write carries a token in the same transaction: when the connection breaks in a COMMIT, the
token tells afterwards whether it took place, and only otherwise is it done again. When a database
comes back with another token than the last one, it was restored from a backup or written by
somebody else: the crawl must not go on with what it remembers.
"""

import contextlib
import re
import secrets
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import msgspec
import psycopg
from psycopg import errors, sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from sanderling.errors import BadFolder, BadSetting, DiskFull, FolderInUse, RunFailed, StoreAway, StoreLost
from sanderling.repository import address
from sanderling.repository.ownership import OWNER, Owner, other_owner
from sanderling.repository.store import WhileAway
from sanderling.urls import identity

# How long a new server waits for the database to notice that the last one was killed.
LOCK_PATIENCE = 10.0
# A machine that vanished without a word is noticed after about a minute.
_CONNECTION = {
    "connect_timeout": "10", "keepalives_idle": "30", "keepalives_interval": "10", "keepalives_count": "3",
    "tcp_user_timeout": "60000", "application_name": "sanderling",
}  # fmt: skip

# Databases that nearly every server has. They tell whether another one was dropped.
_OTHERS = ("postgres", "template1")

# What a server says to a new connection that it takes a little later: at its limit of connections,
# while it starts, and while it stops. Connections that failed have no code that could be compared.
_NOT_NOW = re.compile(
    "too many (?:clients|connections)|connection slots are reserved|"
    "database system is (?:starting up|shutting down|in recovery)|not yet accepting connections"
)

META = "INSERT INTO meta VALUES (%s, %s) ON CONFLICT (key) DO UPDATE SET value = excluded.value"

_WRITTEN = "written"  # the key of the token of the last write

Connection = psycopg.Connection[tuple[Any, ...]]
T = TypeVar("T")


class Session:
    """Reads and writes in one namespace of a database."""

    def __init__(self, dsn: str, readonly: bool, while_away: WhileAway | None, owner: Owner | None = None) -> None:
        """`owner` is the folder that the namespace belongs to, or is to belong to."""
        self._dsn = dsn
        self._readable_dsn = address.without_password(dsn)
        self._readonly = readonly
        self._while_away = while_away
        self.namespace = address.namespace(dsn)
        if not self.namespace:
            raise BadSetting(
                f"the address of the store, {self._readable_dsn}, does not say which namespace the crawl is in"
            )
        self.place = f"{self._readable_dsn}, namespace {self.namespace}"
        self._owner = owner
        self._written: str | None = None  # the token of the last write
        self._begun = False  # the tables are there
        self._db = self._open_when_ready()
        self._database = self._db.info.dbname

    def close(self) -> None:
        self._db.close()

    def begin(self) -> None:
        """The tables are there: takes the namespace for its owner. From now on they are expected to
        stay."""
        if self._owner is not None:
            kept, mine = self._kept(OWNER), msgspec.json.encode(self._owner).decode()
            self._check_owner(kept)  # somebody may have come first
            if kept != mine:
                self.write(lambda db: db.execute(META, (OWNER, mine)))
        self._written = self._kept(_WRITTEN)
        self._begun = True

    def write(self, work: Callable[[Connection], T]) -> T:
        """Does `work` in one transaction, exactly once, however often the connection breaks."""
        token = secrets.token_hex(8)
        tried: tuple[T] | None = None
        while True:
            try:
                if not tried or self._noted(self._db, _WRITTEN) != token:
                    self._db.execute("BEGIN")
                    tried = (work(self._db),)
                    self._db.execute(META, (_WRITTEN, token))
                    self._db.execute("COMMIT")
                self._written = token
                return tried[0]
            except psycopg.Error as error:
                self._recover(error, token)
            except BaseException:
                self._roll_back()
                raise

    def read(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        while True:
            try:
                return self._db.execute(query, values or None, binary=True).fetchall()
            except psycopg.Error as error:
                self._recover(error)

    def stream(self, query: str, *values: object) -> Iterator[tuple[Any, ...]]:
        """Rows of a large answer, on a connection of their own: the server may write meanwhile."""
        with self._connect() as db, db.transaction(), db.cursor("rows", binary=True) as cursor:
            cursor.itersize = 5000
            try:
                cursor.execute(query, values or None)
                yield from cursor
            except psycopg.OperationalError as error:
                raise StoreAway(f"the database at {self._readable_dsn} went away: {reason(error)}") from None
            except psycopg.Error:
                if self._dropped():
                    raise StoreLost(self._was_dropped(f"namespace {self.namespace}")) from None
                raise

    def _kept(self, key: str) -> str | None:
        found = self.read("SELECT value FROM meta WHERE key = %s", key)
        return found[0][0] if found else None

    def _noted(self, db: Connection, key: str) -> str | None:
        row = db.execute("SELECT value FROM meta WHERE key = %s", (key,)).fetchone()
        return row[0] if row else None

    def _check_owner(self, kept: str | None) -> None:
        other = other_owner(kept or "", self._owner) if self._owner is not None else None
        if other is not None:
            raise BadFolder(f"{self.place} belongs to {other}: give this one a namespace of its own")

    def _connect(self) -> Connection:
        wanted = {} if self._readonly else {"target_session_attrs": "read-write"}
        try:
            db = self._connected(**wanted)
            db.execute(sql.SQL("SET search_path TO {}").format(sql.Identifier(self.namespace)))
            if self._readonly:
                db.execute("SET default_transaction_read_only = on")
        except psycopg.OperationalError as error:
            raise StoreAway(f"the database at {self._readable_dsn} cannot be reached: {reason(error)}") from None
        return db

    def _connected(self, **more: str) -> Connection:
        try:
            given = conninfo_to_dict(self._dsn)
        except psycopg.ProgrammingError as error:
            raise BadSetting(f"the address of the store, {self._readable_dsn}, is not valid: {reason(error)}") from None
        return psycopg.connect(make_conninfo("", **{**_CONNECTION, **given, **more}), autocommit=True)

    def _open_when_ready(self) -> Connection:
        """The first connection. Who can wait does, for a server that is there and is busy. Anything
        else is a mistake in the address."""
        waited = False
        while True:
            try:
                db = self._open()
                break
            except StoreAway as busy:
                if self._while_away is None or not _NOT_NOW.search(str(busy)):
                    raise
                self._while_away(str(busy).rpartition(":")[2].strip())
                waited = True
        if waited and self._while_away is not None:
            self._while_away("")
        return db

    def _open(self) -> Connection:
        """A connection that owns the namespace, when it is for writing."""
        db = self._connect()
        if self._readonly:
            return db
        try:
            self._lock(db)
        except BaseException:
            db.close()
            raise
        return db

    def _lock(self, db: Connection) -> None:
        if not self._dropped(db):
            self._check_owner(self._noted(db, OWNER))
        deadline = time.monotonic() + LOCK_PATIENCE
        while True:
            row = db.execute("SELECT pg_try_advisory_lock(%s)", (identity(f"sanderling:{self.namespace}"),)).fetchone()
            if row and row[0]:
                return
            if time.monotonic() > deadline:
                raise FolderInUse(f"{self.place} is in use by another server")
            time.sleep(0.1)

    def _roll_back(self) -> None:
        with contextlib.suppress(psycopg.OperationalError):  # it is gone, and the transaction with it
            if not self._db.closed:
                self._db.execute("ROLLBACK")

    def _recover(self, error: psycopg.Error, writing: str = "") -> None:
        """Comes back with a new connection when the old one was lost, and with the old one after a
        deadlock; any other error goes on its way.

        `writing` is the token of the write that failed."""
        self._roll_back()
        if isinstance(error, errors.DeadlockDetected):
            return  # somebody else waited for our locks, and goes on; now it is our turn again
        if not self._db.closed:
            raise self._cause(error) from None
        why = reason(error)
        if self._while_away is None:
            raise StoreAway(f"the database at {self._readable_dsn} went away: {why}") from None
        while True:
            self._while_away(why)
            try:
                self._db = self._open()
                self._check_unchanged(writing)
                break
            except StoreLost:
                raise
            except (psycopg.OperationalError, StoreAway, FolderInUse) as failure:
                why = reason(failure)
                if self._database in why and self._has_no_database(why):
                    raise StoreLost(self._was_dropped(f"database {self._database}")) from None
        self._while_away("")

    def _cause(self, error: psycopg.Error) -> Exception:
        """What to say of an error that a new connection does not mend."""
        if isinstance(error, errors.DiskFull):
            return DiskFull(
                "the database has no room left: nothing committed is lost; free some space and run it again"
            )
        if self._begun and self._dropped():
            return StoreLost(self._was_dropped(f"namespace {self.namespace}"))
        if self._begun and isinstance(error, errors.InsufficientPrivilege | errors.ReadOnlySqlTransaction):
            return RunFailed(f"{self.place} may not be written any more: {reason(error)}")
        return error

    def _dropped(self, db: Connection | None = None) -> bool:
        """Whether there are no tables."""
        row = (db or self._db).execute("SELECT to_regclass(%s)::text", (f'"{self.namespace}".meta',)).fetchone()
        return not row or row[0] is None

    def _has_no_database(self, why: str) -> bool:
        """Whether the server is there and our database is not. It may say so in any language, so
        another one is asked."""
        for other in _OTHERS:
            with contextlib.suppress(psycopg.OperationalError), self._connected(dbname=other) as db:
                return not db.execute("SELECT 1 FROM pg_database WHERE datname = %s", (self._database,)).fetchone()
        return "does not exist" in why

    def _was_dropped(self, what: str) -> str:
        return (
            f"the {what} at {self._readable_dsn} was dropped while it was in use; "
            "`sanderling recover` on the crawl's folder rebuilds it from the archives"
        )

    def _check_unchanged(self, writing: str) -> None:
        """Refuses to go on with a database that lost commits, or that somebody else has written
        to."""
        if self._readonly or not self._begun:
            return
        if self._dropped():
            raise StoreLost(self._was_dropped(f"namespace {self.namespace}"))
        if self._noted(self._db, _WRITTEN) not in (self._written, writing):
            raise StoreLost(
                f"{self.place} came back without the last commits, or somebody else wrote to it: "
                "run the crawl again to go on with what it holds now"
            )


def reason(error: BaseException) -> str:
    """The last line says what it was; those before it say to whom we spoke."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1].removeprefix("FATAL:").strip() if lines else type(error).__name__
