"""Simulates a site whose source of hints tells the truth for a while and then does not, and the
crawler that hears it.

There is one round a day with a fixed number of visits. Beliefs, plans and what visits teach are the
real ones. All cases of one seed have the same pages and the same changes, so a case can be compared
with the crawler that hears nothing.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sanderling.arrays import Floats
from sanderling.freshness import evidence, planning, trust
from sanderling.freshness.collection import COLUMNS, believe
from sanderling.freshness.sources import SOURCES, SourceRecord, hear, learn
from sanderling.freshness.worth import Objective

PAGES, VISITS = 150, 15
DAYS, TURN = 60, 30

_REPORT = SOURCES.index("report")

Pages = NDArray[np.bool_]
# What a source names on a day: (pages that changed, a random number for each page).
Named = Callable[[Pages, Floats], Pages]

NOTHING = "no source"
# What the source names after day TURN. Before it, it names just the pages that changed.
CASES: dict[str, Named | None] = {
    "tells the truth": lambda changed, dice: changed,
    "dies": None,
    "falls silent, and says that it is alive": lambda changed, dice: np.zeros_like(changed),
    "names other pages than those that changed": lambda changed, dice: ~changed & (dice < 0.15),
    "names some other pages": lambda changed, dice: ~changed & (dice < 0.03),
    "names all pages, every day": lambda changed, dice: np.ones_like(changed),
    "hides half of the changes": lambda changed, dice: changed & (dice < 0.5),
}
LIAR = "lies from the first day"


def freshness(case: str, seed: int) -> Floats:
    """Of each day: the share of fresh copies after its visits, and the number of visits."""
    rng = np.random.default_rng(seed)
    rates = np.clip(rng.lognormal(np.log(0.05), 1.2, PAGES), 0.001, 2)
    rows = np.zeros(PAGES, COLUMNS)
    rows["id"], rows["host"], rows["there"], rows["importance"], rows["size"] = (
        np.arange(PAGES) + 1,
        1,
        True,
        1.0,
        1000.0,
    )
    seen, stale, told = [evidence.NONE] * PAGES, np.zeros(PAGES, bool), rows["told"][:, _REPORT]
    record, days = SourceRecord(), []
    for day in map(float, range(1, DAYS + 1)):
        changed, dice = rng.random(PAGES) < 1 - np.exp(-rates), rng.random(PAGES)
        stale |= changed
        named = _named(case, day, changed, dice)
        if named is not None:
            told[named] = day - 0.01
            record = hear(record, day, int(named.sum()), day - 0.005, complete=True)
        rows["evidence"] = seen
        visits = _visits(rows, record, day)
        for page in visits:
            last, found = float(rows["at"][page]), bool(stale[page])
            called = record.is_heeded and told[page] > last and found
            if record.since:
                rate = evidence.rough_rate(seen[page], record.rate)
                record = learn(record, "report", float(told[page]), last, day, found, rate)
            seen[page] = evidence.observe(seen[page], day - last, [found] * 4, day - last if called else None)
            rows["since"][page], rows["at"][page], rows["kinds"][page], stale[page] = last, day, found, False
        days.append((1 - stale.mean(), len(visits)))
    return np.array(days).T


def _named(case: str, day: float, changed: Pages, dice: Floats) -> Pages | None:
    if case == NOTHING:
        return None
    if case == LIAR:
        return ~changed & (dice < 0.15)
    names = CASES[case]
    if day <= TURN:
        return changed
    return names(changed, dice) if names is not None else None


def _visits(rows: NDArray[np.void], record: SourceRecord, day: float) -> list[int]:
    """What a heeded source called for, and then the plan, as far as the budget reaches."""
    hosts = {1: trust.Trust(sources={"report": record})} if record.since else {}
    known = believe(rows, hosts, day)
    planned = planning.choose("optimal", Objective.FRESHNESS, rows, known, np.ones(len(rows)), VISITS, day)
    called = np.flatnonzero(rows["told"][:, _REPORT] > rows["at"])[: int(min(record.allowance, len(rows)))]
    return list(dict.fromkeys([*(called.tolist() if record.is_heeded else ()), *planned.tolist()]))[:VISITS]
