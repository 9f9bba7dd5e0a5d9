"""Elements and attributes that change only the look of a page, not its outline or its words."""

from __future__ import annotations

import re
from typing import Final

from sanderling.documents.tree import Document, Element

# Elements that say how a text looks. `a`, `code`, `q` and others say what a text is. A `span` has a
# look only by its attributes.
LOOKS: Final = (
    *("b", "i", "u", "s", "em", "strong", "mark", "small", "big", "tt", "font"),
    *("strike", "center", "basefont", "blink", "marquee", "nobr", "wbr"),
)
STYLE_TAGS: Final = frozenset(("span", *LOOKS))
# Finds styling attributes other than `class` in one walk of the tree; a list of selectors takes a
# fifth longer. Each further name costs 3 us a page. The other styling attributes usually occur
# together with these.
_STYLED: Final = ":is([style],[align],[bgcolor])"
_STYLED_NAMES: Final = ("style", "align", "bgcolor", "width", "height", "valign", "border", "color")
# The hash of a build in the name of a file. Letters alone are one if small and capital ones are
# mixed.
BUILD: Final = re.compile(r"(?<=[.\-_])(?=\w*?(?:\d|[a-z][A-Z]))\w{6,}(?=(?:\.min)?\.\w+$)", re.ASCII)


def styled(document: Document) -> list[Element]:
    """Elements with an inline style or a styling attribute."""
    return document.select(_STYLED)


def look(element: Element) -> list[str | None]:
    """The styling attributes of one element that `styled` found, or of a `font`."""
    return [element.tag, *map(element.attr, _STYLED_NAMES)]


def sheet(link: Element) -> str | None:
    """The address of a style sheet, if a `link` names one.

    Its query is left out: on most sites it is a release number, and a new release is not a new
    look. So are the hashes that builds put into names: `main.3f9a1c.css`.
    """
    if link.attr("rel") != "stylesheet":
        return None
    return BUILD.sub("0", (link.attr("href") or "").partition("?")[0])
