"""A page's text in a few bytes: numbers by which the server tells repeated content from new.

The gist is a hash of the text without digits: the months of a calendar have few gists. The core
leaves out the words of the page's own URL as well: "you searched for blue shoes". The simhash says
how alike two texts are by how many of its 64 bits differ: each word of the text (with the start of
the next) votes on every bit. Over 14,500 pages of documentation, 8 kB of text each, it takes five
to six times as long as xxhash does for the digest; the voting is more than half of it.
"""

import re
from typing import NamedTuple

from xxhash import xxh3_64_digest, xxh3_128_digest

from sanderling.documents import native

# Of a longer text three parts of this length are looked at, from its beginning, its middle and its
# end: menus are at the beginning. The parts are taken after the digits are gone, so that another
# number does not move them.
PART = 2048
MOST_BYTES = 64 * 1024

_LETTERS = b"oxkdzbqpuyvlhjtnagrwiescmf"  # common and rare ones mixed: a cut anywhere takes its share of the words
FIRST = 64


def _codes() -> bytes:
    codes = bytearray(256)
    for byte in range(256):
        # Space and control characters separate words; other signs are never as high as a letter.
        codes[byte] = 0 if byte < 33 else byte if byte >= 128 else 1 + byte % 32
    for rank, letter in enumerate(_LETTERS):
        codes[letter] = codes[letter - 32] = FIRST + rank
    return bytes(codes)


_CODES = _codes()
_NOT_LETTERS = bytes(range(FIRST))
_WORD = re.compile("[a-z]{3,}")
_ID = re.compile(r"(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z0-9]{4,}")

# A longer text is more than an echo of its URL; and in a URL as many words are looked for in it.
LONGEST_ECHO = 1024
MOST_WORDS = 30
_DIGITS = b"0123456789"
_NO_DIGITS = dict.fromkeys(_DIGITS)


class Sketch(NamedTuple):
    digest: bytes = b""  # equal for equal texts only
    simhash: int = 0
    gist: int = 0
    core: int = 0


def digest_of(text: str | None) -> bytes:
    """The digest of a text, as its sketch has it; empty for none."""
    return xxh3_128_digest(_bytes_of(text)) if text is not None else b""


def _bytes_of(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def sketch(text: str, url: str = "") -> Sketch:
    """What identifies a text, exactly and roughly."""
    data = _bytes_of(text)
    digest = xxh3_128_digest(data)
    packed, simhash = native.extension.rough(data) if native.extension is not None else _rough(_ends_of(data))
    if not packed:
        return Sketch(digest)
    gist = _number(packed)
    return Sketch(digest, simhash, gist, _core(_ends_of(data), packed, url) if len(packed) <= LONGEST_ECHO else gist)


def _ends_of(data: bytes) -> bytes:
    """A text, or of a long one its beginning and its end."""
    return data if len(data) <= MOST_BYTES else data[: MOST_BYTES // 2] + data[-MOST_BYTES // 2 :]


def _rough(data: bytes) -> tuple[bytes, int]:
    """The letters of a text, coded, and which bits most of its words vote for."""
    from sanderling.client.simhash import simhash

    coded = data.translate(_CODES, _DIGITS)
    if len(coded) > 3 * PART:
        middle = len(coded) // 2
        coded = b"".join((coded[:PART], coded[middle - PART // 2 : middle + PART // 2], coded[-PART:]))
    packed = coded.translate(None, b"\0")  # runs of numbers leave runs of gaps
    return packed, simhash(coded, FIRST) if packed else 0


def _core(data: bytes, packed: bytes, url: str) -> int:
    ids = _ID.findall(url)[:MOST_WORDS]
    if ids:
        for each in ids:
            data = data.replace(each.encode(), b"")
        packed = data.translate(_CODES, _DIGITS)
    letters = packed.translate(None, _NOT_LETTERS)
    words = _WORD.findall(url.lower().translate(_NO_DIGITS))
    for word in sorted(set(words[:MOST_WORDS]), key=len, reverse=True):
        letters = letters.replace(word.encode().translate(_CODES), b"")
    return _number(letters)


def _number(data: bytes) -> int:
    return int.from_bytes(xxh3_64_digest(data), "big", signed=True)
