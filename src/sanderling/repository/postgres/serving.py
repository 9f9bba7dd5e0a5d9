"""What the server asks: the queue, what is due, what is known of a page; each answer from a few rows."""

import math
import random
from collections.abc import Collection, Mapping
from itertools import islice

import msgspec

from sanderling.model import Before, Counts, Host, PageFacts, Seen, Task
from sanderling.repository import beliefs, rows
from sanderling.repository.known import KnownUrls
from sanderling.repository.postgres.database import JOINS, Database, quoted
from sanderling.repository.store import Waiting

HOSTS = f"SELECT {', '.join(map(quoted, rows.HOST_COLUMNS))} FROM hosts"
# As the index of revisits has it.
_VISITED = "state IN (3, 5) AND due > 0"


class Serving(Database):
    """The reading half of a store that the server needs."""

    def counts(self) -> Counts:
        return msgspec.json.decode(self._get("counts"), type=Counts)

    def seeds(self) -> list[str]:
        return msgspec.json.decode(self._get("seeds"), type=list[str])

    def homes(self) -> list[str]:
        return msgspec.json.decode(self._get("homes"), type=list[str])

    def depths(self) -> dict[int, int]:
        return {
            row[0]: row[1]
            for row in self._session.read("SELECT depth, count(*) FROM urls WHERE state = 1 GROUP BY depth")
        }

    def waiting(self) -> list[Waiting]:
        queued = {
            row[0]: row[1]
            for row in self._session.read("SELECT host, count(*) FROM urls WHERE state = 1 AND due = 0 GROUP BY host")
        }
        hosts = map(rows.host, self._session.read(HOSTS))
        return [Waiting(host, queued[host.id]) for host in hosts if host.id in queued]

    def next_wake(self) -> float | None:
        due: float | None = self._session.read("SELECT min(due) FROM urls WHERE state = 1 AND due > 0")[0][0]
        return due

    def take(
        self, host: int, count: int, leased: Collection[int], above: float = -math.inf, below: float = math.inf
    ) -> list[Task]:
        # Leased URLs are still marked queued (a lease is not worth a write), so they come up again: skip them.
        best = self._session.read(
            """SELECT id, url, depth, attempts, hops, kind FROM urls WHERE state = 1 AND due = 0 AND host = %s
            AND rank >= %s AND rank < %s ORDER BY rank DESC, number LIMIT %s""",
            host, above, below, count + len(leased),
        )  # fmt: skip
        return list(islice((Task(*row) for row in best if row[0] not in leased), count))

    def due(self, after: float, until: float) -> list[tuple[int, int]]:
        query = f"SELECT host, count(*) FROM urls WHERE {_VISITED} AND due > %s AND due <= %s GROUP BY host"
        return [(row[0], row[1]) for row in self._session.read(query, after, until)]

    def next_due(self, after: float) -> float | None:
        due: float | None = self._session.read(f"SELECT min(due) FROM urls WHERE {_VISITED} AND due > %s", after)[0][0]
        return due

    def take_due(self, host: int, count: int, leased: Collection[int], now: float) -> list[Task]:
        first = self._session.read(
            f"""SELECT id, url, depth, attempts, hops, kind FROM urls WHERE {_VISITED} AND host = %s AND due <= %s
            ORDER BY due LIMIT %s""",
            host, now, count + len(leased),
        )  # fmt: skip
        return self._with_validators(list(islice((Task(*row) for row in first if row[0] not in leased), count)))

    def tasks(self, ids: list[int]) -> list[Task]:
        query = "SELECT id, url, depth, attempts, hops, kind FROM urls WHERE id = ANY(%b::int8[])"
        found = {row[0]: Task(*row) for row in self._session.read(query, ids)}
        return self._with_validators([found[id] for id in ids if id in found])

    def _with_validators(self, tasks: list[Task]) -> list[Task]:
        query = "SELECT id, status, etag, modified, digest FROM pages WHERE id = ANY(%b::int8[])"
        kept = {row[0]: rows.validators(*row[1:]) for row in self._session.read(query, [task.id for task in tasks])}
        return [rows.again(task, kept) for task in tasks]

    def seen(self, ids: list[int]) -> dict[int, Seen]:
        query = f"{beliefs.SEEN.format(urls=JOINS.urls)} = ANY(%b::int8[])"
        return {row[0]: beliefs.seen(row) for row in self._session.read(query, [*self.numbers(ids).values()])}

    def sitemaps(self) -> list[tuple[int, int, float, float]]:
        return [(row[0], row[1], row[2], row[3]) for row in self._session.read(beliefs.SITEMAPS)]

    def excluded_for(self, reason: str) -> list[int]:
        return [row[0] for row in self._session.read(f"{beliefs.EXCLUDED_FOR} %s", reason)]

    def trust(self) -> dict[int, bytes]:
        return {row[0]: bytes(row[1]) for row in self._session.read("SELECT host, learned FROM trust")}

    def before(self, ids: list[int]) -> dict[int, Before]:
        query = """SELECT p.id, p.parameters, p.noise, u.state, p.status, w.name, p."offset", p.length FROM pages p
            JOIN urls u ON u.id = p.id LEFT JOIN warcs w ON w.number = p.warc WHERE p.id = ANY(%b::int8[])"""
        return {row[0]: rows.before(row[1:]) for row in self._session.read(query, ids)}

    def ranks(self, most: int) -> list[float]:
        found = self._session.read("SELECT rank FROM urls WHERE state = 1 AND due = 0 LIMIT %s", most + 1)
        if len(found) > most:
            # Ids are hashes, so neighbours by id have nothing else in common. Rows that are not queued are read too:
            # their number is bounded, and a queue that is such a small part of a crawl gets a smaller sample.
            sample = """SELECT rank FROM (SELECT rank, state, due FROM urls WHERE id >= %s ORDER BY id LIMIT %s) AS sample
                WHERE state = 1 AND due = 0 LIMIT %s"""
            start = random.getrandbits(63) - (1 << 63)  # the lower half, so that there are as many above it
            found = self._session.read(sample, start, most * 20, most) or found
        return [row[0] for row in found]

    def unknown(self, urls: Mapping[int, str]) -> list[int]:
        if self._known is None:
            self._known = KnownUrls((0, row[0], row[1]) for row in self._session.stream("SELECT id, url FROM urls"))
        return self._known.unknown(urls)

    def host(self, id: int) -> Host | None:
        found = self._session.read(f"{HOSTS} WHERE id = %s", id)
        return rows.host(found[0]) if found else None

    def warcs(self) -> dict[str, int]:
        return {row[0]: row[1] for row in self._session.read("SELECT name, bytes FROM warcs")}

    # ---- one page, several names; and what is held back

    def page_facts(self, ids: list[int]) -> dict[int, PageFacts]:
        query = """SELECT u.id, u.state, u.alias, coalesce(p.status, 0), coalesce(p.text_digest, ''),
            coalesce(p.simhash, 0) FROM urls u LEFT JOIN pages p ON p.id = u.id WHERE u.id = ANY(%b::int8[])"""
        return {
            row[0]: PageFacts(row[1], row[2], row[3], bytes(row[4]), row[5]) for row in self._session.read(query, ids)
        }

    def claims(self, ids: list[int]) -> list[tuple[int, int]]:
        query = "SELECT id, canonical FROM pages WHERE canonical <> 0 AND canonical = ANY(%b::int8[])"
        return [(row[0], row[1]) for row in self._session.read(query, ids)]

    def held(self, host: int, reason: str, most: int) -> list[tuple[int, int]]:
        query = "SELECT id, depth FROM urls WHERE state = 0 AND host = %s AND reason = %s ORDER BY number LIMIT %s"
        return [(row[0], row[1]) for row in self._session.read(query, host, reason, most)]

    def all_held(self, most: int) -> list[tuple[int, int, int, str]]:
        query = "SELECT id, host, depth, reason FROM urls WHERE state = 0 LIMIT %s"
        return [(row[0], row[1], row[2], row[3]) for row in self._session.read(query, most)]

    def merged(self, host: int, reason: str, most: int) -> list[tuple[int, int]]:
        query = "SELECT id, depth FROM urls WHERE alias <> 0 AND state = 6 AND host = %s AND reason = %s LIMIT %s"
        return [(row[0], row[1]) for row in self._session.read(query, host, reason, most)]
