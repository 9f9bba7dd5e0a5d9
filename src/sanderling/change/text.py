"""The paragraphs of a page's visible text, and the two text codes of the original papers.

Every verdict uses `visible_text` with its whitespace collapsed. The two codes (checksum and root
mean square) are cheap, but do not see reordered text and edits that cancel out. So they only
describe a change. A strong hash of the same lines decides whether there is one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from sanderling.documents.tree import collapse

# For each of the first 256 code points: its value, and its square.
_POWERS: Final = np.stack([np.arange(256), np.arange(256) ** 2], axis=1)
_BEYOND_LATIN: Final = 256


class Codes(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The parts of both text codes: the sum of character codes, the sum of their squares, and two
    counts."""

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
        """Text II, as the paper defines it: the root of the sum of squares, divided by the number
        of characters."""
        return math.sqrt(self.squares) / self.length if self.length else 0.0


def paragraphs(text: str) -> list[str]:
    """The lines of a rendered text that are not empty, with whitespace collapsed."""
    return [*filter(None, map(collapse, text.split("\n")))]


def codes(text: str) -> Codes:
    """Both codes over the Unicode code points of a text."""
    return packed_codes(packed(text))


def packed(text: str) -> tuple[bytes, int]:
    """The code points of a text, and the bytes for each: one if that is enough, which is very
    fast."""
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
    # Usually these are few, such as dashes and quotation marks. All characters are counted by their
    # lowest byte. Then the counts of the wide ones are subtracted.
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
