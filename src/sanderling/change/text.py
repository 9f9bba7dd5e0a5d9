"""The paragraphs of a page's visible text, and the two text codes of the seed papers.

Every verdict rests on `visible_text` with its whitespace collapsed. The two codes (checksum and root mean square) are
cheap and comparable, but blind to reordered text and to edits that cancel out, so they only describe a change; whether
there is one is decided by a strong hash of the same lines.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray
from turbohtml import _html

# Every run of whitespace, as Unicode knows it, becomes a space; none at the ends. The parser has it four times as fast
# as Python, but does not promise to keep it.
collapse: Final[Callable[[str], str]] = getattr(_html, "_collapse_whitespace", lambda text: " ".join(text.split()))
# For each of the first 256 code points: its value, and its square.
_POWERS: Final = np.stack([np.arange(256), np.arange(256) ** 2], axis=1)
_BEYOND_LATIN: Final = 256


class Codes(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What both text codes are made of: a sum of character codes, of their squares, and two counts."""

    total: int
    squares: int
    distinct: int
    length: int

    @property
    def checksum(self) -> float:
        """Text I: (frequency x symbol) / number of distinct symbols."""
        return self.total / self.distinct if self.distinct else 0.0

    @property
    def root_mean_square(self) -> float:
        """Text II, as the paper divides: the root of the sum, over the number of characters."""
        return math.sqrt(self.squares) / self.length if self.length else 0.0


def paragraphs(text: str) -> list[str]:
    """The lines of a rendered text, each with its whitespace collapsed, empty ones left out."""
    return [*filter(None, map(collapse, text.split("\n")))]


def codes(text: str) -> Codes:
    """Both codes over Unicode code points: the product's counting."""
    return packed_codes(packed(text))


def packed(text: str) -> tuple[bytes, int]:
    """The code points of a text, and how many bytes each takes: one where that is enough, which costs next to nothing."""
    try:
        return text.encode("latin-1"), 1
    except UnicodeEncodeError:
        return text.encode("utf-32-le", "surrogatepass"), 4  # in half the time of UTF-16


def packed_codes(points: tuple[bytes, int]) -> Codes:
    """The codes of a packed text."""
    body, width = points
    if width == 1:
        return _count(np.bincount(np.frombuffer(body, np.uint8), minlength=256), len(body))
    values = np.frombuffer(body, np.uint32)
    # Mostly a few dashes and quotation marks: all are counted by their lowest bytes, and these few once more to undo it.
    wide = values[values >= _BEYOND_LATIN].astype(np.int64)
    counts = np.bincount(values.astype(np.uint8), minlength=256) - np.bincount(wide & 255, minlength=256)
    narrow = _count(counts, len(values))
    return Codes(
        narrow.total + int(wide.sum()),
        narrow.squares + int(wide.dot(wide)),
        narrow.distinct + _distinct(wide),
        len(values),
    )


def _distinct(wide: NDArray[np.int64]) -> int:
    if len(wide) < 1000:
        return len(set(wide.tolist()))
    seen = np.zeros(int(wide.max()) + 1, np.bool_)
    seen[wide] = True
    return int(np.count_nonzero(seen))


def _count(counts: NDArray[np.intp], length: int) -> Codes:
    total, squares = counts.dot(_POWERS).tolist()
    return Codes(total, squares, int(np.count_nonzero(counts)), length)


def paragraph_codes(lines: Iterable[str]) -> list[Codes]:
    """Both codes for every paragraph."""
    return [codes(line) for line in lines]
