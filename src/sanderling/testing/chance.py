"""Pseudo-random numbers that are pure functions of a key.

The synthetic web stores nothing for each page. Every number is computed again from the key of the
page.
"""

import math
from bisect import bisect
from hashlib import shake_128
from itertools import accumulate
from statistics import NormalDist
from struct import unpack

MASK = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15
EVENTS_PER_CELL = 8
MOST_EVENTS = 40

_POISSON = list(
    accumulate(math.exp(-EVENTS_PER_CELL) * EVENTS_PER_CELL**k / math.factorial(k) for k in range(MOST_EVENTS))
)
_NORMAL = NormalDist()


def scramble(x: int) -> int:
    """A 64-bit number from a 64-bit number (the finaliser of splitmix64), for 0.4 us."""
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & MASK
    return x ^ (x >> 31)


def draw(key: int, purpose: int) -> int:
    """One of many independent 64-bit numbers that belong to a key."""
    return scramble((key + purpose * GOLDEN) & MASK)


def fraction(key: int, purpose: int) -> float:
    """Uniform in [0, 1)."""
    return (draw(key, purpose) >> 11) * 2.0**-53


def lognormal(key: int, purpose: int, spread: float) -> float:
    """A log-normal number with mean 1."""
    if spread == 0:
        return 1.0
    u = (fraction(key, purpose) + 2.0**-54) * (1 - 2.0**-53)
    return math.exp(spread * _NORMAL.inv_cdf(u) - spread * spread / 2)


def shorts(key: int, count: int) -> tuple[int, ...]:
    """`count` 16-bit numbers at once, for choosing sentences."""
    return unpack(f"<{count}H", shake_128(key.to_bytes(8, "little")).digest(2 * count))


def longs(key: int, count: int) -> tuple[int, ...]:
    """`count` 64-bit numbers at once."""
    return unpack(f"<{count}Q", shake_128(key.to_bytes(8, "little")).digest(8 * count))


def events_in_cell(key: int, cell: int) -> list[tuple[float, int]]:
    """The events of one cell of a Poisson process, as (position in the cell from 0 to 1, 64-bit
    number), in order.

    Each cell first gets a Poisson number of events, then random positions for them. This is an
    exact Poisson process, and any time can be looked up without computing all events before it.
    """
    raw = shake_128((key ^ scramble(cell + 1)).to_bytes(8, "little")).digest(8 * (MOST_EVENTS + 1))
    numbers = unpack(f"<{MOST_EVENTS + 1}Q", raw)
    count = min(bisect(_POISSON, numbers[MOST_EVENTS] / 2.0**64), MOST_EVENTS)
    return sorted(((n >> 11) * 2.0**-53, scramble(n)) for n in numbers[:count])
