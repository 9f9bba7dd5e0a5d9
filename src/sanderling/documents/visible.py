"""What a reader sees of a page: the one definition of its text, for everybody who hashes, compares
or indexes it.

Scripts, styles, comments and tags are gone, and every block element starts a line.
"""

from collections.abc import Callable
from typing import Final, TypeVar

from sanderling.documents.tree import Document, Element, PlainText

# Shown as plain blocks while the text is taken. The renderer would number the items of an ordered
# list, which are not written text and change with one inserted item; leave out captions, and what
# stands in a list beside its items; and pad every row of a table to its longest cell, which makes a
# gigabyte of some pages of a megabyte.
_RESHAPED: Final = ("ul", "ol", "menu", "dir", "table", "caption", "td", "th")


# Elements stand in each other up to 500 deep, so that those of one page may say five hundred times
# what the page says.
MOST_NESTED: Final = 32 * 1024**2


class NestedText:
    """The texts of many elements, as long as they do not add up to more than any honest page
    has."""

    def __init__(self, most: int = MOST_NESTED) -> None:
        self._left = most

    def of(self, element: Element) -> str:
        return self._taken(element.text) if self._left > 0 else ""

    def html_of(self, element: Element) -> str:
        return self._taken(element.html) if self._left > 0 else ""

    def _taken(self, text: str) -> str:
        self._left -= len(text)
        return text


class _Layout(PlainText):
    """Options that the renderer need not compare with its defaults for every page."""

    def _unpack(self) -> dict[str, object]:
        return _OPTIONS


# One line per block element or cell.
_OPTIONS: Final[dict[str, object]] = {"layout": "strict"}
_LAYOUT: Final = _Layout(layout="strict")


# Where something begins and ends in a text, and what it is.
Span = tuple[int, int, str]
_LINKS: Final = {"a": ["link"]}
T = TypeVar("T")


def visible_text(document: Document, spent: bool = False) -> str:
    """The rendered text, a line per block. The tree is left as it was, unless it is `spent`: then
    it is not needed again."""
    return _rendered(document, spent, lambda: document.to_text(_LAYOUT))


def rendered_text(part: Document | Element) -> str:
    """The same of a part of a tree that nobody looks at again."""
    return _rendered(part, True, lambda: part.to_text(_LAYOUT))


def text_and_links(document: Document, spent: bool = False) -> tuple[str, list[Span]]:
    """The same, and where links stand in it: a tenth more time."""
    return _rendered(document, spent, lambda: document.to_annotated_text(_LINKS, _LAYOUT))


def _rendered(document: Document | Element, spent: bool, render: Callable[[], T]) -> T:
    reshaped = [*document.iter_elements(_RESHAPED)]
    tags = [] if spent else [element.tag for element in reshaped]
    for element in reshaped:
        element.tag = "div"
    try:
        return render()
    finally:
        for element, tag in zip(reshaped, tags, strict=False):
            element.tag = tag
