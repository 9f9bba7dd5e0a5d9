"""Finds small facts of a page that a summary should name when they change: prices, dates,
numbers."""

from __future__ import annotations

import re
from typing import Final

MAX_PRICES: Final = 8
# Signs that are looked at, for each currency. A text with program code may have thousands of dollar
# signs, none a price.
_MAX_SIGNS: Final = 8
_CURRENCIES: Final = "$€£¥₹"
_AMOUNT: Final = r"\d{1,3}(?:[.,'\u2019 ]\d{3})*(?:[.,]\d{1,2})?(?![\d])|\d+(?:[.,]\d{1,2})?"
_PRICE: Final = re.compile(rf"[{_CURRENCIES}] ?(?:{_AMOUNT})|(?:{_AMOUNT}) ?[{_CURRENCIES}]")
_DIGIT: Final = re.compile(r"\d")
_NUMBER: Final = re.compile(r"^[+-]?[\d.,'\u2019]*\d[\d.,'\u2019]*%?$")
_DATE: Final = re.compile(
    r"\b\d{4}-\d\d?-\d\d?\b|\b\d\d?[./]\d\d?[./]\d{2,4}\b|\b\d\d?:\d\d\b|"
    r"\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.? \d|"
    r"\b\d{1,2}\.? (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
)


def prices(text: str) -> tuple[str, ...]:
    """The first prices of a text, as written. Most texts have no currency sign and cost only a few
    searches."""
    found: list[str] = []
    for sign in _CURRENCIES:
        at = text.find(sign)
        signs = 0
        while at >= 0 and len(found) < MAX_PRICES and signs < _MAX_SIGNS:
            signs += 1
            # There is at most a space between a price and its sign. This check is ten times as fast
            # as the next one.
            if _DIGIT.search(text, max(0, at - 2), at + 3):
                near = text[max(0, at - 14) : at + 15]
                price = next((m for m in _PRICE.finditer(near) if sign in m.group()), None)
                if price is not None:
                    found.append(price.group()[:16])
            at = text.find(sign, at + 1)
    return tuple(found)


def name(before: str, after: str, around: str = "") -> str:
    """What a replaced piece of text is: "price", "date", "number" or "" for anything else."""
    if _PRICE.search(before) and _PRICE.search(after):
        return "price"
    if _DATE.search(before) and _DATE.search(after):
        return "date"
    if _NUMBER.match(before.strip(_CURRENCIES)) and _NUMBER.match(after.strip(_CURRENCIES)):
        return "price" if re.search(rf"price|[{_CURRENCIES}]|\b(?:EUR|USD|GBP|CHF)\b", around, re.I) else "number"
    return ""
