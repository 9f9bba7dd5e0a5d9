"""The orders of visits: for each name in `settings.ORDERS`, how it scores URLs and what it has to
read for that.

A new order is a function of a `Snapshot`, an entry here, and its name and help in
`settings.ORDERS`.
"""

from collections.abc import Callable
from typing import Literal, NamedTuple

from sanderling.arrays import Floats
from sanderling.server.orders import authority, direct, opic, pvalue, topic
from sanderling.server.ranking import Snapshot

Column = Literal["shape", "visited", "relevance", "link_relevance"]


class Scoring(NamedTuple):
    """How an order scores all URLs of a snapshot at once; higher is earlier."""

    score: Callable[[Snapshot], Floats]
    reads: tuple[Column, ...] = ()  # columns of the snapshot that cost a look at the store
    # The same with the weights of the parts of a score, for an order that learns them.
    learned: Callable[[Snapshot], tuple[Floats, list[float]]] | None = None


SCORING: dict[str, Scoring] = {
    "pagerank": Scoring(direct.pagerank_of_all),
    "authority": Scoring(authority.score),
    "backlinks": Scoring(direct.backlinks),
    "opic": Scoring(opic.score, ("visited",)),
    "pvalue": Scoring(pvalue.score, ("shape",)),
    "breadth-first": Scoring(direct.nearest),
    "depth-first": Scoring(direct.farthest),
    "topic": Scoring(topic.score, ("relevance", "link_relevance"), topic.learned),
}


def scores(order: str, known: Snapshot) -> Floats:
    """What every URL is worth in the order asked for."""
    return SCORING[order].score(known)
