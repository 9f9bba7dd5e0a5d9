"""A connection to PostgreSQL that outlives the connection: it writes exactly once and comes back by itself.

The writer holds an advisory lock on the crawl's namespace: when a server was killed, the next one waits until the
database has noticed, so that nothing is committed behind its back.

Every write carries a token in the same transaction: when the connection breaks in a COMMIT, the token tells afterwards
whether it took place, and only otherwise is it done again.
"""

import secrets
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import psycopg
from psycopg import errors, sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from sanderling.errors import BadSetting, DiskFull, FolderInUse, StoreAway
from sanderling.repository import address
from sanderling.repository.store import WhileAway
from sanderling.urls import identity

# How long a new server waits for the database to notice that the last one was killed.
LOCK_PATIENCE = 10.0
# A machine that vanished without a word is noticed after about a minute.
_CONNECTION = {
    "connect_timeout": "10", "keepalives_idle": "30", "keepalives_interval": "10", "keepalives_count": "3",
    "tcp_user_timeout": "60000", "application_name": "sanderling",
}  # fmt: skip

META = "INSERT INTO meta VALUES (%s, %s) ON CONFLICT (key) DO UPDATE SET value = excluded.value"

Connection = psycopg.Connection[tuple[Any, ...]]
T = TypeVar("T")


class Session:
    """Reads and writes in one namespace of a database."""

    def __init__(self, dsn: str, readonly: bool, while_away: WhileAway | None) -> None:
        self._dsn = dsn
        self._shown = address.shown(dsn)
        self._readonly = readonly
        self._while_away = while_away
        self.namespace = address.namespace(dsn)
        if not self.namespace:
            raise BadSetting(f"the address of the store, {self._shown}, does not say which namespace the crawl is in")
        self.place = f"{self._shown}, namespace {self.namespace}"
        self._db = self._open()

    def close(self) -> None:
        self._db.close()

    def write(self, work: Callable[[Connection], T]) -> T:
        """Does `work` in one transaction, exactly once, however often the connection breaks."""
        token = secrets.token_hex(8)
        tried: tuple[T] | None = None
        while True:
            try:
                if tried and self._last_written() == token:
                    return tried[0]
                self._db.execute("BEGIN")
                tried = (work(self._db),)
                self._db.execute(META, ("written", token))
                self._db.execute("COMMIT")
                return tried[0]
            except psycopg.Error as error:
                self._recover(error)
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
                raise StoreAway(f"the database at {self._shown} went away: {reason(error)}") from None

    def _last_written(self) -> str | None:
        row = self._db.execute("SELECT value FROM meta WHERE key = 'written'").fetchone()
        return row[0] if row else None

    def _connect(self) -> Connection:
        wanted = _CONNECTION if self._readonly else {**_CONNECTION, "target_session_attrs": "read-write"}
        try:
            given = conninfo_to_dict(self._dsn)
        except psycopg.ProgrammingError as error:
            raise BadSetting(f"the address of the store, {self._shown}, is not valid: {reason(error)}") from None
        try:
            db = psycopg.connect(make_conninfo("", **{**wanted, **given}), autocommit=True)
            db.execute(sql.SQL("SET search_path TO {}").format(sql.Identifier(self.namespace)))
            if self._readonly:
                db.execute("SET default_transaction_read_only = on")
        except psycopg.OperationalError as error:
            raise StoreAway(f"the database at {self._shown} cannot be reached: {reason(error)}") from None
        return db

    def _open(self) -> Connection:
        """A connection that owns the namespace, when it is for writing."""
        db = self._connect()
        if self._readonly:
            return db
        deadline = time.monotonic() + LOCK_PATIENCE
        while True:
            row = db.execute("SELECT pg_try_advisory_lock(%s)", (identity(f"sanderling:{self.namespace}"),)).fetchone()
            if row and row[0]:
                return db
            if time.monotonic() > deadline:
                db.close()
                raise FolderInUse(f"{self.place} is in use by another server")
            time.sleep(0.1)

    def _roll_back(self) -> None:
        if not self._db.closed:
            self._db.execute("ROLLBACK")

    def _recover(self, error: psycopg.Error) -> None:
        """Comes back with a new connection when the old one was lost; any other error goes on its way."""
        if not self._db.closed:
            self._roll_back()
            if isinstance(error, errors.DiskFull):
                raise DiskFull(
                    "the database has no room left: nothing committed is lost; free some space and run it again"
                ) from error
            raise error
        why = reason(error)
        if self._while_away is None:
            raise StoreAway(f"the database at {self._shown} went away: {why}") from None
        while True:
            self._while_away(why)
            try:
                self._db = self._open()
                break
            except (psycopg.OperationalError, StoreAway, FolderInUse) as failure:
                why = reason(failure)
        self._while_away("")


def reason(error: BaseException) -> str:
    """The last line says what it was; those before it say to whom we spoke."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1].removeprefix("FATAL:").strip() if lines else type(error).__name__
