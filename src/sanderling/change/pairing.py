"""Which paragraphs between two unchanged ones are versions of each other, by their words.

Without the words, the first that left and the first that came are taken for one edited paragraph.
With them, a paragraph that came for an unrelated one is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from .blocks import Pairing, in_order

# Paragraphs with fewer words, such as prices, are versions of each other whatever they say.
_FEW: Final = 4
# The least share of the words of the shorter paragraph that the other one has, too. Words of up to
# three letters are in most paragraphs and count only if there are no others.
_RELATED: Final = 0.25
_SHORT_WORD: Final = 3
# Of more combinations in one gap, or on one page, only those in the same order are looked at.
_MOST_IN_A_GAP: Final = 400
_MOST: Final = 20_000


def by_words(old: Sequence[str], new: Sequence[str]) -> Pairing:
    """How to pair the paragraphs in a gap of these texts: the pairs with the most words in common,
    in the order of both."""
    room = _MOST
    known: dict[str, frozenset[str]] = {}

    def words(text: str) -> frozenset[str]:
        if text not in known:
            known[text] = _telling(text)
        return known[text]

    def likeness(one: int, other: int) -> float:
        return _likeness(words(old[one]), words(new[other]))

    def pair(left: list[int], came: list[int]) -> list[tuple[int, int]]:
        nonlocal room
        size = len(left) * len(came)
        if size == 1 or size > min(room, _MOST_IN_A_GAP):
            return [both for both in in_order(left, came) if likeness(*both)]
        room -= size
        return _best(left, came, [[likeness(one, other) for other in came] for one in left])

    return pair


def _telling(text: str) -> frozenset[str]:
    found = text.casefold().split()
    if len(found) < _FEW:
        return frozenset()
    return frozenset([word for word in found if len(word) > _SHORT_WORD] or found)


def _likeness(one: frozenset[str], other: frozenset[str]) -> float:
    """0 for unrelated paragraphs. An empty set stands for a paragraph of few words."""
    if not one or not other:
        return _RELATED
    share = len(one & other) / min(len(one), len(other))
    return share if share >= _RELATED else 0.0


def _best(left: list[int], came: list[int], likeness: list[list[float]]) -> list[tuple[int, int]]:
    """The pairs, ascending on both sides, with the greatest likeness in all."""
    best = [[0.0] * (len(came) + 1) for _ in range(len(left) + 1)]
    for one in range(len(left) - 1, -1, -1):
        for other in range(len(came) - 1, -1, -1):
            paired = likeness[one][other] + best[one + 1][other + 1] if likeness[one][other] else 0.0
            best[one][other] = max(paired, best[one + 1][other], best[one][other + 1])
    pairs = []
    one = other = 0
    while one < len(left) and other < len(came):
        alike = likeness[one][other]
        if alike and best[one][other] == alike + best[one + 1][other + 1]:
            pairs.append((left[one], came[other]))
            one, other = one + 1, other + 1
        elif best[one][other] == best[one + 1][other]:
            one += 1
        else:
            other += 1
    return pairs
