"""What the server asks, mostly a few rows, where each store answers in its own way.

`shared_queries` has the rest."""

import math
import random
from collections.abc import Collection, Mapping
from itertools import islice

from sanderling.model import Before, PageFacts, RevisitFacts, Task
from sanderling.repository import beliefs, rows
from sanderling.repository.postgres.database import JOINS, PostgresDatabase
from sanderling.repository.shared_queries import VISITED


class PostgresServerQueries(PostgresDatabase):
    """The reading half of a store that the server needs."""

    def take(
        self, host: int, count: int, leased: Collection[int], above: float = -math.inf, below: float = math.inf
    ) -> list[Task]:
        # Leased URLs are still marked queued (a lease is not worth a write), so they come up again:
        # skip them.
        best = self._session.read(
            """SELECT id, url, depth, attempts, hops, kind, EXISTS (SELECT 1 FROM pages p WHERE p.id = urls.id)
            FROM urls WHERE state = 1 AND due = 0 AND host = %s
            AND rank >= %s AND rank < %s ORDER BY rank DESC, number LIMIT %s""",
            host, above, below, count + len(leased),
        )  # fmt: skip
        taken = list(islice((row for row in best if row[0] not in leased), count))
        before = [Task(*row[:-1]) for row in taken if row[-1]]
        return rows.queued_again([Task(*row[:-1]) for row in taken], self._with_validators(before) if before else [])

    def take_due(self, host: int, count: int, leased: Collection[int], now: float) -> list[Task]:
        first = self._session.read(
            f"""SELECT id, url, depth, attempts, hops, kind FROM urls WHERE {VISITED} AND host = %s AND due <= %s
            ORDER BY due LIMIT %s""",
            host, now, count + len(leased),
        )  # fmt: skip
        return self._with_validators(list(islice((Task(*row) for row in first if row[0] not in leased), count)))

    def tasks(self, ids: list[int]) -> list[Task]:
        query = "SELECT id, url, depth, attempts, hops, kind FROM urls WHERE id = ANY(%b::int8[])"
        found = {row[0]: Task(*row) for row in self._session.read(query, ids)}
        return self._with_validators([found[id] for id in ids if id in found])

    def _with_validators(self, tasks: list[Task]) -> list[Task]:
        query = f"""SELECT p.id, {rows.VALIDATORS.format(key="id")}
            JOIN urls u ON u.id = p.id WHERE p.id = ANY(%b::int8[])"""
        kept = {row[0]: rows.validators(*row[1:]) for row in self._session.read(query, [task.id for task in tasks])}
        return [rows.again(task, kept) for task in tasks]

    def reasons(self, ids: list[int]) -> dict[int, str]:
        return dict(self._session.read("SELECT id, reason FROM urls WHERE id = ANY(%b::int8[])", ids))

    def seen(self, ids: list[int]) -> dict[int, RevisitFacts]:
        query = f"{beliefs.SEEN.format(urls=JOINS.urls)} IN (SELECT number FROM urls WHERE id = ANY(%b::int8[]))"
        return {row[0]: beliefs.seen(row) for row in self._session.read(query, ids)}

    def before(self, ids: list[int]) -> dict[int, Before]:
        query = f"""SELECT p.id, {rows.BEFORE.format(key="id")} FROM pages p
            JOIN urls u ON u.id = p.id LEFT JOIN warcs w ON w.number = p.warc WHERE p.id = ANY(%b::int8[])"""
        return {row[0]: rows.before(row[1:]) for row in self._session.read(query, ids)}

    def ranks(self, most: int) -> list[float]:
        found = self._session.read("SELECT rank FROM urls WHERE state = 1 AND due = 0 LIMIT %s", most + 1)
        if len(found) > most:
            # Ids are hashes, so neighbours by id have nothing else in common. Rows that are not
            # queued are read too: their number is bounded, and a queue that is such a small part of
            # a crawl gets a smaller sample.
            sample = """SELECT rank FROM (SELECT rank, state, due FROM urls WHERE id >= %s ORDER BY id LIMIT %s) AS sample
                WHERE state = 1 AND due = 0 LIMIT %s"""
            start = random.getrandbits(63) - (1 << 63)  # the lower half, so that there are as many above it
            found = self._session.read(sample, start, most * 20, most) or found
        return [row[0] for row in found]

    def unknown(self, urls: Mapping[int, str]) -> list[int]:
        if self._known is None:
            self._known = self._load_known()
        return self._known.unknown(urls)

    def showing(self, images: list[int]) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for image, page in self._session.read("SELECT image, page FROM shown WHERE image = ANY(%b::int8[])", images):
            found.setdefault(image, []).append(page)
        return found

    # ---- one page, several names; and what is held back

    def page_facts(self, ids: list[int]) -> dict[int, PageFacts]:
        query = """SELECT u.id, u.state, u.alias, coalesce(p.status, 0), coalesce(p.text_digest, ''),
            coalesce(p.simhash, 0), coalesce(p.language, '') FROM urls u LEFT JOIN pages p ON p.id = u.id
            WHERE u.id = ANY(%b::int8[])"""
        return {
            id: PageFacts(state, alias, status, bytes(digest), simhash, language)
            for id, state, alias, status, digest, simhash, language in self._session.read(query, ids)
        }

    def claims(self, ids: list[int]) -> list[tuple[int, int]]:
        query = "SELECT id, canonical FROM pages WHERE canonical <> 0 AND canonical = ANY(%b::int8[])"
        return [(row[0], row[1]) for row in self._session.read(query, ids)]
