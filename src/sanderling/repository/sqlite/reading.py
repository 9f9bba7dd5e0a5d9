"""What commands and background jobs read, mostly everything, where each store has its own way.

`shared_queries` has the rest."""

from collections.abc import Iterator
from itertools import islice

from sanderling.model import PageRow, State
from sanderling.repository import rows
from sanderling.repository.sqlite.database import JOINS, SqliteDatabase

_PAGES = f"""SELECT {rows.PAGE_FIELDS.format(key="number")}, p.redirect, u.alias FROM pages p JOIN urls u ON u.number = p.url
    LEFT JOIN warcs w ON w.number = p.warc WHERE u.kind <> 3"""
_PAGES_AT_ONCE = 1000


class SqliteReading(SqliteDatabase):
    """The reading half of a store that people and background jobs need."""

    # ---- the whole

    def visit_times(self) -> Iterator[tuple[int, float]]:
        yield from self._db.execute("SELECT u.id, p.fetched_at FROM pages p JOIN urls u ON u.number = p.url")

    def importances(self) -> Iterator[tuple[int, float]]:
        yield from self._db.execute("SELECT u.id, p.importance FROM pages p JOIN urls u ON u.number = p.url")

    def packed_links(self) -> Iterator[tuple[int, bytes]]:
        yield from self._db.execute(f"SELECT u.id, l.targets FROM {JOINS.links}")

    def simhashes(self) -> Iterator[tuple[int, int, float]]:
        yield from self._db.execute(
            "SELECT u.id, p.simhash, p.fetched_at FROM pages p JOIN urls u ON u.number = p.url WHERE p.simhash != 0"
        )

    # ---- pages and their versions

    def pages(self) -> Iterator[PageRow]:
        found = self._db.execute(_PAGES)
        while some := list(islice(found, _PAGES_AT_ONCE)):
            texts = self.known([id for row in some for id in row[-2:] if id])
            for *facts, redirect, alias in some:
                yield rows.page((*facts, texts.get(redirect, (None,))[0], texts.get(alias, (None,))[0]))

    def unanswered(self, state: State) -> Iterator[PageRow]:
        query = "SELECT url, depth, reason, relevance FROM urls WHERE state = ? AND kind = 0 AND page = 0"
        for row in self._db.execute(query, (state,)):
            yield rows.unanswered(state, row)

    def with_history(self) -> Iterator[tuple[int, int]]:
        found = self._db.execute(
            """SELECT u.id, p.not_modified + p.same FROM (SELECT page FROM versions GROUP BY page HAVING count(*) > 1) v
            JOIN pages p ON p.number = v.page JOIN urls u ON u.number = p.url WHERE u.kind <> 3"""
        )
        yield from found.fetchall()

    # ---- links

    def links_of(self, id: int) -> bytes:
        query = "SELECT l.targets FROM urls u JOIN links l ON l.page = u.page WHERE u.number = ?"
        row = self._db.execute(query, (self.number(id),)).fetchone()
        return bytes(row[0]) if row else b""

    def linking(self, id: int) -> list[int]:
        names = [id, *(row[0] for row in self._db.execute("SELECT id FROM urls WHERE alias = ? AND alias != 0", (id,)))]
        pages: set[int] = set()
        for name in names:
            # One look through all packed links, in C. It also finds the eight bytes across two ids:
            # look again.
            packed = name.to_bytes(8, "little", signed=True)
            near = self._db.execute("SELECT page, targets FROM links WHERE instr(targets, ?)", (packed,))
            pages.update(page for page, targets in near if name in memoryview(targets).cast("q"))
        found = self._in("SELECT u.id FROM pages p JOIN urls u ON u.number = p.url WHERE p.number IN", sorted(pages))
        return sorted({row[0] for row in found})
