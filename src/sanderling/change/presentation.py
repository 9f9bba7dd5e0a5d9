"""What only styles a page: elements and attributes that change its look, and neither its outline nor its words."""

from __future__ import annotations

from typing import Final

from turbohtml import Document, Element

# `a`, `code`, `q` and the like say what a text is; these say how it looks. A `span` does so only by its attributes.
LOOKS: Final = (
    *("b", "i", "u", "s", "em", "strong", "mark", "small", "big", "tt", "font"),
    *("strike", "center", "basefont", "blink", "marquee", "nobr", "wbr"),
)
STYLE_TAGS: Final = frozenset(("span", *LOOKS))
# One walk of the tree, a fifth cheaper than with a list of selectors, for the attributes beside `class` that real pages still style with. Every further name would
# cost 3 us a page, and the remaining ones stand beside these.
_STYLED: Final = ":is([style],[align],[bgcolor])"
_STYLED_NAMES: Final = ("style", "align", "bgcolor", "width", "height", "valign", "border", "color")


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
