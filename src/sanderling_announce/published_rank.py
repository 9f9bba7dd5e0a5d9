"""The published rank of a page: how often it changes, and how close it is to the main page. Each
counts one half.

    rank = Fn + L,   Fn = 1/2 (F - Fmin) / (Fmax - Fmin)

F is how often the page changed, compared with the pages of its site. L is 0.5 for the main page and
the pages it links to. All others get 0.4 to 0.1, by the depth at which they lie: the depths are cut
into sqrt((length - 1) / 2) bands of equal width, where the length is the greatest depth. There are
at least one and at most four bands.
"""

from __future__ import annotations

import math

CLOSEST = 0.5


def normalized(frequency: float, least: float, most: float) -> float:
    """Fn, 0 to 0.5; 0 when all pages changed equally often."""
    if most <= least:
        return 0.0
    return 0.5 * min(max((frequency - least) / (most - least), 0.0), 1.0)


def bands(length: int) -> int:
    return min(4, max(1, round(math.sqrt(max(length - 1, 0) / 2))))


def level(depth: int, length: int) -> float:
    """L of a page that the main page does not link to. It lies at depth 2 at least."""
    count = bands(length)
    width = max(length - 1, 1) / count
    band = min(int((max(depth, 2) - 2) / width), count - 1)
    return round(0.4 - 0.1 * band, 1)
