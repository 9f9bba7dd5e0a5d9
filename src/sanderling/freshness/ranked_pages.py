"""The published rank of all pages of a collection, from what visits found."""

import numpy as np
from numpy.typing import NDArray

from sanderling.arrays import Floats
from sanderling.freshness.collection import numbers_of
from sanderling_announce.published_rank import CLOSEST, level, normalized

_normalized = np.frompyfunc(normalized, 3, 1)


def published_ranks(pages: NDArray[np.void]) -> Floats:
    """The rank of every page, compared with the pages of its host."""
    numbers = numbers_of(pages)[:, 0]
    frequency = numbers[:, 1].astype(np.float64) + numbers[:, 3]
    _, host = np.unique(pages["host"], return_inverse=True)
    least, most = np.full(host.max(initial=0) + 1, np.inf), np.zeros(host.max(initial=0) + 1)
    np.minimum.at(least, host, frequency)
    np.maximum.at(most, host, frequency)
    length = np.zeros(len(most), np.int64)
    np.maximum.at(length, host, pages["depth"])
    share = np.asarray(_normalized(frequency, least[host], most[host]), np.float64)
    return np.asarray(share + levels(pages["depth"], length[host]))


def levels(depth: NDArray[np.int_], length: NDArray[np.int_]) -> Floats:
    """L for pages at these depths, in sites of these lengths. What main pages link to lies at depth
    1."""
    both, which = np.unique(depth.astype(np.int64) << 32 | length, return_inverse=True)
    distinct = [CLOSEST if (near := each >> 32) <= 1 else level(near, each & 0xFFFFFFFF) for each in both.tolist()]
    return np.array(distinct, np.float64)[which]
