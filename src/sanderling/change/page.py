"""The fingerprint of a page: a few hundred bytes that are enough to compare a version with the next
one.

The client takes the `markup` of a page while it has the parsed tree. Later it condenses markup and
text to a fingerprint, for a group of pages. No tree is walked in Python: the text, the tags and the
classes are each collected by one call into the parser's C code. They are hashed at once, while
their many small strings are still in the processor's caches.
"""

from __future__ import annotations

from itertools import filterfalse
from typing import Any, Final, NamedTuple, cast

import msgspec
import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_digest, xxh3_64_intdigest, xxh3_128_digest, xxh32_intdigest

from sanderling.documents.tree import Document, Element, collapse, version
from sanderling.documents.visible import NestedText, visible_text

from . import behaviour, image, presentation, text, weight
from .facts import prices
from .moments import without_moments
from .text import Codes

# A longer page has the rest of its text in its last paragraph, so that a fingerprint has a greatest
# size.
MAX_PARAGRAPHS: Final = 4096
_MANY: Final = 32

_REMARKABLE: Final = (
    *("title", "style", "link", "script", "form", "pre", "textarea"),
    *weight.HEADINGS,
    *weight.INLINE,
    *image.TAGS,
)
_ONLY_STYLES: Final = presentation.STYLE_TAGS.__contains__
_SPACES: Final = bytes([point for point in range(256) if chr(point).isspace()])
_SPACES_IN_A_LINE: Final = _SPACES.replace(b"\n", b"")
_encode: Final = msgspec.msgpack.Encoder().encode


