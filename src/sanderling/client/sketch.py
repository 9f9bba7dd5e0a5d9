"""A page's text in a few bytes: numbers by which the server tells repeated content from new.

The gist is a hash of the text without digits: the months of a calendar have few gists. The core
leaves out the words of the page's own URL as well: "you searched for blue shoes". The simhash says
how alike two texts are by how many of its 64 bits differ: each word of the text (with the start of
the next) votes on every bit. Over 14,500 pages of documentation, 8 kB of text each, it takes five
to six times as long as xxhash does for the digest; the voting is more than half of it.
"""

import re
from typing import NamedTuple

import numpy as np
from xxhash import xxh3_64_digest, xxh3_128_digest

# Of a longer text three parts of this length are looked at, from its beginning, its middle and its
# end: menus are at the beginning. The parts are taken after the digits are gone, so that another
# number does not move them.
PART = 2048
MOST_BYTES = 64 * 1024

# About this many words vote. More would cost more and sharpen little: 150 tell 1 % of changed words
# from 5 %.
_ENOUGH_BYTES = 900
# A word votes so often at most, however often it stands there: twenty times "Reply" would outvote
# sixty words that only this page has. Of 4,000 pages of documentation 118 pairs with less than 70 %
# of their words in common were taken for near-duplicates without it, 37 with it.
_VOTES = 4
_LETTERS = b"oxkdzbqpuyvlhjtnagrwiescmf"  # common and rare ones mixed: a cut anywhere takes its share of the words
_FIRST = 64


def _codes() -> bytes:
    codes = bytearray(256)
    for byte in range(256):
        # Space and control characters separate words; other signs are never as high as a letter.
        codes[byte] = 0 if byte < 33 else byte if byte >= 128 else 1 + byte % 32
    for rank, letter in enumerate(_LETTERS):
        codes[letter] = codes[letter - 32] = _FIRST + rank
    return bytes(codes)


_CODES = _codes()
_NOT_LETTERS = bytes(range(_FIRST))
_WORD = re.compile("[a-z]{3,}")
_ID = re.compile(r"(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z0-9]{4,}")

# A longer text is more than an echo of its URL; and in a URL as many words are looked for in it.
LONGEST_ECHO = 1024
MOST_WORDS = 30
_DIGITS = b"0123456789"
_NO_DIGITS = dict.fromkeys(_DIGITS)
_AFTER = bytes(9)
_MIX = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(32))


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
    if len(data) > MOST_BYTES:
        data = data[: MOST_BYTES // 2] + data[-MOST_BYTES // 2 :]
    coded = data.translate(_CODES, _DIGITS)
    if len(coded) > 3 * PART:
        middle = len(coded) // 2
        coded = b"".join((coded[:PART], coded[middle - PART // 2 : middle + PART // 2], coded[-PART:]))
    packed = coded.translate(None, b"\0")  # runs of numbers leave runs of gaps
    if not packed:
        return Sketch(digest)
    gist = _number(packed)
    return Sketch(digest, _simhash(coded), gist, _core(data, packed, url) if len(packed) <= LONGEST_ECHO else gist)


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


def _simhash(coded: bytes) -> int:
    padded = b"".join((b"\0", coded, _AFTER))
    size = len(padded)
    codes = np.frombuffer(padded, np.uint8)
    # In a long text only words with certain first letters vote: choosing them costs less than
    # hashing them all.
    lowest = _FIRST + int(26 - 26 * _ENOUGH_BYTES / size) if size > _ENOUGH_BYTES else 1
    starts = ((codes[:-9] == 0) & (codes[1:-8] >= lowest)).nonzero()[0]
    words = np.ndarray((size - 8,), "<u8", padded, 1, (1,))[starts[:255]]
    words.sort()
    words = np.concatenate((words[:_VOTES], words[_VOTES:][words[_VOTES:] != words[:-_VOTES]]))
    words *= _MIX[0]
    words ^= words >> _MIX[2]
    words *= _MIX[1]
    bits = np.unpackbits(words.view(np.uint8)).reshape(-1, 64)
    votes = np.add.reduce(bits, 0, np.uint8)
    return int.from_bytes(np.packbits(votes > len(bits) >> 1).tobytes(), "big", signed=True)
