"""The methods that the lab compares: those of the original papers, simhash, and Sanderling's own
("ours")."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Final, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

from sanderling.change import AspectKind, compare, fingerprint, image, structure, text
from sanderling.change.explain import paragraphs
from sanderling.documents.tree import Document

Aspect = Literal["text", "structure", "presentation", "image"]


class Method(msgspec.Struct, frozen=True):
    """A method that recognises another version of a page by a code."""

    name: str
    aspect: Aspect
    code: Callable[[Document], Hashable]
    size: Callable[[object], int]
    differs: Callable[[object, object], bool] = lambda one, other: one != other


def _words(document: Document) -> str:
    return " ".join(paragraphs(document))


def _tags(document: Document) -> list[str]:
    return [element.tag for element in document.iter_elements()]


def simhash(document: Document) -> int:
    """Charikar's simhash: every word votes on 64 bits."""
    hashes = np.array([xxh3_64_intdigest(word.encode()) for word in _words(document).split()], np.uint64)
    votes = np.unpackbits(hashes.view(np.uint8).reshape(len(hashes), 8), axis=1).astype(np.int32)
    ones = 2 * votes.sum(0) > len(hashes)
    return int.from_bytes(np.packbits(ones).tobytes(), "big")


def _size(code: object) -> int:
    if isinstance(code, tuple):
        return sum(map(_size, code))
    return len(code) if isinstance(code, str | bytes) else 8


def _ours(aspect: Aspect) -> Method:
    kind = AspectKind(aspect)
    return Method(
        "ours",
        aspect,
        fingerprint,
        lambda code: len(msgspec.msgpack.encode(code)),
        lambda one, other: kind in compare(one, other).kinds,  # type: ignore[arg-type]
    )


METHODS: Final = (
    Method("fingerprint, first letters", "structure", lambda page: structure.fingerprints(_tags(page))[0], _size),
    Method("fingerprints, first and last", "structure", lambda page: structure.fingerprints(_tags(page)), _size),
    Method("tree, nodes per level", "structure", lambda page: structure.levels(structure.tree(page)), _size),
    _ours("structure"),
    _ours("presentation"),
    Method("checksum, page", "text", lambda page: text.codes(_words(page)).checksum, _size),
    Method(
        "checksum, paragraphs",
        "text",
        lambda page: tuple(code.checksum for code in text.paragraph_codes(paragraphs(page))),
        _size,
    ),
    Method("checksum, font-weighted", "text", lambda page: fingerprint(page).weighted, _size),
    Method("root mean square, page", "text", lambda page: text.codes(_words(page)).root_mean_square, _size),
    Method(
        "root mean square, paragraphs",
        "text",
        lambda page: tuple(code.root_mean_square for code in text.paragraph_codes(paragraphs(page))),
        _size,
    ),
    Method("simhash, any bit", "text", simhash, _size),
    Method(
        "simhash, more than 3 bits",
        "text",
        simhash,
        _size,
        lambda one, other: image.distance(one, other) > 3,  # type: ignore[arg-type]
    ),
    _ours("text"),
    _ours("image"),
)

PICTURES: Final[dict[str, Callable[[NDArray[np.uint8], NDArray[np.uint8]], bool]]] = {
    "ival, n = 16": lambda one, other: image.ival(one, 4) != image.ival(other, 4),
    "ival, n = 64": lambda one, other: image.ival(one, 6) != image.ival(other, 6),
    "difference hash": lambda one, other: image.distance(image.difference_hash(one), image.difference_hash(other)) > 9,
    "ours (frequency hash)": lambda one, other: (
        image.distance(image.frequency_hash(one), image.frequency_hash(other)) > 9
    ),
}
