"""The published rank of pages, from what visits found: rank = Fn + L, each at most one half.

    Fn = 1/2 (F - Fmin) / (Fmax - Fmin)

F is how often a page changed, compared with the pages of its host. L is 0.5 for the main page and the pages it links to,
and 0.4 to 0.1 for others, in bands of their depth. There are sqrt((length - 1) / 2) bands, at least one and at most four;
the length is the greatest depth.
"""

import numpy as np
from numpy.typing import NDArray

from sanderling.arrays import Floats
from sanderling.freshness.collection import numbers_of


def published_ranks(pages: NDArray[np.void]) -> Floats:
    """The rank of every page of a collection."""
    numbers = numbers_of(pages)[:, 0]
    frequency = numbers[:, 1].astype(np.float64) + numbers[:, 3]
    _, host = np.unique(pages["host"], return_inverse=True)
    least, most = np.full(host.max(initial=0) + 1, np.inf), np.zeros(host.max(initial=0) + 1)
    np.minimum.at(least, host, frequency)
    np.maximum.at(most, host, frequency)
    length = np.zeros(len(most))
    np.maximum.at(length, host, pages["depth"])
    width = (most - least)[host]
    share = np.divide(frequency - least[host], width, out=np.zeros(len(pages)), where=width > 0)
    return np.asarray(0.5 * share + levels(pages["depth"], length[host]))


def levels(depth: NDArray[np.int_], length: Floats) -> Floats:
    """L for pages at these depths, in sites of these lengths."""
    bands = np.clip(np.rint(np.sqrt(np.maximum(length - 1, 0) / 2)), 1, 4)
    width = np.maximum(length - 1, 1) / bands
    band = np.minimum(np.floor((np.maximum(depth, 2) - 2) / width), bands - 1)
    return np.where(depth <= 1, 0.5, np.round(0.4 - 0.1 * band, 1))
