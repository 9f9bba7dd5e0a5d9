"""Values for fields that want something special: dates, years, prices, postal codes, countries."""

import datetime as dt
import math
import re

from sanderling.errors import BadSetting
from sanderling.forms.kinds import words_in
from sanderling.model.form_facts import TYPED_TYPES, Field
from sanderling.urls.patterns import pattern

# What the names and labels of fields say that are typed in as text.
_SAID = {
    "year": "year jahr annee ano anno",
    "date": "date datum fecha data from until since before after",
    "price": "price preis prix precio prezzo cost amount budget",
    "postal": "zip zipcode postcode postal plz cap",
    "country": "country land pays pais paese nation",
}
_KIND_OF = {word: kind for kind, words in _SAID.items() for word in words.split()}
_PRICES = ["10", "20", "50", "100", "200", "500", "1000", "5000"]
_POSTAL = ["10115", "10001", "75001", "28001", "20121", "1010", "8001", "SW1A 1AA"]
_COUNTRIES = [
    "Germany",
    "France",
    "Spain",
    "Italy",
    "United Kingdom",
    "United States",
    "Japan",
    "Brazil",
    "India",
    "China",
]
# A range is tried at this many places.
_STEPS = 8


def typed_values(field: Field, now: float) -> list[str]:
    """Values for a typed field, the most promising first; none for a field that takes any word."""
    kind = kind_of(field)
    today = dt.datetime.fromtimestamp(now, dt.UTC).date()
    if kind == "year":
        least, most = _bound(field.least, today.year - 9), _bound(field.most, today.year)
        values = [str(year) for year in range(most, max(least, most - 60) - 1, -1)]
    elif kind in ("date", "datetime-local", "month", "week"):
        values = [_written(today - dt.timedelta(days=days), kind) for days in (0, 30, 90, 180, 365, 730, 1825, 3650)]
    elif kind == "time":
        values = [f"{hour:02}:00" for hour in range(0, 24, 3)]
    elif kind in ("number", "range", "price"):
        values = _steps(field) or _PRICES
    elif kind == "postal":
        values = _POSTAL
    elif kind == "country":
        values = _COUNTRIES
    else:
        return []
    return [value for value in values if _fits(value, field)]


def kind_of(field: Field) -> str:
    """What a field takes, by its type, its name and its label; empty for any word."""
    if field.type in TYPED_TYPES:
        if field.type == "number" and "year" in (
            _KIND_OF.get(word) for word in words_in(f"{field.name} {field.label}")
        ):
            return "year"
        return field.type
    if field.type not in ("text", "search") or field.unseen:
        return ""
    if re.fullmatch(r"\^?(\[0-9\]|\\d)\{4\}\$?", field.pattern):
        return "year"
    if re.fullmatch(r"\^?(\[0-9\]|\\d)\{5\}\$?", field.pattern):
        return "postal"
    for word in words_in(field.name):
        if word in _KIND_OF:
            return _KIND_OF[word]
    label = words_in(field.label)
    return _KIND_OF[label[-1]] if label and len(label) <= 2 and label[-1] in _KIND_OF else ""


def _steps(field: Field) -> list[str]:
    if not (field.least and field.most):
        return []
    try:
        least, most = float(field.least), float(field.most)
    except ValueError:
        return []
    if not (math.isfinite(least) and math.isfinite(most)) or most < least:
        return []
    if most - least < _STEPS and least == int(least):
        return [str(n) for n in range(int(least), int(most) + 1)]
    return list(dict.fromkeys(f"{least + (most - least) * step / (_STEPS - 1):.0f}" for step in range(_STEPS)))


def _written(day: dt.date, kind: str) -> str:
    forms = {"month": "%Y-%m", "week": "%G-W%V", "datetime-local": "%Y-%m-%dT00:00"}
    return day.strftime(forms.get(kind, "%Y-%m-%d"))


def _bound(text: str, otherwise: int) -> int:
    return int(text[:4]) if re.match(r"\d{4}", text) else otherwise


def _fits(value: str, field: Field) -> bool:
    if field.longest and len(value) > field.longest:
        return False
    try:  # RE2, because the pattern is the page's
        return not field.pattern or pattern(f"^(?:{field.pattern})$").search(value) is not None
    except BadSetting:
        return True
