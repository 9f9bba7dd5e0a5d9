"""The wall around the parser of HTML and XML. No other module knows which library it is.

All pages of strangers are parsed here, so each is bounded here (`element_budget.py`), however it
got to its reader. What a parser may raise is in `unreadable.py`. What others use of a tree is its
names below: elements with their attributes, text, order, selectors and markup.
"""

from collections.abc import Callable
from typing import Final

import turbohtml
from turbohtml import (
    Document,
    Element,
    HTMLParseError,
    Markdown,
    Namespace,
    PlainText,
    SelectorSyntaxError,
    Text,
    XPath,
    _html,
    escape,
)
from turbohtml.detect import detect, detect_language  # brings the codecs named whatwg-*
from turbohtml.extract import MicrodataItem

from sanderling.documents.element_budget import check_elements

__all__ = [
    "VERSION",
    "Document",
    "Element",
    "HTMLParseError",
    "Markdown",
    "MicrodataItem",
    "Namespace",
    "PlainText",
    "SelectorSyntaxError",
    "Text",
    "XPath",
    "collapse",
    "detect",
    "detect_language",
    "escape",
    "parse",
    "parse_xml",
]

# Fingerprints of pages depend on it.
VERSION: Final = f"turbohtml/{turbohtml.__version__}"
# Replaces every run of Unicode whitespace with a space and strips both ends. The parser has a
# private function for it that is four times as fast as Python; a later release may not have it.
collapse: Final[Callable[[str], str]] = getattr(_html, "_collapse_whitespace", lambda text: " ".join(text.split()))


def parse(
    markup: bytes | str, *, encoding: str | None = None, detect_encoding: bool = False, positions: bool = False
) -> Document:
    """The tree of an HTML page. Raises TooManyElements for one that may be a bomb, and LookupError
    for an encoding that nobody knows."""
    check_elements(markup)
    return turbohtml.parse(markup, encoding=encoding, detect_encoding=detect_encoding, positions=positions)


def parse_xml(markup: str) -> Document:
    """The tree of an XML document. XML opens no element again, so it has one element a tag."""
    return turbohtml.parse_xml(markup)
