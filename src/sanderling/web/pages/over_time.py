"""The chart of changes over time."""

import time
from collections import Counter
from collections.abc import Sequence

from sanderling.clock import DAY
from sanderling.model import ChangeKind
from sanderling.web.pages import plots

_HOUR = 3600.0
_BARS = 30


def changes_over_time(found: Sequence[tuple[float, int]], now: float) -> plots.Drawing | None:
    """A bar for each hour, day or week, whichever shows all of the changes in about thirty bars.
    None if there are none."""
    if not found:
        return None
    span = now - min(at for at, _ in found)
    unit = next((unit for unit in (_HOUR, DAY) if span < _BARS * unit), 7 * DAY)
    begin = _begin(now, unit) - (_BARS - 1) * unit
    places = Counter(int((at - begin) // unit) for at, _ in found if at >= begin)
    classes = [(_named(begin + place * unit, unit), places[place]) for place in range(_BARS)]
    kinds = Counter(
        "new" if each & ChangeKind.NEW else "gone" if each & ChangeKind.GONE else "changed" for _, each in found
    )
    counted = ", ".join(f"{count:,} {name}" for name, count in kinds.most_common())
    name = {_HOUR: "hour", DAY: "day"}.get(unit, "week")
    drawn = plots.histogram(classes, f"Changes in each {name}: {counted}")
    return drawn._replace(columns=drawn.columns[:: _BARS // 5])


def _begin(now: float, unit: float) -> float:
    """The begin of the current hour or day, in local time; weeks end today."""
    local = time.localtime(now)
    if unit == _HOUR:
        return now - local.tm_min * 60 - local.tm_sec
    midnight = now - local.tm_hour * _HOUR - local.tm_min * 60 - local.tm_sec
    return midnight if unit == DAY else midnight - 6 * DAY


def _named(at: float, unit: float) -> str:
    return time.strftime("%H:00" if unit == _HOUR else "%d %b", time.localtime(at))
