"""The background job behind `ranking`: reads the whole state, scores the queue and leaves a file of new ranks.

It runs as a process of its own beside the crawl, reads the store as any reader does, and gives all its memory back
by ending. The server takes its result in with `reranker`.
"""

import time
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

import numpy as np

from sanderling.graph import Places, pack
from sanderling.server import ranking
from sanderling.server.ranking import Floats, Snapshot
from sanderling.server.reranker import Result, write
from sanderling.settings import Order
from sanderling.urls import identity

_FACTS = np.dtype(
    [("id", "<i8"), ("host", "<i8"), ("depth", "<i4"), ("state", "i1"), ("rank", "<f8"), ("alias", "<i8")]
)
_RECORD = np.dtype([("id", "<i8"), ("rank", "<f8")])
_TIMES = np.dtype([("id", "<i8"), ("at", "<f8")])
_SHAPES = np.dtype([("id", "<i8"), ("shape", "<i8")])

# A rank that moved by less stays: each new one is a write in the server, and neighbours may as well change places.
WORTH_WRITING = 0.05


class Source(Protocol):
    """The part of a store that ranking reads."""

    def url_facts(self) -> Iterable[tuple[int, int, int, int, float, int]]: ...
    def url_texts(self) -> Iterable[tuple[int, str]]: ...
    def visit_times(self) -> Iterable[tuple[int, float]]: ...
    def packed_links(self) -> Iterable[tuple[int, bytes]]: ...


def read(source: Source, order: Order) -> tuple[Snapshot, Floats]:
    """What is known, as far as an order asks for it, and the ranks that are in force."""
    facts = np.fromiter(source.url_facts(), _FACTS)
    facts = facts[np.argsort(facts["id"])]  # a store may give them in the order they came in, which is faster to read
    ids = facts["id"].copy()
    wants_links = order != "breadth-first"
    graph = pack(ids, source.packed_links() if wants_links else (), facts["alias"])
    visited, shape = np.zeros(len(ids)), np.zeros(len(ids), np.int64)
    if order == "opic":
        times = np.fromiter(source.visit_times(), _TIMES)
        _place(visited, ids, times["id"], times["at"])
    if order == "pvalue":
        rows = ((id, identity(ranking.shape(url))) for id, url in source.url_texts())
        shapes = np.fromiter(rows, _SHAPES)
        _place(shape, ids, shapes["id"], shapes["shape"])
    snapshot = Snapshot(graph, facts["depth"].copy(), facts["state"].copy(), facts["host"].copy(), shape, visited)
    return snapshot, facts["rank"].copy()


def rerank(source: Source, order: Order, result: Path) -> Result:
    """Scores every queued URL and writes the ranks that changed."""
    started = time.monotonic()
    snapshot, before = read(source, order)
    score = ranking.scores(order, snapshot)
    queued = snapshot.queued
    moved = queued & (np.abs(score - before) > WORTH_WRITING * np.maximum(np.abs(score), np.abs(before)))
    records = np.empty(int(moved.sum()), _RECORD)
    records["id"], records["rank"] = snapshot.graph.ids[moved], score[moved]
    # The server writes in this order: what matters most first.
    records = records[np.argsort(-records["rank"], kind="stable")]
    head = Result(
        order=order,
        queued=int(queued.sum()),
        moved=len(records),
        links=len(snapshot.graph.targets),
        newcomers=newcomers(snapshot, score),
        seconds=time.monotonic() - started,
        cpu=time.process_time(),
    )
    write(result, head, records.tobytes())
    return head


def newcomers(known: Snapshot, score: Floats) -> list[float]:
    """What a URL found from now on is worth until it is scored, by its depth.

    One page is known to link to it, so it gets the mean score of the queued URLs of its depth with one link to them;
    where there are none, that of the depth before.
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


def _place(into: Floats | ranking.Ids, ids: ranking.Ids, some: ranking.Ids, values: Floats | ranking.Ids) -> None:
    """Values of some URLs among all; what came in since the ids were read is left out."""
    at = Places(ids).of(np.ascontiguousarray(some))
    into[at[at >= 0]] = values[at >= 0]
