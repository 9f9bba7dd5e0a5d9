"""What both stores answer by the same query, in the words that SQLite and PostgreSQL share."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator
from typing import Any, ClassVar

import msgspec

from sanderling.model import ChangeKind, Counts, History, Host, Stored, Subject, VersionRow
from sanderling.repository import beliefs, rows
from sanderling.repository.store import Joins, ScopedUrl, TrailUrl, UrlFacts, Waiting

# As the index of revisits has it.
VISITED = "state IN (3, 5) AND due > 0"
_VERSIONS = f"SELECT {rows.VERSION_FIELDS}"
_TOGETHER = 500


class SharedQueries(ABC):
    """A part of a store, on top of two ways to ask."""

    joins: ClassVar[Joins]

    @abstractmethod
    def select(self, query: str, *values: object) -> list[Any]:
        """Rows of a query with ? where values go."""

    @abstractmethod
    def _each(self, query: str, *values: object) -> Iterator[Any]:
        """The same for many rows, one after the other."""

    @abstractmethod
    def number(self, id: int) -> int | None: ...

    @abstractmethod
    def known(self, ids: list[int]) -> dict[int, tuple[str, int]]: ...

    # ---- texts by name

    @abstractmethod
    def _get(self, key: str) -> str:
        """A text that has to be there."""

    def noted(self, key: str) -> str:
        found = self.select("SELECT value FROM meta WHERE key = ?", key)
        return str(found[0][0]) if found else ""

    def counts(self) -> Counts:
        return msgspec.json.decode(self._get("counts"), type=Counts)

    def seeds(self) -> list[str]:
        return msgspec.json.decode(self._get("seeds"), type=list[str])

    def homes(self) -> list[str]:
        return msgspec.json.decode(self._get("homes"), type=list[str])

    # ---- for the server

    def warcs(self) -> dict[str, int]:
        return dict(self.select("SELECT name, bytes FROM warcs"))

    def host(self, id: int) -> Host | None:
        found = self.select(f"{rows.HOSTS} WHERE id = ?", id)
        return rows.host(found[0]) if found else None

    def depths(self) -> dict[int, int]:
        return dict(self.select("SELECT depth, count(*) FROM urls WHERE state = 1 GROUP BY depth"))

    def waiting(self) -> list[Waiting]:
        queued = dict(self.select("SELECT host, count(*) FROM urls WHERE state = 1 AND due = 0 GROUP BY host"))
        hosts = map(rows.host, self.select(rows.HOSTS))
        return [Waiting(host, queued[host.id]) for host in hosts if host.id in queued]

    def files_wait(self) -> bool:
        query = "SELECT 1 FROM urls WHERE state = 1 AND due = 0 AND kind = 3 LIMIT 1"
        return bool(self.select(query))

    def next_wake(self) -> float | None:
        due: float | None = self.select("SELECT min(due) FROM urls WHERE state = 1 AND due > 0")[0][0]
        return due

    def due(self, after: float, until: float) -> list[tuple[int, int]]:
        query = f"SELECT host, count(*) FROM urls WHERE {VISITED} AND due > ? AND due <= ? GROUP BY host"
        return self.select(query, after, until)

    def next_due(self, after: float) -> float | None:
        due: float | None = self.select(f"SELECT min(due) FROM urls WHERE {VISITED} AND due > ?", after)[0][0]
        return due

    def sitemaps(self) -> list[tuple[int, int, float, float]]:
        return self.select(beliefs.SITEMAPS)

    def excluded_for(self, reason: str) -> list[int]:
        return [row[0] for row in self.select("SELECT id FROM urls WHERE state = 6 AND reason = ?", reason)]

    def trust(self) -> dict[int, bytes]:
        return dict(self.select("SELECT host, learned FROM trust"))

    def held(self, host: int, reason: str, most: int) -> list[tuple[int, int]]:
        query = "SELECT id, depth FROM urls WHERE state = 0 AND host = ? AND reason = ? ORDER BY number LIMIT ?"
        return self.select(query, host, reason, most)

    def all_held(self, most: int) -> list[tuple[int, int, int, str]]:
        query = "SELECT id, host, depth, reason FROM urls WHERE state = 0 AND substr(reason, 1, 12) <> ? LIMIT ?"
        return self.select(query, "held-mirror:", most)

    def held_reasons(self) -> dict[str, int]:
        return dict(self.select("SELECT reason, count(*) FROM urls WHERE state = 0 GROUP BY reason"))

    def excluded_reasons(self) -> dict[str, int]:
        return dict(self.select("SELECT reason, count(*) FROM urls WHERE state = 6 AND kind = 0 GROUP BY reason"))

    def merged(self, host: int, reason: str, most: int) -> list[tuple[int, int]]:
        query = "SELECT id, depth FROM urls WHERE alias != 0 AND state = 6 AND host = ? AND reason = ? LIMIT ?"
        return self.select(query, host, reason, most)

    # ---- the whole, for commands and background jobs

    def url_facts(self) -> Iterator[UrlFacts]:
        yield from map(UrlFacts._make, self._each("SELECT id, host, depth, state, rank, alias FROM urls"))

    def relevances(self) -> Iterator[tuple[int, float]]:
        yield from self._each(f"SELECT u.id, {rows.RELEVANCE} FROM {self.joins.urls} WHERE {rows.RELEVANCE} <> 0")

    def link_relevances(self) -> Iterator[tuple[int, float]]:
        yield from self._each("SELECT id, relevance FROM urls WHERE relevance <> 0")

    def judged_pages(self) -> Iterator[tuple[int, float, int | None]]:
        query = f"SELECT u.id, p.relevance, p.redirect FROM {self.joins.urls} WHERE p.status IS NOT NULL"
        yield from self._each(query)

    def unvisited(self, after: int, most: int) -> list[tuple[int, str, str]]:
        query = """SELECT number, url, anchor FROM urls WHERE number > ? AND state IN (0, 1) AND kind = 0
            ORDER BY number LIMIT ?"""
        return self.select(query, after, most)

    def unvisited_counts(self) -> Iterator[tuple[int, int, int, int, str]]:
        yield from self._each("SELECT id, state, kind, off_topic, reason FROM urls WHERE state IN (0, 1)")

    def relevant_pages(self, least: float) -> int:
        return int(self.select("SELECT count(*) FROM pages WHERE relevance >= ?", least)[0][0])

    def best_ranks(self, host: int, most: int, leased: Collection[int]) -> list[float]:
        query = "SELECT id, rank FROM urls WHERE state = 1 AND due = 0 AND host = ? ORDER BY rank DESC LIMIT ?"
        best = self.select(query, host, most + len(leased))
        return [rank for id, rank in best if id not in leased][:most]

    def off_topic(self, most: int) -> list[tuple[int, int, int, int, float]]:
        query = "SELECT id, host, depth, off_topic, relevance FROM urls WHERE state IN (0, 1) AND off_topic > 0 LIMIT ?"
        return self.select(query, most)

    def trails(self, most: int) -> Iterator[TrailUrl]:
        query = f"""SELECT u.id, u.via, u.url, u.anchor, u.state, p.relevance FROM {self.joins.urls}
            WHERE u.number > ? AND u.state IN (0, 1, 2, 3, 4, 5) AND u.kind = 0 AND u.depth > 0 ORDER BY u.number"""
        for row in self._each(query, self.last_number() - most):
            yield TrailUrl._make((*row[:5], row[5] or 0.0))

    def url_texts(self) -> Iterator[tuple[int, str]]:
        yield from self._each("SELECT id, url FROM urls")

    def subjects(self) -> Iterator[Subject]:
        yield from map(Subject._make, self._each(beliefs.SUBJECTS.format(urls=self.joins.urls)))

    def named_pages(self, most: int) -> list[tuple[int, int, str]]:
        rows = self.select(beliefs.NAMED.format(urls=self.joins.urls), most)
        return [
            (id, host, source)
            for id, host, *told, visited in rows
            for source, at in zip(("indexnow", "websub", "report"), told, strict=True)
            if at > visited
        ]

    def last_number(self) -> int:
        return int(self.select("SELECT coalesce(max(number), 0) FROM urls")[0][0])

    def judged(self, first: int, end: int) -> list[ScopedUrl]:
        query = """SELECT id, url, host, depth, state, reason FROM urls
            WHERE state IN (0, 1, 6) AND alias = 0 AND kind = 0 AND number >= ? AND number < ?"""
        return [*map(ScopedUrl._make, self.select(query, first, end))]

    def hosts(self) -> Iterator[Host]:
        yield from map(rows.host, self._each(f"{rows.HOSTS} ORDER BY origin"))

    def host_states(self) -> dict[int, dict[int, int]]:
        found: dict[int, dict[int, int]] = {}
        query = "SELECT host, state, count(*) FROM urls WHERE kind = 0 GROUP BY host, state"
        for host, state, count in self.select(query):
            found.setdefault(host, {})[state] = count
        return found

    def sitemap_states(self) -> dict[int, list[tuple[int, str, int]]]:
        found: dict[int, list[tuple[int, str, int]]] = {}
        query = """SELECT host, state, reason, count(*) FROM urls WHERE kind = 1 GROUP BY host, state, reason
            ORDER BY state, reason"""
        for host, state, reason, count in self.select(query):
            found.setdefault(host, []).append((state, reason, count))
        return found

    def versions(self, page: int) -> list[VersionRow]:
        query = f"{_VERSIONS} FROM {self.joins.versions} WHERE u.number = ? ORDER BY v.number"
        return [*map(rows.version, self.select(query, self.number(page)))]

    def changes(self, before: int | None = None) -> Iterator[VersionRow]:
        query = f"{_VERSIONS} FROM {self.joins.versions} WHERE v.number < ? ORDER BY v.number DESC"
        yield from map(rows.version, self._each(query, (1 << 62) if before is None else before))

    def changes_after(self, number: int, most: int) -> list[VersionRow]:
        query = f"{_VERSIONS} FROM {self.joins.versions} WHERE v.number > ? ORDER BY v.number LIMIT ?"
        return [*map(rows.version, self.select(query, number, most))]

    def newest_version(self) -> int:
        return int(self.select("SELECT coalesce(max(number), 0) FROM versions")[0][0])

    # ---- for retention

    def histories(self) -> Iterator[History]:
        query = f"""SELECT u.url, v.number, v.at, v.kinds, w.name, v."offset", v.length FROM {self.joins.versions}
            WHERE v.page IN (SELECT page FROM versions GROUP BY page HAVING count(*) > 1) ORDER BY v.page, v.number"""
        for url, number, at, kinds, *place in self._each(query):
            yield History(url, number, at, ChangeKind(kinds), Stored(*place))

    def places_in(self, archive: str, without: Iterable[int] = ()) -> set[int]:
        left = set(without)
        query = "SELECT {} FROM {} x JOIN warcs w ON w.number = x.warc WHERE w.name = ?"
        found = {row[0] for row in self.select(query.format('x."offset"', "pages"), archive)}
        versions = self.select(query.format('x.number, x."offset"', "versions"), archive)
        return found | {offset for number, offset in versions if number not in left}

    def pages_of(self, versions: list[int]) -> set[int]:
        found = set[int]()
        for start in range(0, len(versions), _TOGETHER):
            some = versions[start : start + _TOGETHER]
            places = ", ".join("?" * len(some))
            query = f"SELECT DISTINCT u.number FROM {self.joins.versions} WHERE v.number IN ({places})"
            found.update(row[0] for row in self.select(query, *some))
        return found

    def behind_login(self) -> set[int]:
        read = f"SELECT u.id FROM {self.joins.urls} WHERE p.flags & {rows.LOGIN} <> 0"
        found = {row[0] for row in self._each(read)}
        return found | {row[0] for row in self._each(f"SELECT id FROM urls WHERE via IN ({read})")} if found else found

    def edges(self) -> Iterator[tuple[str, list[str]]]:
        for url, targets in self._each(f"SELECT u.url, l.targets FROM {self.joins.links}"):
            ids = list(memoryview(targets).cast("q"))
            texts = self.known(ids)
            yield url, [texts[target][0] for target in ids if target in texts]
