"""What only styles a page: elements and attributes that change its look, and neither its outline nor its words."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import filterfalse
from typing import Final

from turbohtml import Document, Element

# `a`, `code`, `q` and the like say what a text is; these say how it looks.
STYLE_TAGS: Final = frozenset(
    [
        "b",
        "i",
        "u",
        "s",
        "em",
        "strong",
        "span",
        "font",
        "small",
        "big",
        "tt",
        "strike",
        "center",
        "basefont",
        "blink",
        "marquee",
        "nobr",
        "wbr",
        "mark",
    ]
)
STYLE_ATTRIBUTES: Final = frozenset(
    [
        "class",
        "style",
        "align",
        "valign",
        "bgcolor",
        "background",
        "color",
        "face",
        "size",
        "width",
        "height",
        "border",
        "cellpadding",
        "cellspacing",
        "hspace",
        "vspace",
        "link",
        "vlink",
        "alink",
        "text",
        "clear",
        "nowrap",
    ]
)
# One walk of the tree for the attributes beside `class` that real pages still style with. Every further name would
# cost 3 us a page, and the remaining ones stand beside these.
_STYLED: Final = "[style],[align],[bgcolor]"
_STYLED_NAMES: Final = ("style", "align", "bgcolor", "width", "height", "valign", "border", "color")


def semantic(tags: Iterable[str]) -> list[str]:
    """The tags of the outline: what is left without those that only style."""
    return list(filterfalse(STYLE_TAGS.__contains__, tags))


def styled(document: Document) -> list[Element]:
    """Elements with an inline style or a styling attribute."""
    return document.select(_STYLED)


def look(element: Element) -> list[str | None]:
    """The styling attributes of one element that `styled` found, or of a `font`."""
    return [element.tag, *map(element.attr, _STYLED_NAMES)]


def sheet(link: Element) -> str | None:
    """The address of the style sheet that a `link` names, if it does.

    Its query is left out: it carries a release number on most sites, and a new one is no new look.
    """
    if link.attr("rel") != "stylesheet":
        return None
    return (link.attr("href") or "").partition("?")[0]
