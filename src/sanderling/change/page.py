"""A page in a few hundred bytes: all that is kept of a version in order to compare the next one with it.

The client takes the `markup` of a page while it has the tree at hand, and condenses it together with the text later, for
a group of pages. No node is walked in Python: the text, the tags and the classes are each collected by one call into the
parser's C core, and hashed at once: kept until later, their many small strings would leave the processor's caches.
"""

from __future__ import annotations

from itertools import filterfalse
from typing import Any, Final, NamedTuple, cast

import msgspec
import numpy as np
import turbohtml
from numpy.typing import NDArray
from turbohtml import Document, Element
from xxhash import xxh3_64_digest, xxh3_128_digest, xxh32_intdigest

from sanderling.documents.visible import visible_text

from . import image, presentation, text, weight
from .facts import prices
from .text import Codes

# Raise the number when anything here counts differently: fingerprints of another processing are not comparable. The
# parser belongs to it, because a new release may render the same page to other lines.
PROCESSING: Final = xxh32_intdigest(f"5 turbohtml/{turbohtml.__version__}".encode())
# State stays bounded: what follows on a longer page is its last paragraph.
MAX_PARAGRAPHS: Final = 4096
_MANY: Final = 32

_REMARKABLE: Final = (
    *("title", "style", "link"),
    *weight.HEADINGS,
    *weight.INLINE,
    *image.TAGS,
)
_ONLY_STYLES: Final = presentation.STYLE_TAGS.__contains__
_SPACES: Final = bytes([point for point in range(256) if chr(point).isspace()])
_SPACES_IN_A_LINE: Final = _SPACES.replace(b"\n", b"")
_encode: Final = msgspec.msgpack.Encoder().encode


