"""Builds the graph: converts packed 64-bit identities to a sparse matrix of 32-bit positions."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sanderling.arrays import Floats

Ids = NDArray[np.int64]
Positions = NDArray[np.int32]

PAGES_AT_ONCE = 20_000
# Links that are processed at once, 16 bytes each. A pass over the 80 million links of a million
# pages takes 0.5 s. With a tenth of this it takes 0.8 s, because each part is summed into an array
# of all pages.
LINKS_AT_ONCE = 1 << 24

_TOP = np.uint64(1 << 63)


class Places:
    """Finds the positions of identities in a sorted array.

    Identities are hashes, so their first bits give nearly their position. A lookup takes one access
    to a table and about one to the array: five times as fast as a binary search. Numbers that are
    not hashes are found too, but slowly.
    """

    def __init__(self, ids: Ids) -> None:
        self._ids = np.append(ids, np.iinfo(np.int64).max)
        bits = max(1, len(ids).bit_length() + 1)
        self._shift = np.uint64(64 - bits)
        counts = np.bincount(self._bucket(ids), minlength=1 << bits)
        self._first = np.zeros((1 << bits) + 1, np.int32)
        np.cumsum(counts, out=self._first[1:])

    def of(self, wanted: Ids) -> Positions:
        """The position of each identity, or -1 if it is not there."""
        found = self._first[self._bucket(wanted)]
        astray = np.flatnonzero(self._ids[found] < wanted)
        for _ in range(8):
            if not len(astray):
                break
            found[astray] += 1
            astray = astray[self._ids[found[astray]] < wanted[astray]]
        if len(astray):
            found[astray] = np.searchsorted(self._ids[:-1], wanted[astray])
        found[(self._ids[found] != wanted) | (found == len(self._ids) - 1)] = -1
        return found

    def _bucket(self, ids: Ids) -> NDArray[np.int64]:
        # Flipping the sign bit maps signed numbers to unsigned ones in the same order.
        return ((ids.view(np.uint64) ^ _TOP) >> self._shift).astype(np.int64)


class Graph(NamedTuple):
    """The links between pages. Page p links to `targets[starts[p]:starts[p + 1]]`; these are
    positions in `ids`."""

    ids: Ids
    starts: Ids
    targets: Positions

    @property
    def out_degree(self) -> Ids:
        return np.diff(self.starts)

    @property
    def in_degree(self) -> Ids:
        """How many pages link to each page."""
        counts = np.zeros(len(self.ids), np.int64)
        for first in range(0, len(self.targets), LINKS_AT_ONCE):
            counts += np.bincount(self.targets[first : first + LINKS_AT_ONCE], minlength=len(counts))
        return counts

    def links_of(self, page: int) -> Positions:
        return self.targets[self.starts[page] : self.starts[page + 1]]

    def push(self, amounts: Floats) -> Floats:
        """The sum that each page receives if every page sends its amount along each of its
        links."""
        arrived = np.zeros(len(self.ids))
        for first, last in self._parts():
            sent = np.repeat(amounts[first:last], np.diff(self.starts[first : last + 1]))
            arrived += np.bincount(self.targets[self.starts[first] : self.starts[last]], sent, len(arrived))
        return arrived

    def pull(self, amounts: Floats) -> Floats:
        """The sum of the amounts of all pages that each page links to."""
        gathered = np.zeros(len(self.ids))
        for first, last in self._parts():
            source = np.repeat(np.arange(last - first), np.diff(self.starts[first : last + 1]))
            there = amounts[self.targets[self.starts[first] : self.starts[last]]]
            gathered[first:last] = np.bincount(source, there, last - first)
        return gathered

    def _parts(self) -> Iterator[tuple[int, int]]:
        """Ranges of pages with about LINKS_AT_ONCE links each."""
        first, end = 0, len(self.ids)
        while first < end and self.starts[first] < len(self.targets):
            last = int(np.searchsorted(self.starts, self.starts[first] + LINKS_AT_ONCE, side="right")) - 1
            last = min(max(last, first + 1), end)
            yield first, last
            first = last


def pack(ids: Ids, pages: Iterable[tuple[int, bytes]], alias: Ids | None = None) -> Graph:
    """Builds the graph of the URLs `ids`, which are sorted, from pages with their packed links in
    any order.

    `alias` holds for each URL the URL of the page that it is another name of, or 0. Links to an
    alias count as links to that page. The links on an alias do not count, because the page has the
    same ones. Links of a page to itself do not count either.
    """
    places = Places(ids)
    stands_for = _resolved(ids, places, alias) if alias is not None and alias.any() else None
    degree = np.zeros(len(ids), np.int64)
    parts: list[tuple[Positions, Positions]] = []
    rows = iter(pages)
    while batch := list(islice(rows, PAGES_AT_ONCE)):
        page = places.of(np.fromiter((row[0] for row in batch), np.int64, len(batch)))
        counts = np.fromiter((len(row[1]) >> 3 for row in batch), np.int64, len(batch))
        targets = places.of(np.frombuffer(b"".join([row[1] for row in batch]), np.int64))
        source = np.repeat(page, counts)
        kept = (source >= 0) & (targets >= 0)
        if stands_for is not None:
            targets = stands_for[targets]
            kept &= stands_for[source] == source
            kept &= _first_of_their_page(source, targets)
        kept &= source != targets
        parts.append((page[page >= 0], targets[kept]))
        degree += np.bincount(source[kept], minlength=len(ids))
    starts = np.zeros(len(ids) + 1, np.int64)
    np.cumsum(degree, out=starts[1:])
    ordered = np.empty(starts[-1], np.int32)
    while parts:
        page, targets = parts.pop()
        shift = starts[page] - np.cumsum(degree[page]) + degree[page]
        ordered[np.repeat(shift, degree[page]) + np.arange(len(targets))] = targets
    return Graph(ids, starts, ordered)


def _resolved(ids: Ids, places: Places, alias: Ids) -> Positions:
    """For each position, the position of its page: its own, unless it is an alias."""
    stands_for = np.arange(len(ids), dtype=np.int32)
    named = np.flatnonzero(alias)
    target = places.of(alias[named])
    stands_for[named[target >= 0]] = target[target >= 0]
    for _ in range(8):  # follows aliases of aliases; a cycle stops somewhere in the cycle
        further = stands_for[stands_for]
        if np.array_equal(further, stands_for):
            break
        stands_for = further
    return stands_for


def _first_of_their_page(source: Positions, targets: Positions) -> NDArray[np.bool_]:
    """Marks the first link from each page to each target. Links to two names of one page count
    once."""
    first = np.zeros(len(targets), np.bool_)
    first[np.unique(source.astype(np.int64) << 32 | targets, return_index=True)[1]] = True
    return first
