"""Blocks that repeat on the pages of a site: its template. They are not the content of any page."""

from collections import Counter
from collections.abc import Iterable, Set
from typing import Final

from xxhash import xxh3_64_intdigest

from sanderling.documents.tree import Document, Element, Text, collapse
from sanderling.documents.visible import NestedText

# Of fewer pages nothing is learned, and a block has to be on this share of them.
FEWEST_PAGES: Final = 4
_SHARE: Final = 0.5
_BLOCKS: Final = ("p", "div", "section", "ul", "ol", "li", "h1", "h2", "h3", "h4", "header", "table", "a", "span")
# A longer block that repeats is a part of the template wherever it stands. Shorter ones, such as
# "Example", are only where the content begins and ends.
_LONG: Final = 60
_LONGEST: Final = 2000


def blocks_of(document: Document) -> set[int]:
    """The blocks of a page, as hashes of their texts."""
    texts = NestedText()
    found = (collapse(texts.of(element)) for element in document.iter_elements(_BLOCKS))
    return {_hash(text) for text in found if text and len(text) <= _LONGEST}


def repeated(pages: Iterable[Set[int]]) -> frozenset[int]:
    """The blocks that stand on many pages of a site."""
    sample = list(pages)
    if len(sample) < FEWEST_PAGES:
        return frozenset()
    counted = Counter(block for page in sample for block in page)
    return frozenset(block for block, count in counted.items() if count >= max(FEWEST_PAGES - 1, _SHARE * len(sample)))


def trim(root: Element, known: Set[int]) -> None:
    """Removes the blocks of a template from an element."""
    for element in list(root.iter_elements(_BLOCKS)):
        # Most blocks are too short; to count their spaces takes more time than the rest.
        if len(text := element.text) < _LONG or element == root:
            continue
        if _LONG <= len(text := _collapsed(text)) <= _LONGEST and _hash(text) in known:
            element.decompose()
    _trim_edge(root, known, False)
    _trim_edge(root, known, True)


def _trim_edge(parent: Element, known: Set[int], backwards: bool) -> None:
    children = list(parent.children)
    for child in reversed(children) if backwards else children:
        text = _collapsed(child.text) if isinstance(child, Element | Text) else ""
        if not text:
            continue
        if isinstance(child, Element):
            if _hash(text) in known:
                child.decompose()
                continue
            _trim_edge(child, known, backwards)
        return


def _collapsed(text: str) -> str:
    """A text without superfluous spaces. One that is longer than any block may be cut."""
    if len(text) > 2 * _LONGEST and len(start := collapse(text[: 2 * _LONGEST])) > _LONGEST:
        return start
    return collapse(text)


def _hash(text: str) -> int:
    return xxh3_64_intdigest(text.encode("utf-8", "surrogatepass"))
