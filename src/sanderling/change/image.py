"""Codes of images: the seed paper's `ival`, and the perceptual hashes that verdicts rest on.

Everything here is arithmetic on a small picture; `pixels` turns the bytes of an image into one, in a child process. `ival` is kept for fidelity, and is weak: its determinant is 0 for every picture whose halves are alike.
"""

from __future__ import annotations

from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray
from turbohtml import Element

TAGS: Final = frozenset(("img", "svg", "source", "video", "embed", "object"))
_ATTRIBUTES: Final = {"object": ("data",), "video": ("poster", "src")}
SIDE: Final = 64

# Perceptual hashes of one picture saved twice differ by a few bits; of two pictures, by about 32 of 64.
_SAME_LOOK: Final = 9
# A picture saved twice keeps its colours but for a few of 255 steps.
_SAME_SHADE: Final = 16

Grey = NDArray[np.uint8]
Colours = NDArray[np.uint8]  # height x width x red, green, blue


class Look(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One image as a page shows it: which one, and what it looks like."""

    url: int
    difference: int
    frequency: int
    # The mean colours of 4 x 4 parts: hashes see shapes, and of plain pictures nothing at all.
    shades: bytes = b""


def reference(element: Element, tag: str) -> str:
    """What names an embedded picture: its address, or the drawing itself."""
    if tag == "svg":
        return element.html
    names = _ATTRIBUTES.get(tag, ("src", "srcset", "data-src"))
    return " ".join([value for name in names if (value := element.attr(name))])


def shrink(grey: Grey, width: int, height: int) -> NDArray[np.float64]:
    """A smaller picture by averaging, for any size that `pixels` hands over."""
    rows = np.linspace(0, grey.shape[0], height + 1).astype(int)
    columns = np.linspace(0, grey.shape[1], width + 1).astype(int)
    sums = np.zeros((grey.shape[0] + 1, grey.shape[1] + 1))
    sums[1:, 1:] = grey.astype(np.float64).cumsum(0).cumsum(1)
    corners = sums[np.ix_(rows, columns)]
    boxes = corners[1:, 1:] - corners[:-1, 1:] - corners[1:, :-1] + corners[:-1, :-1]
    return np.asarray(boxes / np.outer(np.diff(rows), np.diff(columns)))


def ival(grey: Grey, exponent: int = 6) -> int:
    """The paper's image value: the determinant of the two-tone picture, read as 16-bit numbers.

    The picture is scaled to n x n, n = 2^exponent (4 to 6), and made two-tone at its mean. Sixteen cells of a row
    make a 16-bit number, so there are n rows of n/16. The paper wants n/16 x n/16 without saying how its rows fold;
    here every 16 rows that follow each other are folded into one by exclusive or, column by column, which keeps a
    single changed cell visible. The determinant is exact, in integers.
    """
    if not 4 <= exponent <= 6:
        raise ValueError("the paper's exponent is 4, 5 or 6")
    side = 2**exponent
    small = shrink(grey, side, side)
    cells = (small > small.mean()).reshape(side, side // 16, 16)
    numbers = (cells @ (1 << np.arange(15, -1, -1))).astype(np.int64)
    folded = np.bitwise_xor.reduce(numbers.reshape(side // 16, 16, side // 16), axis=1)
    return determinant([[int(cell) for cell in row] for row in folded])


def determinant(matrix: list[list[int]]) -> int:
    """By fraction-free elimination (Bareiss): integers stay integers."""
    rows = [row[:] for row in matrix]
    sign, previous = 1, 1
    for at in range(len(rows) - 1):
        pivot = next((index for index in range(at, len(rows)) if rows[index][at]), None)
        if pivot is None:
            return 0
        if pivot != at:
            rows[at], rows[pivot], sign = rows[pivot], rows[at], -sign
        for row in rows[at + 1 :]:
            for column in range(at + 1, len(rows)):
                row[column] = (row[column] * rows[at][at] - row[at] * rows[at][column]) // previous
        previous = rows[at][at]
    return sign * rows[-1][-1] if rows else 1


def difference_hash(grey: Grey) -> int:
    """64 bits: is each cell of an 8 x 8 picture darker than its right neighbour."""
    small = shrink(grey, 9, 8)
    return _bits(small[:, 1:] > small[:, :-1])


def frequency_hash(grey: Grey) -> int:
    """64 bits: which of the 8 x 8 lowest frequencies lie above their median (the hash known as pHash)."""
    small = shrink(grey, 32, 32)
    low = (_COSINES @ small @ _COSINES.T)[:8, :8]
    return _bits(low > np.median(low.ravel()[1:]))


def distance(one: int, other: int) -> int:
    """How many of the bits of two hashes differ: below 10 of 64, people call two pictures the same."""
    return (one ^ other).bit_count()


def look(colours: Colours, url: int = 0) -> Look:
    """Both perceptual hashes of a picture and its colours; `url` is the number that identifies its address."""
    grey = (colours @ _LUMA).round().astype(np.uint8)
    shades = np.stack([shrink(colours[:, :, channel], 4, 4) for channel in range(3)], axis=2)
    return Look(url, difference_hash(grey), frequency_hash(grey), shades.round().astype(np.uint8).tobytes())


def unlikeness(one: Look, other: Look) -> float:
    """How far two pictures are apart: 0 for what people call the same picture, 1 for another one."""
    bits = max(distance(one.difference, other.difference), distance(one.frequency, other.frequency))
    shades = [np.frombuffer(each.shades, np.uint8).astype(np.int16) for each in (one, other)]
    shade = int(np.abs(shades[0] - shades[1]).max()) if len(shades[0]) == len(shades[1]) != 0 else 0
    if bits <= _SAME_LOOK and shade <= _SAME_SHADE:
        return 0.0
    return min(1.0, max(bits / 32, shade / 128))


def _bits(cells: NDArray[np.bool_]) -> int:
    return int.from_bytes(np.packbits(cells.ravel()).tobytes(), "big")


_LUMA: Final = np.array([0.299, 0.587, 0.114])
_COSINES: Final = np.cos(np.pi / 32 * np.outer(np.arange(8), np.arange(32) + 0.5))
