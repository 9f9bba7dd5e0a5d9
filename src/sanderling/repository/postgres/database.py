"""The namespace itself: opening it, bringing it up to date, and what all parts of the store need of
it."""

from collections.abc import Iterator
from typing import Any, ClassVar

import msgspec
from psycopg import errors, sql

from sanderling.errors import BadFolder, Damaged
from sanderling.model import Counts
from sanderling.repository import migrations
from sanderling.repository.known_file import MARK, KnownFile
from sanderling.repository.known_urls import KnownUrls
from sanderling.repository.ownership import Owner
from sanderling.repository.postgres.session import META, Connection, Session, reason
from sanderling.repository.shared_queries import SharedQueries
from sanderling.repository.store import Joins, WhileAway

STEPS = migrations.steps("postgres")
SCHEMA = len(STEPS)

JOINS = Joins(
    urls="urls u LEFT JOIN pages p ON p.id = u.id",
    versions="""versions v JOIN urls u ON u.id = v.page JOIN pages p ON p.id = v.page
    JOIN warcs w ON w.number = v.warc""",
    links="links l JOIN urls u ON u.id = l.page",
    failures="failures f JOIN urls u ON u.id = f.url",
)


class PostgresDatabase(SharedQueries):
    """One session in the namespace."""

    joins: ClassVar[Joins] = JOINS

    def __init__(
        self,
        dsn: str,
        readonly: bool = False,
        while_away: WhileAway | None = None,
        owner: Owner | None = None,
        known_file: KnownFile | None = None,
    ) -> None:
        """A namespace that is written belongs to `owner` alone. `known_file` is beside its other
        files."""
        self._readonly = readonly
        self._known_file = known_file
        self._known: KnownUrls | None = None
        self.messages: list[str] = []
        self._session = Session(dsn, readonly, while_away, owner)
        try:
            self._check_schema()
            self._session.begin()
        except BaseException:
            self._session.close()
            raise

    def close(self) -> None:
        self._session.close()

    # ---- the schema

    def _check_schema(self) -> None:
        """Makes a new store, and brings an old one up to date when it may be written."""
        table = self._session.read("SELECT to_regclass(%s)::text", f"{quoted(self._session.namespace)}.meta")[0][0]
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
            self.messages.append(
                f"brought {self._session.place} from schema {found} to {SCHEMA}; as it was, it is in the namespace {backup}"
            )

    def _create(self, db: Connection) -> None:
        db.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(sql.Identifier(self._session.namespace)))
        self._climb(db, 0)
        for key, value in (("counts", msgspec.json.encode(Counts()).decode()), ("seeds", "[]"), ("homes", "[]")):
            db.execute(META, (key, value))

    def _climb(self, db: Connection, found: int) -> None:
        def run(query: str, *values: object) -> list[tuple[Any, ...]]:
            cursor = db.execute(query.replace("?", "%s"), values or None)
            return cursor.fetchall() if cursor.description else []

        for step in STEPS[found:]:
            db.execute(step.sql)
            if step.then is not None:
                step.then(run)
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

    # ---- the known URLs

    def _load_known(self) -> KnownUrls:
        """From the file, and what is newer from the table. The number of a row is not needed
        here."""
        file = self._known_file
        saved = file.load(self.noted(MARK) or "") if file is not None else None
        if file is not None and saved is not None:
            known = KnownUrls(saved=saved[0])
            newer = self._session.stream("SELECT id, url FROM urls WHERE number > %s", saved[1])
            file.add(known.add((0, id, url) for id, url in newer))
        else:
            known = KnownUrls((0, id, url) for id, url in self._session.stream("SELECT id, url FROM urls"))
            if file is not None:
                file.add(known.entries())
                self._save_known(file)
        return known

    def _save_known(self, file: KnownFile) -> None:
        """Writes the file when it is worth it. All of its rows are committed before the mark is."""
        last = self._session.read("SELECT coalesce(max(number), 0) FROM urls")[0][0] if file.is_full else 0
        if mark := file.write(last):
            self._session.write(lambda db: db.execute(META, (MARK, mark)))

    # ---- what all parts need

    def _get(self, key: str) -> str:
        if not (value := self.noted(key)):
            raise Damaged(f"{self._session.place} is incomplete: it has no {key!r}")
        return value

    def select(self, query: str, *values: object) -> list[Any]:
        return self._session.read(query.replace("?", "%s"), *values)

    def _each(self, query: str, *values: object) -> Iterator[Any]:
        return self._session.stream(query.replace("?", "%s"), *values)

    def number(self, id: int) -> int | None:
        found = self._session.read("SELECT number FROM urls WHERE id = %s", id)
        return found[0][0] if found else None

    def known(self, ids: list[int]) -> dict[int, tuple[str, int]]:
        found = self._session.read("SELECT id, url, state FROM urls WHERE id = ANY(%b::int8[])", ids)
        return {id: (url, state) for id, url, state in found}


def quoted(column: str) -> str:
    return f'"{column}"'
