"""What commands and background jobs read: mostly everything, in the order it lies in the file."""

from collections.abc import Iterator
from itertools import islice
from typing import Any, ClassVar

from sanderling.model import Host, PageRow, State, Subject, VersionRow
from sanderling.repository import beliefs, rows
from sanderling.repository.sqlite.database import JOINS, Database
from sanderling.repository.sqlite.serving import HOSTS
from sanderling.repository.store import Joins, Judged, UrlFacts

_PAGES = f"""SELECT {rows.PAGE_FIELDS}, p.redirect, u.alias FROM pages p JOIN urls u ON u.number = p.url
    LEFT JOIN warcs w ON w.number = p.warc"""
_VERSIONS = f"SELECT {rows.VERSION_FIELDS} FROM {JOINS.versions}"
_PAGES_AT_ONCE = 1000


class Reading(Database):
    """The reading half of a store that people and background jobs need."""

    joins: ClassVar[Joins] = JOINS

    def select(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        return self._db.execute(query, values).fetchall()

    # ---- the whole

    def url_facts(self) -> Iterator[UrlFacts]:
        facts = self._db.execute("SELECT id, host, depth, state, rank, alias FROM urls")
        yield from map(UrlFacts._make, facts)

    def url_texts(self) -> Iterator[tuple[int, str]]:
        yield from self._db.execute("SELECT id, url FROM urls")

    def last_number(self) -> int:
        return int(self._db.execute("SELECT coalesce(max(number), 0) FROM urls").fetchone()[0])

    def judged(self, first: int, end: int) -> list[Judged]:
        return [*map(Judged._make, self._db.execute(f"{rows.JUDGED} AND number >= ? AND number < ?", (first, end)))]

    def subjects(self) -> Iterator[Subject]:
        yield from map(Subject._make, self._db.execute(beliefs.SUBJECTS.format(urls=JOINS.urls)))

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

    def hosts(self) -> Iterator[Host]:
        yield from map(rows.host, self._db.execute(f"{HOSTS} ORDER BY origin"))

    def host_states(self) -> dict[int, dict[int, int]]:
        found: dict[int, dict[int, int]] = {}
        for host, state, count in self._db.execute(
            "SELECT host, state, count(*) FROM urls WHERE kind = 0 GROUP BY host, state"
        ):
            found.setdefault(host, {})[state] = count
        return found

    # ---- pages and their versions

    def pages(self) -> Iterator[PageRow]:
        found = self._db.execute(_PAGES)
        while some := list(islice(found, _PAGES_AT_ONCE)):
            texts = self.known([id for row in some for id in row[-2:] if id])
            for *facts, redirect, alias in some:
                yield rows.page((*facts, texts.get(redirect, (None,))[0], texts.get(alias, (None,))[0]))

    def unanswered(self, state: State) -> Iterator[PageRow]:
        query = "SELECT url, depth, reason FROM urls WHERE state = ? AND kind = 0 AND page = 0"
        for url, depth, reason in self._db.execute(query, (state,)):
            yield PageRow(url=url, state=state.name.lower(), depth=depth, reason=reason)

    def versions(self, page: int) -> list[VersionRow]:
        found = self._db.execute(f"{_VERSIONS} WHERE u.number = ? ORDER BY v.number", (self.number(page),))
        return [*map(rows.version, found)]

    def with_history(self) -> Iterator[int]:
        found = self._db.execute(
            """SELECT u.id FROM (SELECT page FROM versions GROUP BY page HAVING count(*) > 1) v
            JOIN pages p ON p.number = v.page JOIN urls u ON u.number = p.url"""
        )
        yield from [row[0] for row in found]

    def changes(self, before: int | None = None) -> Iterator[VersionRow]:
        newest_first = f"{_VERSIONS} WHERE v.number < ? ORDER BY v.number DESC"
        yield from map(rows.version, self._db.execute(newest_first, ((1 << 62) if before is None else before,)))

    def changes_after(self, number: int, most: int) -> list[VersionRow]:
        found = self._db.execute(f"{_VERSIONS} WHERE v.number > ? ORDER BY v.number LIMIT ?", (number, most))
        return [*map(rows.version, found)]

    def newest_version(self) -> int:
        return int(self._db.execute("SELECT coalesce(max(number), 0) FROM versions").fetchone()[0])

    # ---- links

    def edges(self) -> Iterator[tuple[str, list[str]]]:
        for url, targets in self._db.execute(f"SELECT u.url, l.targets FROM {JOINS.links}"):
            ids = list(memoryview(targets).cast("q"))
            texts = self.known(ids)
            yield url, [texts[target][0] for target in ids if target in texts]

    def links_of(self, id: int) -> bytes:
        query = "SELECT l.targets FROM urls u JOIN links l ON l.page = u.page WHERE u.number = ?"
        row = self._db.execute(query, (self.number(id),)).fetchone()
        return bytes(row[0]) if row else b""

    def linking(self, id: int) -> list[int]:
        names = [id, *(row[0] for row in self._db.execute("SELECT id FROM urls WHERE alias = ? AND alias != 0", (id,)))]
        pages: set[int] = set()
        for name in names:
            # One look through all packed links, in C. It also finds the eight bytes across two ids: look again.
            packed = name.to_bytes(8, "little", signed=True)
            near = self._db.execute("SELECT page, targets FROM links WHERE instr(targets, ?)", (packed,))
            pages.update(page for page, targets in near if name in memoryview(targets).cast("q"))
        found = self._in("SELECT u.id FROM pages p JOIN urls u ON u.number = p.url WHERE p.number IN", sorted(pages))
        return sorted({row[0] for row in found})
