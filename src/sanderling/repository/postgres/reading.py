"""What commands and background jobs read: mostly everything, in the order it lies in the database."""

from collections.abc import Iterator
from typing import Any, ClassVar

from sanderling.model import Host, PageRow, State, Subject, VersionRow
from sanderling.repository import beliefs, rows
from sanderling.repository.postgres.database import JOINS, Database
from sanderling.repository.postgres.serving import HOSTS
from sanderling.repository.store import Joins, Judged, UrlFacts

_PAGES = f"""SELECT {rows.PAGE_FIELDS}, t.url, a.url FROM pages p JOIN urls u ON u.id = p.id
    LEFT JOIN urls t ON t.id = p.redirect LEFT JOIN urls a ON a.id = u.alias AND u.alias <> 0
    LEFT JOIN warcs w ON w.number = p.warc"""
_VERSIONS = f"SELECT {rows.VERSION_FIELDS} FROM {JOINS.versions}"


class Reading(Database):
    """The reading half of a store that people and background jobs need."""

    joins: ClassVar[Joins] = JOINS

    def select(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        return self._session.read(query.replace("?", "%s"), *values)

    # ---- the whole

    def url_facts(self) -> Iterator[UrlFacts]:
        yield from map(UrlFacts._make, self._session.stream("SELECT id, host, depth, state, rank, alias FROM urls"))

    def url_texts(self) -> Iterator[tuple[int, str]]:
        yield from ((row[0], row[1]) for row in self._session.stream("SELECT id, url FROM urls"))

    def last_number(self) -> int:
        return int(self._session.read("SELECT coalesce(max(number), 0) FROM urls")[0][0])

    def judged(self, first: int, end: int) -> list[Judged]:
        found = self._session.read(f"{rows.JUDGED} AND number >= %s AND number < %s", first, end)
        return [*map(Judged._make, found)]

    def subjects(self) -> Iterator[Subject]:
        yield from map(Subject._make, self._session.stream(beliefs.SUBJECTS.format(urls=JOINS.urls)))

    def visit_times(self) -> Iterator[tuple[int, float]]:
        yield from ((row[0], row[1]) for row in self._session.stream("SELECT id, fetched_at FROM pages"))

    def importances(self) -> Iterator[tuple[int, float]]:
        yield from ((row[0], row[1]) for row in self._session.stream("SELECT id, importance FROM pages"))

    def packed_links(self) -> Iterator[tuple[int, bytes]]:
        yield from ((row[0], row[1]) for row in self._session.stream("SELECT page, targets FROM links"))

    def hosts(self) -> Iterator[Host]:
        yield from map(rows.host, self._session.stream(f"{HOSTS} ORDER BY origin"))

    def host_states(self) -> dict[int, dict[int, int]]:
        found: dict[int, dict[int, int]] = {}
        for row in self._session.read("SELECT host, state, count(*) FROM urls WHERE kind = 0 GROUP BY host, state"):
            found.setdefault(row[0], {})[row[1]] = row[2]
        return found

    def simhashes(self) -> Iterator[tuple[int, int, float]]:
        query = "SELECT id, simhash, fetched_at FROM pages WHERE simhash <> 0"
        yield from ((row[0], row[1], row[2]) for row in self._session.stream(query))

    # ---- pages, versions and links

    def pages(self) -> Iterator[PageRow]:
        yield from map(rows.page, self._session.stream(_PAGES))

    def unanswered(self, state: State) -> Iterator[PageRow]:
        query = """SELECT url, depth, reason FROM urls u
            WHERE state = %s AND kind = 0 AND NOT EXISTS (SELECT 1 FROM pages WHERE id = u.id)"""
        for row in self._session.stream(query, int(state)):
            yield PageRow(url=row[0], state=state.name.lower(), depth=row[1], reason=row[2])

    def versions(self, page: int) -> list[VersionRow]:
        found = self._session.read(f"{_VERSIONS} WHERE v.page = %s ORDER BY v.number", page)
        return [*map(rows.version, found)]

    def with_history(self) -> Iterator[int]:
        yield from [row[0] for row in self._session.read("SELECT page FROM versions GROUP BY page HAVING count(*) > 1")]

    def changes(self, before: int | None = None) -> Iterator[VersionRow]:
        newest_first = f"{_VERSIONS} WHERE v.number < %s ORDER BY v.number DESC"
        yield from map(rows.version, self._session.stream(newest_first, (1 << 62) if before is None else before))

    def changes_after(self, number: int, most: int) -> list[VersionRow]:
        query = f"{_VERSIONS} WHERE v.number > %s ORDER BY v.number LIMIT %s"
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
