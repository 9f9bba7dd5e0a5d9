"""What the server asks: the queue, what is due, what is known of a page; each answer from a few rows."""

import math
import random
from collections.abc import Collection, Mapping
from itertools import islice
from typing import Any

import msgspec

from sanderling.model import Before, Counts, Host, PageFacts, Seen, Task
from sanderling.repository import beliefs, rows
from sanderling.repository.sqlite.database import JOINS, Database
from sanderling.repository.sqlite.identities import Identities
from sanderling.repository.store import Waiting

HOSTS = f"SELECT {', '.join(rows.HOST_COLUMNS)} FROM hosts"
# As the index of revisits has it.
_VISITED = "state IN (3, 5) AND due > 0"


class Serving(Database):
    """The reading half of a store that the server needs."""

    _identities: Identities  # unless it is opened for reading

    def counts(self) -> Counts:
        return msgspec.json.decode(self._get("counts"), type=Counts)

    def seeds(self) -> list[str]:
        return msgspec.json.decode(self._get("seeds"), type=list[str])

    def homes(self) -> list[str]:
        return msgspec.json.decode(self._get("homes"), type=list[str])

    def noted(self, key: str) -> str:
        row = self._db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return str(row[0]) if row else ""

    def warcs(self) -> dict[str, int]:
        return dict(self._db.execute("SELECT name, bytes FROM warcs"))

    def host(self, id: int) -> Host | None:
        row = self._db.execute(f"{HOSTS} WHERE id = ?", (id,)).fetchone()
        return rows.host(row) if row else None

    def unknown(self, urls: Mapping[int, str]) -> list[int]:
        return self._identities.unknown(urls)

    # ---- the queue

    def depths(self) -> dict[int, int]:
        return dict(self._db.execute("SELECT depth, count(*) FROM urls WHERE state = 1 GROUP BY depth"))

    def waiting(self) -> list[Waiting]:
        queued = dict(self._db.execute("SELECT host, count(*) FROM urls WHERE state = 1 AND due = 0 GROUP BY host"))
        hosts = map(rows.host, self._db.execute(HOSTS))
        return [Waiting(host, queued[host.id]) for host in hosts if host.id in queued]

    def next_wake(self) -> float | None:
        row = self._db.execute("SELECT min(due) FROM urls WHERE state = 1 AND due > 0").fetchone()
        return None if row[0] is None else float(row[0])

    def take(
        self, host: int, count: int, leased: Collection[int], above: float = -math.inf, below: float = math.inf
    ) -> list[Task]:
        # Leased URLs are still marked queued (a lease is not worth a write), so they come up again: skip them.
        best = self._db.execute(
            """SELECT id, url, depth, attempts, hops, kind FROM urls WHERE state = 1 AND due = 0 AND host = ?
            AND rank >= ? AND rank < ? ORDER BY rank DESC LIMIT ?""",
            (host, above, below, count + len(leased)),
        )
        return list(islice((Task(*row) for row in best if row[0] not in leased), count))

    def ranks(self, most: int) -> list[float]:
        query = "SELECT rank FROM urls WHERE state = 1 AND due = 0"
        found = [row[0] for row in self._db.execute(f"{query} LIMIT ?", (most + 1,))]
        if len(found) <= most:
            return found
        # Rows that are not queued are read too: their number is bounded, and a queue that is such a small part of a
        # crawl gets a smaller sample.
        last = self._db.execute("SELECT max(number) FROM urls").fetchone()[0]
        sample: list[float] = []
        for _ in range(20):
            some = random.sample(range(1, last + 1), most)
            sample += [row[0] for row in self._in(f"{query} AND number IN", some)]
            if len(sample) >= most:
                break
        return sample or found

    # ---- visiting again

    def due(self, after: float, until: float) -> list[tuple[int, int]]:
        query = f"SELECT host, count(*) FROM urls WHERE {_VISITED} AND due > ? AND due <= ? GROUP BY host"
        return self._db.execute(query, (after, until)).fetchall()

    def next_due(self, after: float) -> float | None:
        row = self._db.execute(f"SELECT min(due) FROM urls WHERE {_VISITED} AND due > ?", (after,)).fetchone()
        return None if row[0] is None else float(row[0])

    def take_due(self, host: int, count: int, leased: Collection[int], now: float) -> list[Task]:
        first = self._db.execute(
            f"""SELECT id, url, depth, attempts, hops, kind, page FROM urls WHERE {_VISITED} AND host = ? AND due <= ?
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
        query = "SELECT number, status, etag, modified, digest FROM pages WHERE number IN"
        kept = {places[row[0]]: rows.validators(*row[1:]) for row in self._in(query, [*places])}
        return [rows.again(Task(*row[:-1]), kept) for row in found]

    def seen(self, ids: list[int]) -> dict[int, Seen]:
        query = beliefs.SEEN.format(urls=JOINS.urls)
        return {row[0]: beliefs.seen(row) for row in self._by_ids(f"{query} IN", ids)}

    def sitemaps(self) -> list[tuple[int, int, float, float]]:
        return self._db.execute(beliefs.SITEMAPS).fetchall()

    def excluded_for(self, reason: str) -> list[int]:
        return [row[0] for row in self._db.execute(f"{beliefs.EXCLUDED_FOR} ?", (reason,))]

    def trust(self) -> dict[int, bytes]:
        return dict(self._db.execute("SELECT host, learned FROM trust"))

    def before(self, ids: list[int]) -> dict[int, Before]:
        query = """SELECT u.id, p.parameters, p.noise, u.state, p.status, w.name, p.offset, p.length FROM urls u
            JOIN pages p ON p.number = u.page LEFT JOIN warcs w ON w.number = p.warc WHERE u.number IN"""
        return {row[0]: rows.before(row[1:]) for row in self._by_ids(query, ids)}

    # ---- one page, several names; and what is held back

    def page_facts(self, ids: list[int]) -> dict[int, PageFacts]:
        query = """SELECT u.id, u.state, u.alias, coalesce(p.status, 0), coalesce(p.text_digest, x''),
            coalesce(p.simhash, 0) FROM urls u LEFT JOIN pages p ON p.number = u.page WHERE u.number IN"""
        return {row[0]: PageFacts(*row[1:]) for row in self._by_ids(query, ids)}

    def claims(self, ids: list[int]) -> list[tuple[int, int]]:
        query = """SELECT u.id, p.canonical FROM pages p JOIN urls u ON u.number = p.url
            WHERE p.canonical != 0 AND p.canonical IN"""
        return list(dict.fromkeys((row[0], row[1]) for row in self._in(query, ids)))

    def held(self, host: int, reason: str, most: int) -> list[tuple[int, int]]:
        query = "SELECT id, depth FROM urls WHERE state = 0 AND host = ? AND reason = ? ORDER BY number LIMIT ?"
        return self._db.execute(query, (host, reason, most)).fetchall()

    def all_held(self, most: int) -> list[tuple[int, int, int, str]]:
        return self._db.execute("SELECT id, host, depth, reason FROM urls WHERE state = 0 LIMIT ?", (most,)).fetchall()

    def merged(self, host: int, reason: str, most: int) -> list[tuple[int, int]]:
        query = "SELECT id, depth FROM urls WHERE alias != 0 AND state = 6 AND host = ? AND reason = ? LIMIT ?"
        return self._db.execute(query, (host, reason, most)).fetchall()
