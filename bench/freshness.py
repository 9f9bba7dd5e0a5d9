"""Measures `freshness` at scale: a schedule for a million pages, a choice among them, and the
replay of a long history.

`python -m bench.freshness` prints the CPU time that each takes; nothing is fetched.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from lab.simulation.pickers import PICKERS
from lab.simulation.replay import replay
from lab.simulation.synthetic import commits
from sanderling.freshness import evidence, planning
from sanderling.freshness.choosing import PlannedTimes
from sanderling.freshness.collection import COLUMNS, believe
from sanderling.freshness.worth import Objective

PAGES = 1_000_000
HOSTS = 5_000


def timed(name: str, job: Callable[[], object], times: int = 1) -> None:
    """The fastest of several runs, by CPU time, because others may use the machine."""
    best = float("inf")
    for _ in range(times):
        start = time.process_time()
        job()
        best = min(best, time.process_time() - start)
    print(f"{name:58s} {best * 1000:10.1f} ms")


def main() -> None:
    rng = np.random.default_rng(0)
    rows = np.zeros(PAGES, COLUMNS)
    rows["id"], rows["there"], rows["at"] = np.arange(PAGES), True, rng.uniform(0, 30, PAGES)
    rows["importance"], rows["host"] = rng.pareto(1.5, PAGES) + 0.1, rng.integers(0, HOSTS, PAGES)
    rows["folder"] = rows["pattern"] = rows["host"] * 10 + rng.integers(0, 10, PAGES)
    seen = evidence.NONE
    for changed in (True, False, False):
        seen = evidence.observe(seen, 3.0, [changed] * 4)
    rows["evidence"][::4], rows["since"][::4] = seen, np.maximum(rows["at"][::4] - 10, 0.01)
    timed("a million pages believed, a quarter of them visited again", lambda: believe(rows, {}, 31.0))
    known, cost, host = believe(rows, {}, 31.0), np.ones(PAGES), rows["host"].astype(np.intp)
    caps = np.where(np.arange(HOSTS) % 10 == 0, 3.0, np.inf)

    def solve(caps: object) -> PlannedTimes:
        return planning.schedule("optimal", Objective.FRESHNESS, rows, known, cost, 50_000.0, 31.0, host, caps)  # type: ignore[arg-type]

    timed("threshold solved for 50,000 visits a day", lambda: solve(np.inf), 2)
    timed("the same, a tenth of 5,000 hosts held to 3 visits a day", lambda: solve(caps), 2)
    due = solve(np.inf).due
    timed("next 1,000 visits chosen by due times", lambda: np.argpartition(due, 1000)[:1000], 5)

    def choose() -> None:
        planning.choose("optimal", Objective.FRESHNESS, rows, known, cost, 1000, 31.0)

    timed("1,000 visits chosen by what they are worth now", choose, 5)
    timed("100,000 visits observed", lambda: [evidence.observe(seen, 3.0, [False] * 4) for _ in range(100_000)])

    pages = commits(1, pages=900, days=3285)
    print(
        f"\n{len(pages)} pages, nine years, {sum(len(p.changes) for p in pages):,} changes, 0.05 visits a page a day:"
    )
    for policy in PICKERS:
        timed(f"replay under {policy}", lambda policy=policy: replay(pages, policy, 0.05))  # type: ignore[misc]


if __name__ == "__main__":
    main()
