"""What commands and background jobs read, mostly everything, where each store has its own way.

`shared_queries` has the rest."""

from collections.abc import Iterator

from sanderling.model import PageRow, State
from sanderling.repository import rows
from sanderling.repository.postgres.database import PostgresDatabase

_PAGES = f"""SELECT {rows.PAGE_FIELDS.format(key="id")}, t.url, a.url FROM pages p JOIN urls u ON u.id = p.id
    LEFT JOIN urls t ON t.id = p.redirect LEFT JOIN urls a ON a.id = u.alias AND u.alias <> 0
    LEFT JOIN warcs w ON w.number = p.warc WHERE u.kind <> 3"""


class PostgresReading(PostgresDatabase):
    """The reading half of a store that people and background jobs need."""

    # ---- the whole

    def visit_times(self) -> Iterator[tuple[int, float]]:
        yield from ((row[0], row[1]) for row in self._session.stream("SELECT id, fetched_at FROM pages"))

    def importances(self) -> Iterator[tuple[int, float]]:
        yield from ((row[0], row[1]) for row in self._session.stream("SELECT id, importance FROM pages"))

    def packed_links(self) -> Iterator[tuple[int, bytes]]:
        yield from ((row[0], row[1]) for row in self._session.stream("SELECT page, targets FROM links"))

    def simhashes(self) -> Iterator[tuple[int, int, float]]:
        query = "SELECT id, simhash, fetched_at FROM pages WHERE simhash <> 0"
        yield from ((row[0], row[1], row[2]) for row in self._session.stream(query))

    # ---- pages, versions and links

    def pages(self) -> Iterator[PageRow]:
        yield from map(rows.page, self._session.stream(_PAGES))

    def unanswered(self, state: State) -> Iterator[PageRow]:
        query = """SELECT url, depth, reason, relevance FROM urls u
            WHERE state = %s AND kind = 0 AND NOT EXISTS (SELECT 1 FROM pages WHERE id = u.id)"""
        for row in self._session.stream(query, int(state)):
            yield rows.unanswered(state, row)

    def with_history(self) -> Iterator[tuple[int, int]]:
        query = """SELECT p.id, p.not_modified + p.same FROM pages p JOIN urls u ON u.id = p.id
            WHERE u.kind <> 3 AND p.id IN (SELECT page FROM versions GROUP BY page HAVING count(*) > 1)"""
        yield from [(row[0], row[1]) for row in self._session.read(query)]

    def links_of(self, id: int) -> bytes:
        found = self._session.read("SELECT targets FROM links WHERE page = %s", id)
        return bytes(found[0][0]) if found else b""

    def linking(self, id: int) -> list[int]:
        names = [id, *(row[0] for row in self._session.read("SELECT id FROM urls WHERE alias = %s AND alias <> 0", id))]
        found: set[int] = set()
        for name in names:
            # One look through all packed links, in C. It also finds the eight bytes across two ids:
            # look again.
            packed = name.to_bytes(8, "little", signed=True)
            near = self._session.read(
                "SELECT page, targets FROM links WHERE position(%b::bytea IN targets) > 0", packed
            )
            found.update(page for page, targets in near if name in memoryview(targets).cast("q"))
        return sorted(found)
