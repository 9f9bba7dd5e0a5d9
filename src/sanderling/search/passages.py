"""Cuts the text of a page into passages, each of which says one thing."""

from collections.abc import Iterator
from typing import Final, NamedTuple

# Words of a passage: enough to tell what it is about, few enough that it is about one thing.
_WORDS: Final = 80
_LONGEST: Final = 1200  # characters, for scripts without spaces
# What a page says in its first 5,000 words is what it is found by.
MOST: Final = 64


class Passage(NamedTuple):
    ordinal: int
    text: str


def passages(text: str) -> list[Passage]:
    """Lines of the text, together up to some 80 words."""
    return [Passage(number, each) for number, each in zip(range(MOST), _cut(text), strict=False)]


def _cut(text: str) -> Iterator[str]:
    gathered, words = list[str](), 0
    for line in filter(None, map(str.strip, text.splitlines())):
        for piece in _pieces(line):
            count = piece.count(" ") + 1
            if gathered and (words + count > _WORDS or sum(map(len, gathered)) + len(piece) > _LONGEST):
                yield "\n".join(gathered)
                gathered, words = [], 0
            gathered.append(piece)
            words += count
    if gathered:
        yield "\n".join(gathered)


def _pieces(line: str) -> Iterator[str]:
    """A line, or parts of one that is longer than a passage may be."""
    while len(line) > _LONGEST:
        end = line.rfind(" ", 0, _LONGEST) + 1 or _LONGEST
        yield line[:end].rstrip()
        line = line[end:]
    if line:
        yield line
