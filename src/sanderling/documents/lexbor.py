"""The second parser of HTML: lexbor, through selectolax. No other module knows that library.

It tells the nodes of a page in their order. `tree.py` makes a tree of them.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from selectolax import __version__ as _VERSION
from selectolax.lexbor import LexborHTMLParser

DOCTYPE: Final = "!doctype"
VERSION: Final = f"selectolax/{_VERSION}"
# For each element lexbor looks at all that are open: 20,000 in each other take 0.3 s, and 100,000
# take 10 s. Browsers nest 512.
_FEW: Final = 20_000
_DEEPEST: Final = 3_000
_TAG: Final = re.compile(r"<(/?)([A-Za-z][^\s/>]*)")
# Elements that nothing may stand in, and those whose end tags are left out in good pages.
_SHALLOW: Final = re.compile(
    "area|base|br|col|embed|frame|hr|img|input|link|meta|param|source|track|wbr"
    "|body|colgroup|dd|dt|head|html|li|optgroup|option|p|rp|rt|tbody|td|tfoot|th|thead|tr"
)
_NEAR: Final = 8


class NestedTooDeeply(ValueError):
    """The page is not parsed."""

    def __init__(self) -> None:
        super().__init__("its elements are nested too deeply")


class ParsedNode(NamedTuple):
    """An element; a text, whose tag is empty; or the doctype, whose tag is DOCTYPE."""

    depth: int  # -1 for html and the doctype, 0 for head and body
    tag: str
    attributes: dict[str, str | None]
    text: str


def nodes(markup: str) -> Iterator[ParsedNode]:
    """The doctype if there is one, the element html, and what is in it. Comments are left out."""
    _check_nesting(markup)
    root = LexborHTMLParser(markup).root
    if root is None:
        return
    before = root.prev
    while before is not None:
        if before.tag == "-doctype":
            yield ParsedNode(-1, DOCTYPE, {}, "")
        before = before.prev
    yield ParsedNode(-1, "html", root.attributes, "")
    waiting = [(0, root.child)]
    while waiting:
        depth, node = waiting.pop()
        if node is None:
            continue
        waiting.append((depth, node.next))
        if node.is_element_node:
            yield ParsedNode(depth, node.tag or "", node.attributes, "")
            if node.tag == "template":
                waiting += [(depth + 1, each.child) for each in reversed(node.template_fragments())]
            waiting.append((depth + 1, node.child))
        elif node.is_text_node:
            yield ParsedNode(depth, "", {}, node.text_content or "")


def declared_charset(start: str) -> str | None:
    """What the meta elements in the first bytes of a page say of its charset."""
    for meta in LexborHTMLParser(start).css("meta"):
        if said := meta.attributes.get("charset"):
            return said
        if (meta.attributes.get("http-equiv") or "").lower() == "content-type":
            found = re.search(
                r"""charset\s*=\s*["']?([^\s"';]+)""", meta.attributes.get("content") or "", re.IGNORECASE
            )
            if found:
                return found[1]
    return None


def _check_nesting(markup: str) -> None:
    """Raises NestedTooDeeply for a page that would take long. It only estimates: a page that hides
    its nesting ends as others do that take a client too long."""
    if markup.count("<") <= _FEW:
        return
    opened: list[str] = []
    for tag in _TAG.finditer(markup):
        name = tag[2].lower()
        if _SHALLOW.fullmatch(name):
            continue
        if not tag[1]:
            opened.append(name)
            if len(opened) > _DEEPEST:
                raise NestedTooDeeply
        elif name in (near := opened[-_NEAR:]):
            del opened[-(near[::-1].index(name) + 1) :]
