"""Step 3 of a page's life: what an order of visits scores to say which unvisited URL comes first.

An order is a function of a `Snapshot`; `orders` has all of them. Higher scores are visited
earlier. A score means the same in a small crawl and in a large one (PageRank and cash are multiples
of the mean), so that ranks given at different times can stand in one queue.
"""

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sanderling.arrays import Floats
from sanderling.graph import Graph
from sanderling.model import State

Ids = NDArray[np.int64]
Column = Literal["shape", "visited", "relevance", "link_relevance"]


class Snapshot(NamedTuple):
    """What a crawl knows at one moment: a row for every URL, in the order of the graph's
    identities.

    The last four columns are read only for orders that ask for them, and are 0 for all others.
    """

    graph: Graph
    depth: NDArray[np.int32]
    state: NDArray[np.int8]
    host: Ids
    shape: Ids  # URLs of one pattern have the same number
    visited: Floats  # when it was visited last, 0 for never
    relevance: Floats  # of the page, or else of the link to it, from 0 to 1; 0 when it is not known
    link_relevance: Floats  # of the first link to it that was found

    @property
    def queued(self) -> NDArray[np.bool_]:
        return np.equal(self.state, State.QUEUED)

    @property
    def fetched(self) -> NDArray[np.bool_]:
        return np.equal(self.state, State.FETCHED)


class Scoring(NamedTuple):
    """How an order scores all URLs of a snapshot at once; higher is earlier."""

    score: Callable[[Snapshot], Floats]
    reads: tuple[Column, ...] = ()  # columns of the snapshot that cost a look at the store
    # The same with the weights of the parts of a score, for an order that learns them.
    learned: Callable[[Snapshot], tuple[Floats, list[float]]] | None = None


def breadth_first(depth: int) -> float:
    """The rank of a URL of which only its distance from the seeds is known: nearer first."""
    return -float(depth)
