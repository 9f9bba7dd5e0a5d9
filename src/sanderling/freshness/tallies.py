"""How many visits to a page found a change, counted in periods of thirty days.

Evidence fades and forgets when a visit was. These counts do not, so that a rate can be estimated
from the visits of the last months alone, as the published estimators do. They follow the evidence
of the page in the same bytes. A period more than half a year old is dropped.

Like `evidence`, `counted` runs in the server at every visit and does not use numpy.
"""

import struct
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sanderling.arrays import Floats
from sanderling.freshness.evidence import SIZE

PERIOD = 30.0  # days
PERIODS = 7  # six whole ones, and the one that is not over
LONGEST = PERIOD * (PERIODS - 1)
_MOST = 65_535
# When the counts begin, the number of the newest period, then visits and changes of each period,
# the newest first.
_LAYOUT = struct.Struct(f"<dH{2 * PERIODS}H")
_ROWS = np.dtype([("begin", "<f8"), ("newest", "<u2"), ("visits", "<u2", PERIODS), ("changes", "<u2", PERIODS)])


class VisitCounts(NamedTuple):
    """Of each page: visits to it when it was known, how many found a change, and the days in which
    they were made. All are 0 for a page that was visited once."""

    visits: Floats
    changes: Floats
    days: Floats

    @property
    def interval(self) -> Floats:
        """The mean days between two visits."""
        return np.asarray(self.days / np.maximum(self.visits, 1.0))

    def of(self, pages: NDArray[np.intp]) -> "VisitCounts":
        """Those of some pages, added up."""
        return VisitCounts(*(np.atleast_1d(each[pages].sum()) for each in self))


def counted(packed: bytes, at: float, elapsed: float, changed: bool) -> bytes:
    """The counts after one more visit at `at`, `elapsed` days after the last one. `packed` is the
    evidence with the counts so far."""
    tally = packed[SIZE:]
    if elapsed <= 0:  # the clock jumped back
        return tally
    now = int(at // PERIOD)
    known = _LAYOUT.unpack(tally) if len(tally) == _LAYOUT.size else (at - elapsed, now, *_NONE)
    begin, newest, counts = float(known[0]), int(known[1]), [int(each) for each in known[2:]]
    passed = min(max(now - newest, 0), PERIODS)
    new = [0] * passed
    visits, changes = new + counts[: PERIODS - passed], new + counts[PERIODS : 2 * PERIODS - passed]
    visits[0] = min(visits[0] + 1, _MOST)
    changes[0] = min(changes[0] + changed, _MOST)
    return _LAYOUT.pack(begin, max(now, newest), *visits, *changes)


_NONE = (0,) * (2 * PERIODS)


def read(packed: Sequence[bytes], at: Floats, since: float) -> VisitCounts:
    """The counts of pages since a day, rounded to whole periods. `at` is the last visit of each."""
    rows = np.zeros(len(packed), _ROWS)
    there = np.array([len(each) == SIZE + _LAYOUT.size for each in packed], bool)
    rows[there] = np.frombuffer(b"".join(each[SIZE:] for each in packed if len(each) == SIZE + _LAYOUT.size), _ROWS)
    period = rows["newest"].astype(np.int64)[:, None] - np.arange(PERIODS)
    inside = (period + 1) * PERIOD > since
    visits, changes = ((rows[name] * inside).sum(axis=1).astype(np.float64) for name in ("visits", "changes"))
    oldest = np.where(inside, period, period[:, :1] + 1).min(axis=1) * PERIOD
    days = np.where(visits > 0, np.asarray(at) - np.maximum(rows["begin"], oldest), 0.0)
    return VisitCounts(visits, changes, np.maximum(days, 0.0))