class PageFingerprint(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What is stored about a version to compare it with others.

    The strong hashes decide whether something changed, and which kind. Codes, counts and paragraphs
    say what, where and how much. The hash of the structure covers the order of the tags. A closing
    tag can move without changing that order; only `explain` sees this. As msgpack it takes at most
    600 bytes, and 11 for each paragraph.
    """

    processing: int
    text: bytes
    structure: bytes
    presentation: bytes
    images: bytes
    # Hash of the link targets. Empty if they are not known.
    links: bytes
    elements: int
    image_count: int
    codes: Codes
    # The sum of character codes, each multiplied by its font size in sixteenths.
    weighted: int
    # The paragraphs as columns: for each, 8 bytes of hash, 2 of length and 1 of weight.
    hashes: bytes
    lengths: bytes
    weights: bytes
    prices: tuple[str, ...] = ()
    # Hash of the scripts. Empty if they are not known.
    behaviour: bytes = b""

    @property
    def paragraphs(self) -> int:
        return len(self.weights)

    def paragraph_hashes(self) -> list[int]:
        return cast(list[int], np.frombuffer(self.hashes, ">u8").tolist())

    def mass(self) -> NDArray[np.int64]:
        """The size of each paragraph: length times font size."""
        return np.frombuffer(self.lengths, "<u2").astype(np.int64) * np.frombuffer(self.weights, np.uint8)


class Markup(NamedTuple):
    """What is taken from the tree of a page. After that, the tree may be freed."""

    structure: bytes
    presentation: bytes
    images: bytes
    elements: int
    image_count: int
    title: str
    # Texts with another font size, and their weights.
    sized: list[tuple[bytes, int]]
    behaviour: bytes
    # Texts whose white space counts.
    verbatim: str = ""


def current_processing() -> int:
    """The number of how fingerprints are made now; those of others cannot be compared with them.

    Increase it when anything here is computed in another way. The parser is included, because
    another release may render the same page to other lines.
    """
    return xxh32_intdigest(f"6 {version()}".encode())


def fingerprint(document: Document, *, links: bytes = b"", processing: int | None = None) -> PageFingerprint:
    """The fingerprint of a parsed page. Its tree is not changed."""
    return condense(markup(document), visible_text(document), links=links, processing=processing)


def condense(
    markup: Markup,
    visible: str,
    *,
    links: bytes = b"",
    processing: int | None = None,
) -> PageFingerprint:
    """The fingerprint of a page, from its markup and its `visible_text`.

    `links` are its link targets in any packed form. `processing` is not the default if rules of the
    user changed the document (`rules.processing`).
    """
    title, sized = markup.title, markup.sized
    rendered = without_moments(f"{title}\n{visible}" if title else visible)
    words = collapse(rendered)
    points = text.packed(words)
    hashed = points[0] + markup.verbatim.encode("utf-8", "surrogatepass") if markup.verbatim else points[0]
    blocks = _blocks(rendered)
    codes = text.packed_codes(points)
    return PageFingerprint(
        current_processing() if processing is None else processing,
        xxh3_128_digest(hashed, points[1]),
        markup.structure,
        markup.presentation,
        markup.images,
        xxh3_64_digest(links) if links else b"",
        markup.elements,
        markup.image_count,
        codes,
        # The sum as if all text were plain, and the difference for larger or smaller text.
        weight.PLAIN * codes.total + sum([(size - weight.PLAIN) * sum(words) for words, size in sized]),
        b"".join(map(xxh3_64_digest, blocks)),
        _lengths(blocks),
        _weights(blocks, bool(title), sized),
        prices(words),
        markup.behaviour,
    )


def markup(document: Document) -> Markup:
    """Takes all that is needed from the tree, in four walks in C."""
    title = ""
    scripts: list[int] = []
    styles: list[object] = []
    images: list[str] = []
    sized: list[tuple[bytes, int]] = []
    verbatim: list[str] = []
    texts = NestedText()
    for element in document.iter_elements(_REMARKABLE):
        tag = element.tag
        if tag in weight.HEADINGS:
            sized.append((block(texts.of(element)), weight.HEADINGS[tag]))
        elif tag == "link":
            styles.append(presentation.sheet(element))
        elif tag == "script":
            scripts.append(behaviour.script(element))
        elif tag == "form":
            scripts.append(behaviour.form(element))
        elif tag in ("pre", "textarea"):
            verbatim.append(without_moments(element.text))
        elif tag in image.TAGS:
            if tag == "svg":
                images.append(texts.html_of(element))
            elif not image.is_pixel(element):
                images.append(image.reference(element, tag))
        elif tag in weight.INLINE:
            styles.append(presentation.look(element))
            sized.append((block(texts.of(element)), weight.of_inline(element, tag)))
        elif tag == "title":
            title = title or _page_title(element)
        else:
            styles.append(element.text)
    for element in presentation.styled(document):
        look = presentation.look(element)
        styles.append(look)
        # These come after all headings, so `_weights` rarely finds their paragraphs. They still
        # count in the weighted sum.
        if look[1] and (size := weight.of_style(look[1])) != weight.PLAIN:
            sized.append((block(texts.of(element)), size))
    elements = _tags_and_classes(document)
    return Markup(
        xxh3_128_digest(_encode([*filterfalse(_ONLY_STYLES, elements[::2])])),
        xxh3_128_digest(_encode((elements, styles))),
        xxh3_128_digest(_encode(images)),
        len(elements) // 2,
        len(images),
        title,
        sized,
        xxh3_64_digest(_encode((scripts, behaviour.events(document)))),
        "\0".join(verbatim),
    )


def block(words: str) -> bytes:
    """The bytes that identify a paragraph: its text without spaces, with letters beyond Latin-1 as
    escapes.

    A change of spaces alone is not a change of a paragraph. Most pages use only Latin-1, whose
    encoding costs almost nothing. The bytes of a paragraph do not depend on the letters in the rest
    of the page.
    """
    return words.encode("latin-1", "backslashreplace").translate(None, _SPACES)


def paragraph_hash(words: str) -> int:
    """The hash of a paragraph, as `PageFingerprint.paragraph_hashes` gives it."""
    return xxh3_64_intdigest(block(without_moments(words)))


def _blocks(rendered: str) -> list[bytes]:
    blocks = rendered.encode("latin-1", "backslashreplace").translate(None, _SPACES_IN_A_LINE).split()
    if len(blocks) > MAX_PARAGRAPHS:
        blocks[MAX_PARAGRAPHS - 1 :] = [b"\n".join(blocks[MAX_PARAGRAPHS - 1 :])]
    return blocks


def _tags_and_classes(document: Document) -> list[str | None]:
    """The tag and then the class (or None) of every element, in page order.

    `find_all` calls its filters from C, and makes an element object only if all of them match. Here
    the filters are the `append` of a list, which collects its argument and returns None, so it
    never matches. For the tag, `True` comes after it and matches, so that the class is tested next.
    """
    found: list[str | None] = []
    collect: Any = found.append
    document.find_all([collect, True], attrs={"class": collect})
    return found


def _page_title(element: Element) -> str:
    """The text of a `title` element, unless it belongs to an SVG."""
    parent = element.parent
    return collapse(element.text) if isinstance(parent, Element) and parent.tag == "head" else ""


def _lengths(blocks: list[bytes]) -> bytes:
    try:
        return np.fromiter(map(len, blocks), "<u2", len(blocks)).tobytes()
    except OverflowError:
        return np.array([min(len(block), 65535) for block in blocks], "<u2").tobytes()


def _weights(blocks: list[bytes], titled: bool, sized: list[tuple[bytes, int]]) -> bytes:
    """The weight of every paragraph: that of the sized text it consists of, else plain."""
    weights = bytearray(b"\x10" * len(blocks))
    after = 0
    if titled:
        weights[0] = weight.TITLE
        after = 1
    # With many sized texts, a set limits the time: texts that are not paragraphs are skipped, and a
    # text that is not found once is not searched for again.
    known = set(blocks) if len(sized) > _MANY else None
    for words, size in sized:
        if known is not None and words not in known:
            continue
        # Most sized texts are headings. They are in page order, so the search starts after the last
        # one found.
        try:
            place = blocks.index(words, after)
        except ValueError:
            if known is not None:
                known.discard(words)
            continue
        weights[place] = size
        after = place + 1
    return bytes(weights)
