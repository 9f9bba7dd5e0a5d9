"""A page's lines in four bytes each, by which the server tells what its host has not shown before.

Of a line count its letters and digits, so that the source of a text, its print and a comparison
with an older version have the lines of the text itself.
"""

import re
from array import array
from collections.abc import Collection, Iterable
from zlib import crc32

from sanderling.documents import native

# A shorter line is a label. Of a text so much is looked at, and of more lines the longest count.
SHORTEST = 20
MOST_BYTES = 64 * 1024
MOST_LINES = 64
# Of a longer line counts the end: a field for text stands in one line with its label.
ENOUGH = 128
# A line that is shorter and has the name of the page in it is a heading.
HEADING = 100
LONG_NAME = 5
# A number is a hash with the length of the line in its last bits, in units of 8 bytes.
UNIT = 3
_LENGTH = 31
_HASH = 0xFFFF_FFFF & ~_LENGTH
_SIGNS = bytes(byte for byte in range(128) if not chr(byte).isalnum() and byte not in b"\n\t")
_CELLS = bytes(10 if byte == 9 else byte for byte in range(256))
_NAME = re.compile(r"[^/:,;+|?&=]+")


def numbers_of(text: str, url: str = "") -> bytes:
    """The lines of a text as packed numbers, without those that only repeat the URL's own name."""
    name = max(_NAME.findall(url[url.find("/", 8) :]), key=len, default="").encode().translate(None, _SIGNS)
    if native.extension is not None:
        # ASCII is its own encoding.
        given = text if text.isascii() else text[:MOST_BYTES].encode("utf-8", "surrogatepass")
        packed: bytes = native.extension.lines(given, name)
        return packed
    data = text[:MOST_BYTES].encode("utf-8", "surrogatepass")[:MOST_BYTES]
    data = data.translate(_CELLS, _SIGNS)
    lines: Collection[bytes] = dict.fromkeys(line for line in data.split(b"\n") if len(line) >= SHORTEST)
    if len(name) >= LONG_NAME and name in data:
        lines = [line for line in lines if len(line) > HEADING or name not in line]
    if len(lines) > MOST_LINES:
        lines = sorted(lines, key=len, reverse=True)[:MOST_LINES]
    ends = [line[-ENOUGH:] for line in lines]
    return array("I", [crc32(end) & _HASH | len(end) >> UNIT for end in ends]).tobytes()


def length_of(numbers: Iterable[int]) -> int:
    """How long lines are together, in units."""
    return sum([number & _LENGTH for number in numbers])  # a third faster than from a generator
