"""Whether a page differs only because time has passed between two visits: ages without "ago", such
as those in a column called Age, times until something ends, and clocks.

Such a number is known by what it does. It has grown or fallen by as much as the time between the
visits, or it shows the time of both visits.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

_MINUTE, _HOUR, _DAY = 60, 3600, 86_400
_UNITS: Final = {
    1: "seconds second secs sec Sekunden Sekunde secondes seconde segundos segundo secondi secondo seconden s",
    _MINUTE: "minutes minute mins min Minuten minutos minuto minuti minuut m",
    _HOUR: "hours hour hrs hr Stunden Stunde heures heure horas hora ore ora uren uur h",
    _DAY: "days day Tage Tagen Tag jours jour días dias día dia giorni giorno dagen dag d",
    7 * _DAY: "weeks week Wochen Woche semaines semaine semanas semana settimane settimana weken",
}
_SECONDS: Final = {word.casefold(): seconds for seconds, words in _UNITS.items() for word in words.split()}
_COUNT, _UNIT = r"\d+|an?|one", "|".join(_SECONDS)
_SPAN: Final = rf"(?:{_COUNT})[ \xa0]?(?:{_UNIT})\b"
_TIME: Final = re.compile(
    rf"(?<![\w:.,])(?:(?P<span>{_SPAN}(?:,?[ \xa0](?:and )?{_SPAN})*)|(?P<clock>\d\d?:\d\d:\d\d)(?![\d:]))",
    re.IGNORECASE,
)
_PART: Final = re.compile(rf"({_COUNT})[ \xa0]?({_UNIT})\b", re.IGNORECASE)
# A clock may be read a few seconds from the visit; one of another zone differs from ours by
# quarters of an hour. Without seconds, too much else would look like a clock.
_LATE: Final = 10
_ZONES: Final = 15 * _MINUTE


def only_time_passed(old: Sequence[str], new: Sequence[str], then: float, now: float) -> bool:
    """Whether that explains all that differs between the paragraphs of two visits, at these
    times."""
    if len(old) != len(new) or now <= then:
        return False
    return all(before == after or _passed(before, after, then, now) for before, after in zip(old, new, strict=True))


def _passed(before: str, after: str, then: float, now: float) -> bool:
    if _TIME.sub("·", before) != _TIME.sub("·", after):
        return False
    pairs = zip(_TIME.finditer(before), _TIME.finditer(after), strict=True)
    return all(one[0] == other[0] or _moved(one, other, then, now) for one, other in pairs)


def _moved(one: re.Match[str], other: re.Match[str], then: float, now: float) -> bool:
    if one["span"] and other["span"]:
        (before, unit), (after, other_unit) = _span(one["span"]), _span(other["span"])
        # Of days and weeks nothing is known: another time of delivery would look the same.
        return min(unit, other_unit) <= _HOUR and abs(abs(after - before) - (now - then)) <= max(unit, other_unit)
    if one["clock"] and other["clock"]:
        return _shows(one["clock"], then) and _shows(other["clock"], now)
    return False


def _span(text: str) -> tuple[int, int]:
    """How many seconds a span is, and its smallest unit."""
    found = _PART.findall(text)
    parts = [(int(count) if count.isdigit() else 1, _SECONDS[unit.casefold()]) for count, unit in found]
    return sum(count * unit for count, unit in parts), min(unit for _, unit in parts)


def _shows(clock: str, at: float) -> bool:
    """Whether a clock shows a time in some zone."""
    hours, minutes, seconds = map(int, clock.split(":"))
    off = (at - hours * _HOUR - minutes * _MINUTE - seconds) % _ZONES
    return min(off, _ZONES - off) <= _LATE
