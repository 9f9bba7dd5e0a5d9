"""When the next digest is due."""

from datetime import datetime, timedelta

_DAYS = {"daily": 1, "weekly": 7}


def due(when: str, since: float, now: float) -> float:
    """The time of the first delivery after `since`, the last one: `since` itself if each change is
    told at once. A clock that was set back delays none for longer than its period."""
    since = min(since, now)
    kind, _, at = when.partition(" ")
    if kind == "hourly":
        return since + 3600.0
    if kind not in _DAYS:
        return since
    if not at:
        return since + _DAYS[kind] * 86400.0
    hour, _, minute = at.partition(":")
    last = datetime.fromtimestamp(since)  # the user's own time of day
    first = last.replace(hour=int(hour), minute=int(minute), second=0, microsecond=0)
    if first <= last:
        first += timedelta(days=1)
    return (first + timedelta(days=_DAYS[kind] - 1)).timestamp()
