"""The wall around the parsers of HTML and XML. No other module knows which library it is.

All pages of strangers are parsed here, so each is bounded here (`element_budget.py`), however it
got to its reader. What a parser may raise is in `unreadable.py`. What others use of a tree is its
names below: elements with their attributes, text, order, selectors and markup.

The user may choose another parser (`lexbor.py`). Its nodes become a tree of the same kind.
"""

import copy
import re
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
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
from sanderling.documents.parser_choice import LEXBOR, chosen

__all__ = [
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
    "version",
]

# As deep as the trees of the first parser, and those of browsers.
_DEEPEST: Final = 510
_MARKS: Final = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16le"), (b"\xfe\xff", "utf-16be"))
_PRESCANNED: Final = 1024
# Replaces every run of Unicode whitespace with a space and strips both ends. The parser has a
# private function for it that is four times as fast as Python; a later release may not have it.
collapse: Final[Callable[[str], str]] = getattr(_html, "_collapse_whitespace", lambda text: " ".join(text.split()))


def version() -> str:
    """The parser and its release. Fingerprints of pages depend on it."""
    if chosen() == LEXBOR:
        from sanderling.documents import lexbor

        return lexbor.VERSION
    return f"turbohtml/{turbohtml.__version__}"


def parse(markup: bytes | str, encoding: str | None = None, otherwise: str | None = None) -> Document:
    """The tree of an HTML page. The encoding is `otherwise` if no other is declared. Raises
    TooManyElements for a page that may be a bomb, and LookupError for an encoding that nobody
    knows."""
    check_elements(markup)
    if chosen() == LEXBOR:
        return _parse_by_lexbor(markup, encoding, otherwise)
    document = turbohtml.parse(markup, encoding=encoding, detect_encoding=True)
    if otherwise and document.encoding_confidence == "tentative":
        document = turbohtml.parse(markup, encoding=otherwise)
    return document


def parse_xml(markup: str) -> Document:
    """The tree of an XML document. XML opens no element again, so it has one element a tag."""
    return turbohtml.parse_xml(markup)


def _parse_by_lexbor(markup: bytes | str, encoding: str | None, otherwise: str | None) -> Document:
    from sanderling.documents import lexbor

    document = turbohtml.parse("")
    if isinstance(markup, bytes):
        start = markup[:_PRESCANNED].decode("latin-1")
        document, markup = _decoded(markup, encoding, lambda: lexbor.declared_charset(start) or otherwise)
    root = document.root
    assert root is not None
    root.clear()
    path, spaces = [root], [Namespace.HTML]  # the open elements, and the namespace of what is in each
    for node in lexbor.nodes(_SURROGATE.sub("\ufffd", markup)):
        depth = min(node.depth, _DEEPEST)
        if node.tag == lexbor.DOCTYPE:
            root.insert_before(turbohtml.parse("<!DOCTYPE html>").children[0])
            continue
        if depth < 0:
            _set_attributes(root, node.attributes)
            continue
        del path[depth + 1 :], spaces[depth + 1 :]
        if not node.tag:
            path[-1].append(Text(node.text))
            continue
        space = _STARTS.get(node.tag, Namespace.HTML) if spaces[-1] is Namespace.HTML else spaces[-1]
        element = _element(node.tag, space, node.attributes)
        path[-1].append(element)
        path.append(element)
        spaces.append(Namespace.HTML if node.tag in _HTML_INSIDE else space)
    return document


_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_STARTS: Final = {"svg": Namespace.SVG, "math": Namespace.MATHML}
# Elements of drawings and formulas in which HTML stands.
_HTML_INSIDE: Final = frozenset(["foreignObject", "desc", "title", "mi", "mo", "mn", "ms", "mtext", "annotation-xml"])
_NO_NAME: Final = re.compile(r"""[\s/<>="'\0-\x1f]""")


def _element(tag: str, space: Namespace, attributes: dict[str, str | None]) -> Element:
    """A tree that is made node by node takes fewer names than one that is parsed."""
    if space is not Namespace.HTML and (foreign := _foreign(tag, space)) is not None:
        element = copy.copy(foreign)
        _set_attributes(element, attributes)
        return element
    try:
        return Element(tag, attributes)
    except ValueError:
        element = Element(_NO_NAME.sub("-", tag))
        _set_attributes(element, attributes)
        return element


def _set_attributes(element: Element, attributes: dict[str, str | None]) -> None:
    for name, value in attributes.items():
        with suppress(ValueError):
            element.attrs[name] = value


@lru_cache(256)
def _foreign(tag: str, space: Namespace) -> Element | None:
    """An element of a drawing or a formula; None for one that only HTML has."""
    start = "svg" if space is Namespace.SVG else "math"
    if tag == start:
        return turbohtml.parse(f"<{start}>").find(start)
    outer = None if _NO_NAME.search(tag) else turbohtml.parse(f"<{start}><{tag}>").find(start)
    inner = outer.children[0] if outer is not None and outer.children else None
    return inner if isinstance(inner, Element) and inner.namespace is space else None


def _decoded(body: bytes, encoding: str | None, declared: Callable[[], str | None]) -> tuple[Document, str]:
    """An empty document in the encoding of a page, and its text: by its byte-order mark, by what is
    said outside, by what is declared inside, else as it looks."""
    for mark, name in _MARKS:
        if body.startswith(mark):
            body, encoding = body[len(mark) :], name
    if encoding is None:
        said = (declared() or "").strip().lower()
        encoding = "utf-8" if said.startswith("utf-16") else said
        with suppress(LookupError):
            return _in(encoding, body)
        encoding = detect(body[:65536]).encoding or "windows-1252"
    return _in(encoding, body)


def _in(encoding: str, body: bytes) -> tuple[Document, str]:
    document = turbohtml.parse(b"", encoding=encoding)
    return document, body.decode(f"whatwg-{document.encoding}", "replace")
