"""The weight of text by its font size, so that a changed heading counts more than a changed
footnote.

Weights are font sizes relative to plain text, in sixteenths (16 is plain), so that one byte holds a
weight. A size inside another adds its difference from plain. This gives a good order, and does not
depend on the order of the walk.
"""

from __future__ import annotations

import re
from typing import Final

from sanderling.documents.tree import Element

PLAIN: Final = 16
TITLE: Final = 40
# The sizes in browsers: h1 2em, h2 1.5em, h3 1.17em, h4 1em (17 here, to distinguish it from
# plain), h5 .83em, h6 .67em.
HEADINGS: Final = {"h1": 32, "h2": 24, "h3": 19, "h4": 17, "h5": 13, "h6": 11}
INLINE: Final = {"big": 19, "small": 13, "font": PLAIN}
# <font size=1..7>, CSS x-small to xxx-large.
_FONT: Final = {1: 10, 2: 13, 3: 16, 4: 18, 5: 24, 6: 32, 7: 48}
_NAMED: Final = {
    "xx-small": 9,
    "x-small": 10,
    "small": 13,
    "smaller": 13,
    "medium": 16,
    "large": 18,
    "larger": 19,
    "x-large": 24,
    "xx-large": 32,
    "xxx-large": 48,
}
_INLINE: Final = re.compile(r"font-size\s*:\s*(?:(\d*\.?\d+)\s*(px|pt|em|rem|%)|([a-z-]+))", re.IGNORECASE)
_UNITS: Final = {"px": 1.0, "pt": 4 / 3, "em": 16.0, "rem": 16.0, "%": 0.16}
_ROLES: Final = {TITLE: "title", **dict.fromkeys(HEADINGS.values(), "heading")}


def of_inline(element: Element, tag: str) -> int:
    """The weight that `big`, `small` or a `font` with a size gives to its text."""
    if tag != "font":
        return INLINE[tag]
    size = (element.attr("size") or "").strip()
    sign, digits = (size[0], size[1:]) if size[:1] in ("+", "-") else ("", size)
    if not (digits.isascii() and digits.isdigit()):
        return PLAIN
    step = int(digits[:2])
    level = 3 + step if sign == "+" else 3 - step if sign == "-" else step
    return _FONT[min(7, max(1, level))]


def of_style(style: str) -> int:
    """The weight of an inline style. Plain if it does not set the size."""
    found = _INLINE.search(style)
    if found is None:
        return PLAIN
    number, unit, name = found.groups()
    if number is None:
        return _NAMED.get(name.lower(), PLAIN)
    return min(255, max(1, round(float(number) * _UNITS[unit.lower()])))


def role(weight: int) -> str:
    """The role of a paragraph with this weight."""
    return _ROLES.get(weight, "paragraph")
