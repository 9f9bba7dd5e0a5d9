"""The evidence of a page's visits: four numbers for each kind of change, updated in microseconds.

Each visit found "changed" or "unchanged since the last visit". The log-likelihood of a rate is then
`-rate * quiet + sum log(1 - e^(-rate * t))` over the intervals t with a change. Four numbers
approximate it for every rate: the `quiet` time without changes, the number of `changes`, the sum of
the logarithms of their intervals (exact if all are equally long), and the number of changes that
were `dated` by a trusted date. All of them fade, so that old observations count less and less.

This runs in the server at every visit, so it does not use numpy. `belief.log_likelihood` reads the
numbers of many pages at once.
"""

import math
import struct
from collections.abc import Sequence

# Days in which evidence fades to 1/e. On page histories, 300 to 1000 give equal freshness; without
# fading it is lower.
MEMORY = 500.0
# What is known of a page that rarely changes fades more slowly: in the time of this many of its
# changes. Otherwise every release of a documentation found pages about which nothing was known any
# more (docs/lab.md).
CHANGES_KEPT = 7.0
# Kinds of changes that have a rate of their own: any change that counts, and three by what changed.
KINDS = ("any", "text", "structure", "image")
_NUMBERS = 4  # quiet, changes, sum of the logarithms of the changed intervals, dated changes
_LAYOUT = struct.Struct(f"<{len(KINDS) * _NUMBERS}f")
_USUAL_DAYS = 5.0
NONE = _LAYOUT.pack(*[0.0] * len(KINDS) * _NUMBERS)
SIZE = _LAYOUT.size


def rough_rate(packed: bytes, usual: float) -> float:
    """Changes a day by the visits of one page; `usual` is the rate of others, which counts as a few
    days of it."""
    quiet, changes, logs, dated = _LAYOUT.unpack_from(packed)[:_NUMBERS] if len(packed) >= SIZE else (0.0,) * _NUMBERS
    return (changes + dated + usual * _USUAL_DAYS) / (_days(quiet, changes, logs) + _USUAL_DAYS)


def observe(packed: bytes, elapsed: float, changed: Sequence[bool], quiet: float | None = None) -> bytes:
    """Evidence after one more visit, `elapsed` days after the last one. `changed` has a value for
    each of KINDS.

    `quiet` is the time from the last change to the visit, if a trusted date gives it. A visit that
    was made because of an announcement finds a change every time, which must not look like a high
    rate. Such a visit passes all of `elapsed` as `quiet`, so that it counts as one change in all
    that time.
    """
    if elapsed <= 0:  # the clock jumped back, so the visit says nothing about rates
        return packed[:SIZE] or NONE
    numbers = list(_LAYOUT.unpack_from(packed if len(packed) >= SIZE else NONE))
    fade = math.exp(-elapsed / _memory(*numbers[:_NUMBERS]))
    for kind, found in enumerate(changed):
        at = kind * _NUMBERS
        for n in range(at, at + _NUMBERS):
            numbers[n] *= fade
        if not found:
            numbers[at] += elapsed
        elif quiet is None:
            numbers[at + 1] += 1
            numbers[at + 2] += math.log(elapsed)
        else:
            numbers[at] += min(max(quiet, 0.0), elapsed)
            numbers[at + 3] += 1
    return _LAYOUT.pack(*numbers)


def _memory(quiet: float, changes: float, logs: float, dated: float) -> float:
    return max(MEMORY, CHANGES_KEPT * _days(quiet, changes, logs) / (1 + changes + dated))


def _days(quiet: float, changes: float, logs: float) -> float:
    """For how long the page was watched."""
    return quiet + (changes * math.exp(logs / changes) if changes > 0 else 0.0)
