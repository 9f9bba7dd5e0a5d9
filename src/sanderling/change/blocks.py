"""Two versions of a page as sequences of paragraphs: which stayed, moved, were edited, left or came."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict, deque
from collections.abc import Hashable, Sequence

import msgspec


class Alignment(msgspec.Struct, frozen=True):
    """How the paragraphs of an old version correspond to those of a new one, by position (old, new)."""

    kept: tuple[tuple[int, int], ...]
    moved: tuple[tuple[int, int], ...]
    # Left and came in the same gap between two kept ones: one text, edited.
    edited: tuple[tuple[int, int], ...]
    removed: tuple[int, ...]
    added: tuple[int, ...]

    @property
    def same(self) -> bool:
        return not (self.moved or self.edited or self.removed or self.added)


def align(old: Sequence[Hashable], new: Sequence[Hashable]) -> Alignment:
    """Pair equal paragraphs; the longest run of pairs in order stayed, the others moved. In n log n steps."""
    start = 0
    shared = min(len(old), len(new))
    while start < shared and old[start] == new[start]:
        start += 1
    end = 0
    while end < shared - start and old[-1 - end] == new[-1 - end]:
        end += 1
    pairs = _pairs(old[start : len(old) - end], new[start : len(new) - end], start)
    in_order = _longest_ascent([later for _, later in pairs])
    kept = [
        *((at, at) for at in range(start)),
        *(pairs[index] for index in in_order),
        *((len(old) - at, len(new) - at) for at in range(end, 0, -1)),
    ]
    chosen = set(in_order)
    moved = [pair for index, pair in enumerate(pairs) if index not in chosen]
    edited, removed, added = _gaps(kept, moved, len(old), len(new))
    return Alignment(tuple(kept), tuple(moved), tuple(edited), tuple(removed), tuple(added))


def _pairs(old: Sequence[Hashable], new: Sequence[Hashable], offset: int) -> list[tuple[int, int]]:
    """The n-th paragraph of a text in the old version belongs to the n-th of that text in the new one."""
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
    kept: list[tuple[int, int]], moved: list[tuple[int, int]], old_count: int, new_count: int
) -> tuple[list[tuple[int, int]], list[int], list[int]]:
    gone_elsewhere = {before for before, _ in moved}
    come_from_elsewhere = {after for _, after in moved}
    edited: list[tuple[int, int]] = []
    removed: list[int] = []
    added: list[int] = []
    last_old = last_new = -1
    for before, after in [*kept, (old_count, new_count)]:
        left = [at for at in range(last_old + 1, before) if at not in gone_elsewhere]
        came = [at for at in range(last_new + 1, after) if at not in come_from_elsewhere]
        both = min(len(left), len(came))
        edited += zip(left[:both], came[:both], strict=True)
        removed += left[both:]
        added += came[both:]
        last_old, last_new = before, after
    return edited, removed, added
