"""What applications are filled with: articles of known words. Each has a word of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from sanderling.testing import prose

_ONSETS = ["b", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "t", "v", "z"]
_VOWELS = ["a", "e", "i", "o", "u"]


@dataclass(frozen=True)
class Article:
    number: int
    title: str
    word: str  # stands in no other article
    paragraphs: Sequence[str]

    @property
    def slug(self) -> str:
        return self.title.lower().replace(" ", "-")

    @property
    def text(self) -> str:
        return "\n\n".join(self.paragraphs)


def articles(count: int, first: int = 0, sentences: int = 12) -> list[Article]:
    """Articles that are the same at every call. Different numbers make different articles."""
    return [_article(number, sentences) for number in range(first, first + count)]


def _article(number: int, length: int) -> Article:
    rng = Random(f"field/{number}")
    pool = prose.sentences(number % 9)
    word = own_word(number)
    names = [name for name in prose.words(3)[200:] if len(name) > 3]
    title = f"{rng.choice(names).capitalize()} {rng.choice(names)} {word}"
    said = [rng.choice(pool) for _ in range(length)]
    said[length // 2] += f" Only here it says {word}."
    return Article(number, title, word, [" ".join(said[at : at + 4]) for at in range(0, length, 4)])


def own_word(number: int) -> str:
    """A word that is in no dictionary: `xu`, and a syllable for each digit."""
    digits = []
    left = number + 70
    while left:
        left, digit = divmod(left, 70)
        digits.append(_ONSETS[digit % 14] + _VOWELS[digit // 14])
    return "xu" + "".join(reversed(digits)) + "q"
