"""The update module at scale: a million pages scheduled, solved and chosen from, and a long history replayed.

`python -m bench.freshness` prints what each takes; nothing is fetched.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from sanderling.freshness.memory import Memory
from sanderling.freshness.schedule import Schedule
from sanderling.freshness.simulation.pickers import PICKERS
from sanderling.freshness.simulation.replay import replay
from sanderling.freshness.simulation.synthetic import commits

PAGES = 1_000_000
HOSTS = 5_000


def timed(name: str, job: Callable[[], object], times: int = 1) -> None:
    """The best of several runs: others may share the machine."""
    best = float("inf")
    for _ in range(times):
        start = time.perf_counter()
        job()
        best = min(best, time.perf_counter() - start)
    print(f"{name:58s} {best * 1000:10.1f} ms")


def main() -> None:
    rng = np.random.default_rng(0)
    schedule = Schedule(PAGES, origin=0.0)
    known = (
        rng.uniform(0, 30, PAGES),
        rng.normal(-4, 1.5, PAGES),
        rng.uniform(0, 2, PAGES),
        rng.pareto(1.5, PAGES) + 0.1,
    )
    host = rng.integers(0, HOSTS, PAGES)
    timed("a million pages told to the schedule", lambda: schedule.set_pages(slice(None), *known, host=host))
    print(f"{'scheduling state':58s} {schedule.nbytes / PAGES:10.1f} bytes a page")
    timed("threshold solved for 50,000 visits a day", lambda: schedule.resolve(50_000.0), 3)
    caps = np.where(np.arange(HOSTS) % 10 == 0, 3.0, np.inf)
    timed("the same, a tenth of 5,000 hosts held to 3 visits a day", lambda: schedule.resolve(50_000.0, caps), 2)
    schedule.resolve(50_000.0)
    timed("next 1,000 visits chosen", lambda: schedule.next_visits(1000), 10)
    timed("next 1,000 visits chosen, at most 4 of a host", lambda: schedule.next_visits(1000, per_host=4), 10)

    memory = Memory(20.0, 0.0)
    memory.extend(f"http://site/d{k % 20}/p{k}.html" for k in range(2000))
    for page in range(2000):
        memory.first_visit(page, 0.0)

    def learn() -> None:
        now = memory.last.max() + 20.0
        for page in range(2000):
            memory.observe(page, now + page / 100, page % 3 == 0)

    timed("2,000 visits learned from", learn, 3)

    pages = commits(1, pages=900, days=3285)
    print(
        f"\n{len(pages)} pages, nine years, {sum(len(p.changes) for p in pages):,} changes, 0.05 visits a page a day:"
    )
    for policy in PICKERS:
        timed(f"replay under {policy}", lambda policy=policy: replay(pages, policy, 0.05))  # type: ignore[misc]


if __name__ == "__main__":
    main()
