"""The pages of a simulated site, as the planner of a refresh sees them. What is believed and what
is visited is decided by the code that ships: `freshness.collection` and `freshness.planning`."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sanderling.arrays import Floats
from sanderling.freshness import evidence, planning
from sanderling.freshness.adaptive import NUTCH_FIRST, nutch_interval
from sanderling.freshness.collection import COLUMNS, Believed, believe
from sanderling.freshness.url_groups import url_folder, url_pattern
from sanderling.freshness.worth import Objective
from sanderling.model import ChangeKind
from sanderling.urls import identity

# The limits of the policies that have one, as `sanderling refresh` sets them.
THRESHOLD, LEVELS = 0.5, 2
# Policies that do not look at beliefs: none are computed for them, to save most of the time.
_BLIND = ("uniform", "nutch", "top-levels")


class PlannedPages:
    """Times are in days. A page is known from its first visit on."""

    def __init__(self, urls: Sequence[str], depths: ArrayLike, weights: Floats | None = None) -> None:
        """`weights` are used instead of the importance of the pages."""
        self._weights = weights
        self.rows = np.zeros(len(urls), COLUMNS)
        self.rows["host"], self.rows["there"], self.rows["importance"] = 1, True, np.nan
        self.rows["depth"] = depths
        self.rows["pattern"] = [identity(url_pattern(url)) for url in urls]
        self.rows["folder"] = [identity(url_folder(url)) for url in urls]
        self.known = np.zeros(len(urls), bool)

    def first_visit(self, page: int | slice, now: float) -> None:
        self.rows["at"][page], self.known[page] = now, True

    def visit(self, page: int, changed: bool, now: float) -> None:
        """A later visit, and whether it found a change."""
        row = self.rows[page]
        packed = bytes(row["evidence"]).ljust(evidence.SIZE, b"\0")  # numpy drops zero bytes at the end
        row["evidence"] = evidence.observe(packed, now - float(row["at"]), [changed] * len(evidence.KINDS))
        row["since"], row["kinds"] = row["at"], ChangeKind.TEXT if changed else 0
        row["interval"] = nutch_interval(float(row["interval"]) or NUTCH_FIRST, changed)
        row["at"] = now

    def believed(self, now: float) -> Believed:
        """The beliefs about the known pages."""
        return believe(self.rows[self.known], {}, now)

    def choose(
        self,
        policy: str,
        amount: float,
        now: float,
        known: Believed | None = None,
        alive: NDArray[np.bool_] | bool = True,
        objective: Objective = Objective.FRESHNESS,
    ) -> NDArray[np.intp]:
        """What a refresh with a budget of `amount` visits would choose, the best first. `known` are
        the beliefs about the known pages, if they were computed before."""
        pages = np.flatnonzero(self.known)
        rows = self.rows[pages]
        if known is None:
            known = _nothing_believed(len(rows)) if policy in _BLIND else believe(rows, {}, now)
        if self._weights is not None:
            known = known._replace(weight=self._weights[pages])
        inside = planning.inside_of(policy, rows, THRESHOLD, LEVELS) & np.broadcast_to(alive, len(self.rows))[pages]
        cost = np.ones(len(rows))
        chosen = planning.choose(policy, objective, rows, known, cost, amount, now, inside)
        return np.asarray(pages[chosen])


def _nothing_believed(pages: int) -> Believed:
    none = np.full(pages, np.nan)
    return Believed(none, none, none, none, none, none, none)
