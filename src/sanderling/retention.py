"""How long versions of a page are kept: the setting `keep`.

- `all` keeps each version.
- `30d` (or `12h`) keeps what a page has been within that time. A version counts until the next one
  came.
- `100 versions` keeps so many of each page.
- `thin` keeps all versions of a week, then one a day, one a week, and one in four weeks.

The last version of a page is always kept.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from sanderling.clock import DAY

ALL = "all"
EXAMPLES = (ALL, "30d", "100 versions", "thin")
EXPECTED = "all, thin, an age such as 30d or 12h, or a number such as '100 versions'"
_AGE, _COUNT = re.compile(r"(\d{1,6})\s*([hd])"), re.compile(r"(\d{1,9})\s+versions?")
_UNITS = {"h": 3600.0, "d": DAY}
# Up to an age, one version in this many seconds; 0 for all of them. Each span divides the next, so
# that what is the last version of a span is the last of one of its parts, too.
_THIN = ((7 * DAY, 0.0), (90 * DAY, DAY), (730 * DAY, 7 * DAY), (float("inf"), 28 * DAY))


class Keep(NamedTuple):
    """A rule of retention."""

    age: float = float("inf")
    versions: int = 0  # 0 for any number
    thin: bool = False

    @property
    def everything(self) -> bool:
        return self == Keep()


def read_keep(text: str) -> Keep:
    """Raises ValueError for what is no rule."""
    text = text.strip()
    if text in ("", ALL):
        return Keep()
    if text == "thin":
        return Keep(thin=True)
    if (found := _AGE.fullmatch(text)) and int(found[1]):
        return Keep(age=int(found[1]) * _UNITS[found[2]])
    if (found := _COUNT.fullmatch(text)) and int(found[1]):
        return Keep(versions=int(found[1]))
    raise ValueError(f"keep must be {EXPECTED}")


def expendable(times: Sequence[float], keep: Keep, now: float) -> list[int]:
    """Which versions of a page are not kept, by the times at which they came, the oldest first."""
    if keep.everything or len(times) < 2:
        return []
    if keep.versions:
        return list(range(max(0, len(times) - keep.versions)))
    if not keep.thin:
        return [n for n, until in enumerate(times[1:]) if until < now - keep.age]
    taken, found = set[tuple[float, int]](), []
    for n in range(len(times) - 1, -1, -1):
        span = next(each for age, each in _THIN if now - times[n] < age)
        place = (span, int(times[n] // span)) if span else (0.0, n)
        if place in taken:
            found.append(n)
        taken.add(place)
    return found[::-1]
