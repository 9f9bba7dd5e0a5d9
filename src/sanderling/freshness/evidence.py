"""What visits have said about a page, in four numbers for each kind of change, updated in microseconds.

The likelihood of a rate after visits that each found "changed" or "unchanged since the last one" is
`-rate * quiet + sum log(1 - e^(-rate * t))` over the changed intervals t. Four numbers give it for every rate: the
time that was `quiet`, how many `changes` were found and the sum of the logarithms of their intervals (which stands
for the intervals: exact when they are alike), and how many changes were `dated` by a date that can be trusted. All
of them fade, so that what a page did years ago does not decide when it is visited next week.

This runs in the server at every visit, so it does without numpy; `belief.likelihood` reads the numbers of many pages at once.
"""

import math
import struct
from collections.abc import Sequence

# Days in which evidence fades to 1/e. Measured on page histories: 300 to 1000 are alike, none at all is worse.
MEMORY = 500.0
# Kinds of changes with a rate of their own: any that counts, and three by what changed.
KINDS = ("any", "text", "structure", "image")
_NUMBERS = 4  # quiet, changes, sum of the logarithms of the changed intervals, dated changes
_LAYOUT = struct.Struct(f"<{len(KINDS) * _NUMBERS}f")
NONE = _LAYOUT.pack(*[0.0] * len(KINDS) * _NUMBERS)
SIZE = _LAYOUT.size


def observe(packed: bytes, elapsed: float, changed: Sequence[bool], quiet: float | None = None) -> bytes:
    """Evidence after one more visit, `elapsed` after the one before; `changed` for each of KINDS.

    A trusted date says how long before the visit the last change was: `quiet`. Whoever comes because he was called,
    finds a change every time, and must not take that for a sign of a high rate: then one change was seen in all
    the time since the last visit.
    """
    if elapsed <= 0:  # a clock that jumped back: the visit says nothing about rates
        return packed or NONE
    numbers = list(_LAYOUT.unpack(packed if len(packed) == SIZE else NONE))
    fade = math.exp(-elapsed / MEMORY)
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
