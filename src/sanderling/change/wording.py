"""How the words of a paragraph became those of another."""

from __future__ import annotations

from collections import Counter
from difflib import SequenceMatcher
from typing import Final, NamedTuple

# Words are compared with all equal words of the other version. Where a few words repeat all the
# time these pairs are so many that it would take seconds; ordinary paragraphs of 1,000 words have
# half as many.
MAX_PAIRS: Final = 20_000


class WordRun(NamedTuple):
    """A run of words on either side, and whether they are the same ones."""

    same: bool
    old: slice
    new: slice


def steps(old: list[str], new: list[str]) -> list[WordRun]:
    """The runs of words that stayed and that were replaced; all of them as one replaced run where
    it takes too long."""
    counts = Counter(new)
    if sum([counts[word] for word in old]) > MAX_PAIRS:
        return [WordRun(old == new, slice(0, len(old)), slice(0, len(new)))]
    found = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return [WordRun(kind == "equal", slice(a, b), slice(c, d)) for kind, a, b, c, d in found]
