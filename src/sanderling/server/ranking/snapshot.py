"""The background job behind `ranking`: reads the whole state, scores the queue, weighs the pages
and leaves a file.

It runs as a process of its own beside the crawl, reads the store as any reader does, and gives all
its memory back by ending. The server takes its result in with `reranker`.
"""

import time
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sanderling.arrays import Floats
from sanderling.graph import Places, pack, pagerank
from sanderling.repository.store import RankingStore
from sanderling.server.ranking.order import Column, Ids, Scoring, Snapshot
from sanderling.server.ranking.orders import scoring as named
from sanderling.server.ranking.orders.pvalue import shape
from sanderling.server.ranking.reranker import FRONT, RankResult, write
from sanderling.urls import identity

_FACTS = np.dtype(
    [("id", "<i8"), ("host", "<i8"), ("depth", "<i4"), ("state", "i1"), ("rank", "<f8"), ("alias", "<i8")]
)
_RECORD = np.dtype([("id", "<i8"), ("value", "<f8")])

Records = NDArray[np.void]

# What moved by less stays: each new value is a write in the server, and neighbours may as well
# change places.
WORTH_WRITING = 0.05


def _shapes(source: RankingStore) -> Iterable[tuple[int, int]]:
    return ((id, identity(shape(url))) for id, url in source.url_texts())


# The type of each column that only some orders ask for, and how its values are read, by id.
_COLUMNS: dict[Column, tuple[str, Callable[[RankingStore], Iterable[tuple[int, float]]]]] = {
    "shape": ("<i8", _shapes),
    "visited": ("<f8", lambda source: source.visit_times()),
    "relevance": ("<f8", lambda source: source.relevances()),
    "link_relevance": ("<f8", lambda source: source.link_relevances()),
}


def read(source: RankingStore, columns: Collection[Column] = ()) -> tuple[Snapshot, Floats]:
    """What is known, with the columns that are asked for, and the ranks that are in force."""
    facts = np.fromiter(source.url_facts(), _FACTS)
    facts = facts[np.argsort(facts["id"])]  # a store may give them in the order they came in, which is faster to read
    ids = facts["id"].copy()
    graph = pack(ids, source.packed_links(), facts["alias"])
    found: dict[str, Any] = {}
    for name, (kind, values) in _COLUMNS.items():
        found[name] = np.zeros(len(ids), kind)  # takes no memory while nothing is written into it
        if name in columns:
            _place(found[name], ids, np.fromiter(values(source), np.dtype([("id", "<i8"), ("value", kind)])))
    snapshot = Snapshot(graph, facts["depth"].copy(), facts["state"].copy(), facts["host"].copy(), **found)
    return snapshot, facts["rank"].copy()


def rerank(source: RankingStore, order: str | None, result: Path) -> None:
    """Scores every queued URL, unless there is no order, and every page; writes what changed."""
    scoring = named(order) if order is not None else None
    snapshot, before = read(source, scoring.reads if scoring else ())
    score, parts = scored(scoring, snapshot) if scoring else (before, [])
    moved = snapshot.queued & (before < FRONT) & _differ(score, before)
    ranks = np.empty(int(moved.sum()), _RECORD)
    ranks["id"], ranks["value"] = snapshot.graph.ids[moved], score[moved]
    # The server writes in this order: what matters most first.
    ranks = ranks[np.argsort(-ranks["value"], kind="stable")]
    weights = importances(snapshot, score if order == "pagerank" else pagerank(snapshot.graph), source.importances())
    head = RankResult(len(ranks), len(weights), newcomers(snapshot, score), time.process_time(), parts)
    write(result, head, ranks.tobytes() + weights.tobytes())


def importances(known: Snapshot, rank: Floats, pages: Iterable[tuple[int, float]]) -> Records:
    """How important each page is that was visited, as a share of the most important one; those that
    have changed.

    In the order the pages come, which is the order they lie in the store: then writing them is
    cheap.
    """
    table = np.fromiter(pages, _RECORD)
    at = Places(known.graph.ids).of(np.ascontiguousarray(table["id"]))
    table, at = table[at >= 0], at[at >= 0]
    there = at[known.fetched[at]]
    best = rank[there].max() if len(there) else 1.0
    value = np.minimum(rank[at] / best, 1.0)
    changed = _differ(value, table["value"])
    table["value"] = value
    return table[changed]


def scored(scoring: Scoring, snapshot: Snapshot) -> tuple[Floats, list[float]]:
    """The score of every URL, and the weights that it was made with, if the order learns any."""
    return scoring.learned(snapshot) if scoring.learned is not None else (scoring.score(snapshot), [])


def _differ(now: Floats, before: Floats) -> NDArray[np.bool_]:
    return np.abs(now - before) > WORTH_WRITING * np.maximum(np.abs(now), np.abs(before))


def newcomers(known: Snapshot, score: Floats) -> list[float]:
    """What a URL found from now on is worth until it is scored, by its depth.

    One page is known to link to it, so it gets the mean score of the queued URLs of its depth with
    one link to them; where there are none, that of the depth before.
    """
    alike = known.queued & (known.graph.in_degree <= 1)
    if not alike.any():
        alike = known.queued
    if not alike.any():
        return []
    depth, score = known.depth[alike], score[alike]
    counts = np.bincount(depth)
    mean = np.bincount(depth, score) / np.maximum(counts, 1)
    filled = np.maximum.accumulate(np.where(counts > 0, np.arange(len(counts)), 0))
    filled[filled < np.argmax(counts > 0)] = np.argmax(counts > 0)
    return [float(value) for value in mean[filled]]


def _place(into: NDArray[Any], ids: Ids, some: Records) -> None:
    """Values of some URLs among all; what came in since the ids were read is left out."""
    at = Places(ids).of(np.ascontiguousarray(some["id"]))
    into[at[at >= 0]] = some["value"][at >= 0]