class PageFingerprint(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What one version of a page is compared by.

    The four hashes decide whether something changed, and of which kind; codes, counts and paragraphs say what, where
    and how much. The hash of the structure is over the order of the tags: a closing tag that moved and left that order
    as it was is seen by `explain` only. At most 600 bytes and 11 per paragraph as msgpack.
    """

    processing: int
    text: bytes
    structure: bytes
    presentation: bytes
    images: bytes
    # Where links lead; empty where the caller did not say.
    links: bytes
    elements: int
    image_count: int
    codes: Codes
    # The checksum's sum with every character multiplied by its font size, in sixteenths.
    weighted: int
    # Paragraphs, a column each: 8 bytes of hash, 2 of length, 1 of weight.
    hashes: bytes
    lengths: bytes
    weights: bytes
    prices: tuple[str, ...] = ()

    @property
    def paragraphs(self) -> int:
        return len(self.weights)

    def paragraph_hashes(self) -> list[int]:
        return cast(list[int], np.frombuffer(self.hashes, ">u8").tolist())

    def mass(self) -> NDArray[np.int64]:
        """What each paragraph weighs in its page: length times font size."""
        return np.frombuffer(self.lengths, "<u2").astype(np.int64) * np.frombuffer(self.weights, np.uint8)


class Markup(NamedTuple):
    """What is left of a page's tree, which afterwards may be gone."""

    structure: bytes
    presentation: bytes
    images: bytes
    elements: int
    image_count: int
    title: str
    # Text that is shown larger or smaller, and how large.
    sized: list[tuple[bytes, int]]


def fingerprint(document: Document, *, links: bytes = b"", processing: int = PROCESSING) -> PageFingerprint:
    """The fingerprint of a parsed page; its tree is left as it was."""
    return condense(markup(document), visible_text(document), links=links, processing=processing)


def condense(
    markup: Markup,
    visible: str,
    *,
    links: bytes = b"",
    processing: int = PROCESSING,
) -> PageFingerprint:
    """The fingerprint of a page, from what its tree holds and its `visible_text`.

    `links` are its link targets in any packed form, which a crawler has at hand; `processing` is another number than
    the default where rules of the user shaped the document (`rules.processing`).
    """
    title, sized = markup.title, markup.sized
    rendered = f"{title}\n{visible}" if title else visible
    words = text.collapse(rendered)
    points = text.packed(words)
    blocks = _blocks(rendered)
    codes = text.packed_codes(points)
    return PageFingerprint(
        processing,
        xxh3_128_digest(points[0], points[1]),
        markup.structure,
        markup.presentation,
        markup.images,
        xxh3_64_digest(links) if links else b"",
        markup.elements,
        markup.image_count,
        codes,
        # Plain text, and what larger or smaller text adds.
        weight.PLAIN * codes.total + sum([(size - weight.PLAIN) * sum(words) for words, size in sized]),
        b"".join(map(xxh3_64_digest, blocks)),
        _lengths(blocks),
        _weights(blocks, bool(title), sized),
        prices(words),
    )


def markup(document: Document) -> Markup:
    """All that is asked of the tree, in three walks in C."""
    title = ""
    styles: list[object] = []
    images: list[str] = []
    sized: list[tuple[bytes, int]] = []
    for element in document.iter_elements(_REMARKABLE):
        tag = element.tag
        if tag in weight.HEADINGS:
            sized.append((block(element.text), weight.HEADINGS[tag]))
        elif tag == "link":
            styles.append(presentation.sheet(element))
        elif tag in image.TAGS:
            images.append(image.reference(element, tag))
        elif tag in weight.INLINE:
            styles.append(presentation.look(element))
            sized.append((block(element.text), weight.of_inline(element, tag)))
        elif tag == "title":
            title = title or _page_title(element)
        else:
            styles.append(element.text)
    for element in presentation.styled(document):
        look = presentation.look(element)
        styles.append(look)
        # Its text is seldom a paragraph, and then out of the order of the headings: it only adds to the weighted sum.
        if look[1] and (size := weight.of_style(look[1])) != weight.PLAIN:
            sized.append((block(element.text), size))
    elements = _tags_and_classes(document)
    return Markup(
        xxh3_128_digest(_encode([*filterfalse(_ONLY_STYLES, elements[::2])])),
        xxh3_128_digest(_encode((elements, styles))),
        xxh3_128_digest(_encode(images)),
        len(elements) // 2,
        len(images),
        title,
        sized,
    )


def block(words: str) -> bytes:
    """What identifies a paragraph: its text without spaces, letters beyond Latin-1 spelled out.

    Spaces alone never are a change of a paragraph. Most pages keep to Latin-1, and their text becomes bytes at no
    cost; a paragraph that does must come out the same on a page that elsewhere does not.
    """
    return words.encode("latin-1", "backslashreplace").translate(None, _SPACES)


def _blocks(rendered: str) -> list[bytes]:
    blocks = rendered.encode("latin-1", "backslashreplace").translate(None, _SPACES_IN_A_LINE).split()
    if len(blocks) > MAX_PARAGRAPHS:
        blocks[MAX_PARAGRAPHS - 1 :] = [b"\n".join(blocks[MAX_PARAGRAPHS - 1 :])]
    return blocks


def _tags_and_classes(document: Document) -> list[str | None]:
    """Of every element in page order its tag and then its class, or nothing.

    `find_all` calls its filters from C and builds no element object unless all of them agree. A list's own `append` is
    such a filter and never agrees, so a tag is offered to it first and then to one that does; next comes the class.
    """
    found: list[str | None] = []
    collect: Any = found.append
    document.find_all([collect, True], attrs={"class": collect})
    return found


def _page_title(element: Element) -> str:
    """The text of a `title`, unless it is the one of a drawing."""
    parent = element.parent
    return text.collapse(element.text) if isinstance(parent, Element) and parent.tag == "head" else ""


def _lengths(blocks: list[bytes]) -> bytes:
    try:
        return np.fromiter(map(len, blocks), "<u2", len(blocks)).tobytes()
    except OverflowError:
        return np.array([min(len(block), 65535) for block in blocks], "<u2").tobytes()


def _weights(blocks: list[bytes], titled: bool, sized: list[tuple[bytes, int]]) -> bytes:
    """A weight for every paragraph: that of the sized text it consists of, or plain."""
    weights = bytearray(b"\x10" * len(blocks))
    after = 0
    if titled:
        weights[0] = weight.TITLE
        after = 1
    # Where there are many, those that are no paragraph are not searched for, and others once in vain: time stays bounded.
    known = set(blocks) if len(sized) > _MANY else None
    for words, size in sized:
        if known is not None and words not in known:
            continue
        # Mostly headings, and in page order: the next one is near. Most others are no paragraph of their own.
        try:
            place = blocks.index(words, after)
        except ValueError:
            if known is not None:
                known.discard(words)
            continue
        weights[place] = size
        after = place + 1
    return bytes(weights)
