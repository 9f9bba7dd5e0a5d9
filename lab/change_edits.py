"""Controlled edits of a page, and which aspects of the page each edit really changes."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from typing import Final, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from sanderling.change import image, presentation, structure
from sanderling.documents.tree import Document, Element, Text, collapse
from sanderling.documents.visible import visible_text

_UNSEEN: Final = frozenset(("script", "style", "template", "title", "noframes"))
_SWAPS: Final = {
    "ul": "ol",
    "ol": "ul",
    "td": "th",
    "th": "td",
    "dt": "dd",
    "dd": "dt",
    "h1": "h2",
    "h2": "h3",
    "h3": "h2",
    "p": "div",
    "section": "article",
    "article": "aside",
    "code": "cite",
    "a": "abbr",
    "pre": "p",
}
_SPACES: Final = re.compile(r"(\s+)")
_STYLES: Final = ("color: red", "font-weight: bold", "margin: 2em", "display: none")


class EditTruth(msgspec.Struct, frozen=True):
    """Which aspects of a page an edit changed. The whole content of each aspect is compared."""

    text: bool
    structure: bool
    presentation: bool
    image: bool


class Aspects(msgspec.Struct, frozen=True):
    """The whole content of each aspect of a page, not reduced to a code."""

    words: str
    outline: tuple[tuple[int, str], ...]
    looks: tuple[object, ...]
    pictures: tuple[str, ...]

    def truth(self, other: Aspects) -> EditTruth:
        return EditTruth(
            self.words != other.words,
            self.outline != other.outline,
            self.looks != other.looks,
            self.pictures != other.pictures,
        )


def aspects(document: Document) -> Aspects:
    elements = [(element, element.tag) for element in document.iter_elements()]
    title = document.find("title")
    return Aspects(
        collapse(f"{title.text if title is not None else ''} {visible_text(document)}"),
        structure.nesting(document),
        tuple((tag, element.attr("class"), *presentation.look(element)) for element, tag in elements)
        + tuple(element.text for element, tag in elements if tag == "style")
        + tuple(presentation.sheet(element) for element, tag in elements if tag == "link"),
        tuple(image.reference(element, tag) for element, tag in elements if tag in image.TAGS),
    )


_T = TypeVar("_T")
Edit = Callable[[Document, random.Random], bool]


def one_character(document: Document, dice: random.Random) -> bool:
    node = _some(_texts(document), dice)
    if node is None:
        return False
    places = [at for at, letter in enumerate(node.data) if not letter.isspace()]
    at = dice.choice(places)
    letter = dice.choice([other for other in "abcdefgh0123456789" if other != node.data[at]])
    node.data = node.data[:at] + letter + node.data[at + 1 :]
    return True


def swapped_words(document: Document, dice: random.Random) -> bool:
    node = _some((text for text in _texts(document) if len(set(text.data.split())) > 1), dice)
    if node is None:
        return False
    pieces = _SPACES.split(node.data)
    words = [at for at, piece in enumerate(pieces) if piece.strip()]
    one = dice.choice(words)
    other = dice.choice([at for at in words if pieces[at] != pieces[one]])
    pieces[one], pieces[other] = pieces[other], pieces[one]
    node.data = "".join(pieces)
    return True


def reordered_paragraphs(document: Document, dice: random.Random) -> bool:
    first = _some((element for element in document.iter_elements(("p", "li", "tr")) if _neighbour(element)), dice)
    second = _neighbour(first) if first is not None else None
    if first is None or second is None:
        return False
    first.insert_before(second.extract())
    return True


def tag_swap(document: Document, dice: random.Random) -> bool:
    element = _some(document.iter_elements(tuple(_SWAPS)), dice)
    if element is None:
        return False
    element.tag = _SWAPS[element.tag]
    return True


def moved_end_tag(document: Document, dice: random.Random) -> bool:
    """Makes the element after a block its last child: the tags keep their order, but one closing
    tag moves."""
    blocks = document.iter_elements(("div", "section", "article", "ul", "table"))
    pairs = [(block, after) for block in blocks if isinstance(after := block.next_sibling, Element)]
    pair = _some(iter(pairs), dice)
    if pair is None:
        return False
    block, after = pair
    block.append(after.extract())
    return True


def attribute(document: Document, dice: random.Random) -> bool:
    """Sets an attribute that is not visible and has no style."""
    element = _some(document.iter_elements(("p", "a", "div", "li", "td")), dice)
    if element is None:
        return False
    element.attrs[dice.choice(["id", "title", "data-state", "lang"])] = f"x{dice.randrange(10**6)}"
    return True


def style(document: Document, dice: random.Random) -> bool:
    element = _some(document.iter_elements(("p", "a", "div", "li", "td", "h1", "h2", "h3")), dice)
    if element is None:
        return False
    if dice.random() < 0.5:
        element.attrs["style"] = f"{dice.choice(_STYLES)}; order: {dice.randrange(10**6)}"
    else:
        element.attrs["class"] = f"c{dice.randrange(10**6)}"
    return True


def image_swap(document: Document, dice: random.Random) -> bool:
    element = _some(document.iter_elements("img"), dice)
    if element is None:
        return False
    element.attrs["src"] = f"picture-{dice.randrange(10**9)}.png"
    return True


EDITS: Final[dict[str, Edit]] = {
    "one character": one_character,
    "swapped words": swapped_words,
    "reordered paragraphs": reordered_paragraphs,
    "tag swap": tag_swap,
    "moved end tag": moved_end_tag,
    "attribute": attribute,
    "style": style,
    "image address": image_swap,
}


def _texts(document: Document) -> Iterator[Text]:
    for node in document.descendants:
        if isinstance(node, Text) and node.data.strip():
            parent = node.parent
            if isinstance(parent, Element) and parent.tag not in _UNSEEN:
                yield node


def _neighbour(element: Element) -> Element | None:
    """The next sibling, if it has the same tag and another text."""
    sibling = element.next_sibling
    while sibling is not None and not isinstance(sibling, Element):
        sibling = sibling.next_sibling
    if sibling is None or sibling.tag != element.tag or collapse(sibling.text) == collapse(element.text):
        return None
    return sibling


def _some(items: Iterator[_T], dice: random.Random) -> _T | None:
    found = [*items]
    return dice.choice(found) if found else None


def page(dice: random.Random) -> str:
    """A generated page of about 3 KB with elements of many kinds, for runs without real pages."""
    words = _WORDS.split()

    def sentence(shortest: int, longest: int) -> str:
        return " ".join(dice.choices(words, k=dice.randint(shortest, longest))).capitalize() + "."

    parts = [f"<title>{sentence(2, 4)}</title><h1>{sentence(2, 5)}</h1><div class=menu><ul>"]
    parts += [f"<li><a href='/{number}'>{sentence(1, 2)}</a></li>" for number in range(6)]
    parts.append("</ul></div>")
    for section in range(3):
        parts.append(f"<article><h2>{sentence(2, 4)}</h2><img src='{section}.png' alt=''>")
        parts += [f"<p>{sentence(8, 30)} <b>{sentence(1, 2)}</b> <code>{sentence(1, 1)}</code></p>" for _ in range(3)]
        parts.append("<table>" + "".join(f"<tr><td>{sentence(1, 2)}<td>{dice.random():.2f}" for _ in range(3)))
        parts.append("</table></article>")
    return "".join(parts)


def picture(dice: np.random.Generator) -> NDArray[np.uint8]:
    """A smooth random picture, as photographs are."""
    coarse = dice.integers(0, 256, (8, 8)).astype(np.float64)
    return np.clip(np.kron(coarse, np.ones((8, 8))) + dice.normal(0, 4, (64, 64)), 0, 255).astype(np.uint8)


_WORDS: Final = """shore wave sand bird wing tide wind salt run back probe find small crowd north south return water
morning stone shell follow every edge grey white light turn stay leave winter summer coast island count flock quick"""
