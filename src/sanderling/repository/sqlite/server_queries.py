"""What the server asks, mostly a few rows, where each store answers in its own way.

`shared_queries` has the rest."""

import math
import random
from collections.abc import Collection, Mapping
from itertools import islice
from typing import Any

from sanderling.model import Before, PageFacts, RevisitFacts, Task
from sanderling.repository import beliefs, rows
from sanderling.repository.shared_queries import VISITED
from sanderling.repository.sqlite.database import JOINS, SqliteDatabase
from sanderling.repository.sqlite.identities import Identities


class SqliteServerQueries(SqliteDatabase):
    """The reading half of a store that the server needs."""

    _identities: Identities  # unless it is opened for reading

    def unknown(self, urls: Mapping[int, str]) -> list[int]:
        return self._identities.unknown(urls)

    # ---- the queue

    def take(
        self, host: int, count: int, leased: Collection[int], above: float = -math.inf, below: float = math.inf
    ) -> list[Task]:
        # Leased URLs are still marked queued (a lease is not worth a write), so they come up again:
        # skip them.
        best = self._db.execute(
            """SELECT id, url, depth, attempts, hops, kind, page FROM urls WHERE state = 1 AND due = 0 AND host = ?
            AND rank >= ? AND rank < ? ORDER BY rank DESC LIMIT ?""",
            (host, above, below, count + len(leased)),
        )
        taken = list(islice((row for row in best if row[0] not in leased), count))
        stored = self._with_validators([row for row in taken if row[-1]])
        return rows.queued_again([Task(*row[:-1]) for row in taken], stored)

    def ranks(self, most: int) -> list[float]:
        query = "SELECT rank FROM urls WHERE state = 1 AND due = 0"
        found = [row[0] for row in self._db.execute(f"{query} LIMIT ?", (most + 1,))]
        if len(found) <= most:
            return found
        # Rows that are not queued are read too: their number is bounded, and a queue that is such a
        # small part of a crawl gets a smaller sample.
        last = self._db.execute("SELECT max(number) FROM urls").fetchone()[0]
        sample: list[float] = []
        for _ in range(20):
            some = random.sample(range(1, last + 1), most)
            sample += [row[0] for row in self._in(f"{query} AND number IN", some)]
            if len(sample) >= most:
                break
        return sample[:most] or found

    # ---- visiting again

    def take_due(self, host: int, count: int, leased: Collection[int], now: float) -> list[Task]:
        first = self._db.execute(
            f"""SELECT id, url, depth, attempts, hops, kind, page FROM urls WHERE {VISITED} AND host = ? AND due <= ?
            ORDER BY due LIMIT ?""",
            (host, now, count + len(leased)),
        )
        return self._with_validators(list(islice((row for row in first if row[0] not in leased), count)))

    def tasks(self, ids: list[int]) -> list[Task]:
        query = "SELECT id, url, depth, attempts, hops, kind, page FROM urls WHERE number IN"
        found = {row[0]: row for row in self._by_ids(query, ids)}
        return self._with_validators([found[id] for id in ids if id in found])

    def _with_validators(self, found: list[tuple[Any, ...]]) -> list[Task]:
        """Tasks from rows that end in the number of the page."""
        places = {row[-1]: row[0] for row in found}
        query = f"""SELECT p.number, {rows.VALIDATORS.format(key="number")}
            JOIN urls u ON u.number = p.url WHERE p.number IN"""
        kept = {places[row[0]]: rows.validators(*row[1:]) for row in self._in(query, [*places])}
        return [rows.again(Task(*row[:-1]), kept) for row in found]

    def reasons(self, ids: list[int]) -> dict[int, str]:
        return dict(self._by_ids("SELECT id, reason FROM urls WHERE number IN", ids))

    def seen(self, ids: list[int]) -> dict[int, RevisitFacts]:
        query = beliefs.SEEN.format(urls=JOINS.urls)
        return {row[0]: beliefs.seen(row) for row in self._by_ids(f"{query} IN", ids)}

    def before(self, ids: list[int]) -> dict[int, Before]:
        query = f"""SELECT u.id, {rows.BEFORE.format(key="number")} FROM urls u
            JOIN pages p ON p.number = u.page LEFT JOIN warcs w ON w.number = p.warc WHERE u.number IN"""
        return {row[0]: rows.before(row[1:]) for row in self._by_ids(query, ids)}

    def showing(self, images: list[int]) -> dict[int, list[int]]:
        numbers = {number: id for id, number in self._identities.numbers(images).items()}
        query = """SELECT s.image, u.id FROM shown s JOIN pages p ON p.number = s.page JOIN urls u ON u.number = p.url
            WHERE s.image IN"""
        found: dict[int, list[int]] = {}
        for image, page in dict.fromkeys(self._in(query, sorted(numbers))):
            found.setdefault(numbers[image], []).append(page)
        return found

    # ---- one page, several names; and what is held back

    def page_facts(self, ids: list[int]) -> dict[int, PageFacts]:
        query = """SELECT u.id, u.state, u.alias, coalesce(p.status, 0), coalesce(p.text_digest, x''),
            coalesce(p.simhash, 0), coalesce(p.language, '') FROM urls u LEFT JOIN pages p ON p.number = u.page
            WHERE u.number IN"""
        return {row[0]: PageFacts(*row[1:]) for row in self._by_ids(query, ids)}

    def claims(self, ids: list[int]) -> list[tuple[int, int]]:
        query = """SELECT u.id, p.canonical FROM pages p JOIN urls u ON u.number = p.url
            WHERE p.canonical != 0 AND p.canonical IN"""
        return list(dict.fromkeys((row[0], row[1]) for row in self._in(query, ids)))
