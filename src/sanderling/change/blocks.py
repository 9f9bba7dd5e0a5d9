"""Aligns the paragraphs of two versions of a page: which stayed, moved, were edited, removed or
added."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Sequence, Set
from itertools import pairwise

import msgspec

# Says which paragraphs in a gap are versions of each other: pairs of positions, ascending on both
# sides.
Pairing = Callable[[list[int], list[int]], list[tuple[int, int]]]


class Alignment(msgspec.Struct, frozen=True):
    """How the paragraphs of an old version correspond to those of a new one, as pairs of positions
    (old, new)."""

    # The number of unchanged paragraphs at the start and at the end, and the unchanged ones between
    # them.
    head: int
    tail: int
    between: list[tuple[int, int]]
    moved: list[tuple[int, int]]
    # Those in the same gap between two unchanged ones that are versions of each other.
    edited: list[tuple[int, int]]
    removed: list[int]
    added: list[int]

    @property
    def changes(self) -> bool:
        return bool(self.edited or self.moved or self.removed or self.added)

    def without(self, gone: Set[int], came: Set[int]) -> Alignment:
        """The same without the changes of these paragraphs of the old and of the new version."""
        if not gone and not came:
            return self
        return msgspec.structs.replace(
            self,
            edited=[pair for pair in self.edited if pair[0] not in gone],
            moved=[pair for pair in self.moved if pair[0] not in gone],
            removed=[at for at in self.removed if at not in gone],
            added=[at for at in self.added if at not in came],
        )

    def kept(self, old_count: int, new_count: int) -> list[tuple[int, int]]:
        """All unchanged paragraphs, in sequences of these lengths."""
        ends = [(old_count - at, new_count - at) for at in range(self.tail, 0, -1)]
        return [*((at, at) for at in range(self.head)), *self.between, *ends]


def in_order(left: list[int], came: list[int]) -> list[tuple[int, int]]:
    """Takes the first that left and the first that came for versions of each other, and so on."""
    return [*zip(left, came, strict=False)]


def align(old: Sequence[Hashable], new: Sequence[Hashable], pair: Pairing = in_order) -> Alignment:
    """Pairs equal paragraphs. The longest sequence of pairs in ascending order stayed; the other
    pairs moved.

    It takes n log n steps.
    """
    shared = min(len(old), len(new))
    head = next((at for at in range(shared) if old[at] != new[at]), shared)
    rest = shared - head
    tail = next((at for at in range(rest) if old[-1 - at] != new[-1 - at]), rest)
    old_end, new_end = len(old) - tail, len(new) - tail
    pairs = _pairs(old[head:old_end], new[head:new_end], head)
    in_order = _longest_ascent([later for _, later in pairs])
    chosen = set(in_order)
    between = [pairs[index] for index in in_order]
    moved = [pair for index, pair in enumerate(pairs) if index not in chosen]
    edited, removed, added = _gaps([(head - 1, head - 1), *between, (old_end, new_end)], moved, pair)
    return Alignment(head, tail, between, moved, edited, removed, added)


def _pairs(old: Sequence[Hashable], new: Sequence[Hashable], offset: int) -> list[tuple[int, int]]:
    """Pairs the n-th paragraph with some text in the old version with the n-th one with that text
    in the new version."""
    waiting: defaultdict[Hashable, deque[int]] = defaultdict(deque)
    for at, block in enumerate(new):
        waiting[block].append(at)
    return [
        (before + offset, waiting[block].popleft() + offset) for before, block in enumerate(old) if waiting.get(block)
    ]


def _longest_ascent(places: list[int]) -> list[int]:
    """The indices of a longest ascending subsequence (patience sorting)."""
    tops: list[int] = []
    top_index: list[int] = []
    below: list[int] = []
    for index, place in enumerate(places):
        pile = bisect_left(tops, place)
        below.append(top_index[pile - 1] if pile else -1)
        if pile == len(tops):
            tops.append(place)
            top_index.append(index)
        else:
            tops[pile] = place
            top_index[pile] = index
    chain: list[int] = []
    at = top_index[-1] if top_index else -1
    while at >= 0:
        chain.append(at)
        at = below[at]
    return chain[::-1]


def _gaps(
    kept: list[tuple[int, int]], moved: list[tuple[int, int]], pair: Pairing
) -> tuple[list[tuple[int, int]], list[int], list[int]]:
    gone_elsewhere = {before for before, _ in moved}
    come_from_elsewhere = {after for _, after in moved}
    edited: list[tuple[int, int]] = []
    removed: list[int] = []
    added: list[int] = []
    for (last_old, last_new), (before, after) in pairwise(kept):
        left = [at for at in range(last_old + 1, before) if at not in gone_elsewhere]
        came = [at for at in range(last_new + 1, after) if at not in come_from_elsewhere]
        pairs = pair(left, came) if left and came else []
        edited += pairs
        stayed = {one for one, _ in pairs}, {other for _, other in pairs}
        removed += [at for at in left if at not in stayed[0]]
        added += [at for at in came if at not in stayed[1]]
    return edited, removed, added
