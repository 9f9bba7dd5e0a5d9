"""Near-duplicates among all pages of a crawl, found when somebody asks.

Two texts are near-duplicates when their simhashes differ in at most 3 of 64 bits. Divide the bits
into six blocks: at least three blocks are then equal, so for each of the 20 choices of three blocks
the hashes are sorted by these, and only neighbours are compared. A million hashes take some seconds
and no quadratic step.
"""

from collections import Counter
from collections.abc import Iterable
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from sanderling.model import NEAR_BITS

# In a run of hashes with three equal blocks each is compared with as many that follow; such runs
# are long only where thousands of pages are near-duplicates of each other, and then a chain of
# neighbours connects them all.
_AHEAD = 16
_BLOCKS = [(0, 11), (11, 22), (22, 33), (33, 44), (44, 54), (54, 64)]

# Hosts are mirrors of each other when this many paths, and half of the smaller host's, have nearly
# the same text on both.
MIRRORED = 5

_PAGE = np.dtype([("id", "<i8"), ("simhash", "<i8"), ("at", "<f8")])


def pairs(hashes: NDArray[np.uint64]) -> NDArray[np.int64]:
    """The positions of near-duplicates, two a row. Not all of a large group, but enough to connect
    it."""
    found = [np.empty((0, 2), np.int64)]
    for chosen in combinations(_BLOCKS, 3):
        mask = np.uint64(sum(((1 << high) - 1) ^ ((1 << low) - 1) for low, high in chosen))
        keys = hashes & mask
        order = np.argsort(keys)
        keys, ordered = keys[order], hashes[order]
        for ahead in range(1, _AHEAD + 1):
            alike = np.flatnonzero(keys[ahead:] == keys[:-ahead])
            if not len(alike):
                break
            near = alike[np.bitwise_count(ordered[alike] ^ ordered[alike + ahead]) <= NEAR_BITS]
            found.append(np.column_stack((order[near], order[near + ahead])))
    return np.concatenate(found)


def groups(pages: Iterable[tuple[int, int, float]]) -> list[list[int]]:
    """Pages (id, simhash, first seen) with nearly the same text, largest group first, in each the
    oldest page first."""
    table = np.fromiter(pages, _PAGE)
    table = table[np.argsort(table["at"], kind="stable")]
    distinct, member = np.unique(table["simhash"].view(np.uint64), return_inverse=True)
    parent = list(range(len(distinct)))

    def root(one: int) -> int:
        while parent[one] != one:
            parent[one] = one = parent[parent[one]]
        return one

    for one, two in pairs(distinct).tolist():
        parent[root(one)] = root(two)
    found: dict[int, list[int]] = {}
    for id, where in zip(table["id"].tolist(), member.tolist(), strict=True):
        found.setdefault(root(where), []).append(id)
    return sorted((group for group in found.values() if len(group) > 1), key=len, reverse=True)


def mirrors(named: Iterable[list[str]], sizes: dict[str, int]) -> list[tuple[str, str, int]]:
    """Hosts with the same pages at the same paths, from groups of URLs and the number of pages on
    each host."""
    shared: Counter[tuple[str, str]] = Counter()
    for group in named:
        by_path: dict[str, set[str]] = {}
        for url in group:
            scheme, _, rest = url.partition("://")
            name, slash, path = rest.partition("/")
            by_path.setdefault(slash + path, set()).add(f"{scheme}://{name}")
        for homes in by_path.values():
            shared.update(combinations(sorted(homes), 2))
    enough = {
        pair: count for pair, count in shared.items() if count >= max(MIRRORED, min(map(sizes.__getitem__, pair)) / 2)
    }
    return [(*pair, count) for pair, count in sorted(enough.items(), key=lambda item: -item[1])]
