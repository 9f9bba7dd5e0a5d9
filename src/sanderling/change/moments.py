"""Times that are other words at each visit and say nothing new: ages such as "3 minutes ago",
moments to the second, such as that at which a page was made, and how long that took. No appointment
is given to the second, and nothing but machines takes less than one."""

from __future__ import annotations

import re
from typing import Final

from sanderling.documents import native

# One of these is in every such text. Looking for them takes a hundredth of the time of the
# expression.
_SIGNS: Final = (
    *(" ago", "\xa0ago", "just now", "Just now", "vor", "Vor", "l y a", "hace", "Hace", " fa", "\xa0fa", "há", "Há"),
    *("geleden", "sedan", "temu", "назад", "前"),
)
_UNITS: Final = (
    "seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|weeks?|months?|years?|"
    "Sekunden?|Minuten?|Stunden?|Tag(?:en?)?|Wochen?|Monat(?:en?)?|Jahr(?:en?)?|"
    "secondes?|heures?|jours?|semaines?|mois|ans?|"
    "segundos?|minutos?|horas?|días?|dias?|semanas?|meses|mes|mês|años?|anos?|"
    "secondi|secondo|minuti|minuto|ore|ora|giorni|giorno|settimane|settimana|mesi|mese|anni|anno|"
    "seconden?|minuut|uren|uur|dagen|dag|weken|week|maanden|maand|jaren|jaar|"
    "sekunder|minuter|minut|timmar|timme|dagar|veckor|vecka|månader|månad|år|"
    "sekund[ay]?|minut[ay]?|godzin[ay]?|dni|dzień|tygodni[ea]?|miesi[ąę]c[ye]?|lata?|rok|"
    "секунд[уы]?|минут[уы]?|час(?:а|ов)?|дн(?:я|ей)|день|недел[юиь]|месяц(?:а|ев)?|год(?:а)?|лет"
)
_COUNT: Final = r"(?:\d+|an?|one|eine[mnr]?|une?|un[ao]?)"
# "1 hour, 4 minutes" as well; templates write a no-break space before the unit.
_SPAN: Final = rf"{_COUNT}[ \xa0](?:{_UNITS})(?:,? (?:(?:and|und|et|y|e|en|och|i|и) )?\d+[ \xa0](?:{_UNITS}))*"
_AGE: Final = re.compile(
    rf"\b(?:för )?{_SPAN}[ \xa0](?:ago|fa|geleden|sedan|temu|назад)\b|"
    rf"\b(?:vor|il y a|hace|há)[ \xa0]{_SPAN}\b|"
    r"\d+ ?(?:秒|分|分钟|小时|時間|时间|天|日|周|週間|か?月|个月|年) ?前|\bjust now\b",
    re.IGNORECASE,
)


_SECONDS: Final = re.compile(r":\d\d:\d\d")
_DATE: Final = (
    r"(?:\d{4}[-/.]\d\d?[-/.]\d\d?|\d\d?[-/.]\d\d?[-/.]\d{4}|"
    r"(?:[^\W\d]{2,9}\.?,? )?(?:\d\d?\.? [^\W\d]{3,9}\.?|[^\W\d]{3,9}\.? \d\d?),? \d{4})"
)
_MOMENT: Final = re.compile(
    rf"{_DATE}(?:T| |, | at | um | à | a las | - )\d\d?:\d\d:\d\d(?:[.,]\d{{1,6}})?"
    r"(?: ?(?:[AP]M|Z|UTC|GMT|CES?T|[+-]\d\d:?\d\d))*",
    re.IGNORECASE,
)
_SECOND: Final = (
    r"(?:s|secs?|seconds?|Sekunden?|secondes?|segundos?|second[oi]|seconden|sekunder?|sekund[ay]?|секунд[уы]?|秒)"
)
# The zero comes first, because the engine looks for it quickly.
_TOOK: Final = re.compile(rf"0(?<![\w.,]0)[.,]\d{{1,9}}[ \xa0]?{_SECOND}(?!\w)", re.IGNORECASE)


def without_moments(text: str) -> str:
    """The same text with every such time as one sign."""
    if "0." in text or "0," in text:
        text = _TOOK.sub("·", text)
    if _may_have_age(text) and any(sign in text for sign in _SIGNS):
        text = _AGE.sub("·", text)
    return _MOMENT.sub("·", text) if _SECONDS.search(text) else text


def _may_have_age(text: str) -> bool:
    """Whether the expression may find something. On most pages a sign is only part of another word,
    such as "favorite": then the expression would take half of the time of a fingerprint."""
    if native.extension is None:
        return True
    return bool(native.extension.may_have_age(text if text.isascii() else text.encode("utf-8", "surrogatepass")))
