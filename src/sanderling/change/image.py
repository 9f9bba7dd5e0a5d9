"""Codes of images: the perceptual hashes that verdicts use, and `ival` of the original paper.

All functions compute on a small picture. `pixels` makes it from the bytes of an image, in a child
process. `ival` is here only for comparison. It is weak: its determinant is 0 for every picture with
two equal halves.
"""

from __future__ import annotations

from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from sanderling.documents.tree import Element

TAGS: Final = frozenset(("img", "svg", "source", "video", "embed", "object"))
_ATTRIBUTES: Final = {"object": ("data",), "video": ("poster", "src")}
SIDE: Final = 64
_TINY: Final = frozenset(("0", "1", "2", "0px", "1px", "2px"))

# If one picture is saved twice, its perceptual hashes differ in a few of 64 bits. Those of two
# pictures differ in about 32.
_SAME_LOOK: Final = 9
# If a picture is saved again, its colours change by a few of 255 steps.
_SAME_SHADE: Final = 16

Grey = NDArray[np.uint8]
Colours = NDArray[np.uint8]  # height x width x red, green, blue


class Look(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What an image looks like."""

    difference: int
    frequency: int
    # The mean colours of 4 x 4 parts. The hashes see only shapes, and nothing in a plain picture.
    shades: bytes = b""


def reference(element: Element, tag: str) -> str:
    """The address of an embedded picture, or the drawing itself for an SVG."""
    if tag == "svg":
        return element.html
    names = _ATTRIBUTES.get(tag, ("src", "srcset", "data-src"))
    return " ".join([value for name in names if (value := element.attr(name))])


def is_pixel(element: Element) -> bool:
    """Whether an image has at most 2x2 pixels: it counts visitors and shows nothing."""
    return (element.attr("width") or "") in _TINY and (element.attr("height") or "") in _TINY


def shrink(grey: Grey, width: int, height: int) -> NDArray[np.float64]:
    """Shrinks a picture of any size by averaging."""
    rows = np.linspace(0, grey.shape[0], height + 1).astype(int)
    columns = np.linspace(0, grey.shape[1], width + 1).astype(int)
    sums = np.zeros((grey.shape[0] + 1, grey.shape[1] + 1))
    sums[1:, 1:] = grey.astype(np.float64).cumsum(0).cumsum(1)
    corners = sums[np.ix_(rows, columns)]
    boxes = corners[1:, 1:] - corners[:-1, 1:] - corners[1:, :-1] + corners[:-1, :-1]
    return np.asarray(boxes / np.outer(np.diff(rows), np.diff(columns)))


def ival(grey: Grey, exponent: int = 6) -> int:
    """The paper's image value: the determinant of the two-tone picture, read as 16-bit numbers.

    The picture is scaled to n x n, n = 2^exponent (4 to 6), and made two-tone at its mean. Sixteen
    cells of a row make a 16-bit number, so there are n rows of n/16 numbers. The paper needs n/16 x
    n/16 but does not say how to get there. Here every 16 consecutive rows are combined by exclusive
    or, column by column, so that a single changed cell stays visible. The determinant is an exact
    integer.
    """
    if not 4 <= exponent <= 6:
        raise ValueError("the exponent must be 4, 5 or 6")
    side = 2**exponent
    small = shrink(grey, side, side)
    cells = (small > small.mean()).reshape(side, side // 16, 16)
    numbers = (cells @ (1 << np.arange(15, -1, -1))).astype(np.int64)
    folded = np.bitwise_xor.reduce(numbers.reshape(side // 16, 16, side // 16), axis=1)
    return determinant([[int(cell) for cell in row] for row in folded])


def determinant(matrix: list[list[int]]) -> int:
    """The determinant by fraction-free elimination (Bareiss), in integers."""
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
    """64 bits: whether each cell of an 8 x 8 picture is darker than its right neighbour."""
    small = shrink(grey, 9, 8)
    return _bits(small[:, 1:] > small[:, :-1])


def frequency_hash(grey: Grey) -> int:
    """64 bits: which of the 8 x 8 lowest frequencies are above their median (known as pHash)."""
    small = shrink(grey, 32, 32)
    low = (_COSINES @ small @ _COSINES.T)[:8, :8]
    return _bits(low > np.median(low.ravel()[1:]))


def distance(one: int, other: int) -> int:
    """In how many bits two hashes differ. With fewer than 10 of 64, people see the same picture."""
    return (one ^ other).bit_count()


def look(colours: Colours) -> Look:
    """Both perceptual hashes of a picture, and its colours."""
    grey = (colours @ _LUMA).round().astype(np.uint8)
    shades = np.stack([shrink(colours[:, :, channel], 4, 4) for channel in range(3)], axis=2)
    return Look(difference_hash(grey), frequency_hash(grey), shades.round().astype(np.uint8).tobytes())


def unlikeness(one: Look, other: Look) -> float:
    """How different two pictures are: 0 if people see the same picture, up to 1 for another one."""
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
