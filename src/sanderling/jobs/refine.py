"""`python -m sanderling.jobs.refine DIR [URL...] SIZE RESULT`: the process that finds who should
change places in a collection.

Not a command for people: the server starts it and reads its result. The URLs are always kept.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from sanderling.arrays import Floats
from sanderling.freshness.importance import replacement
from sanderling.graph import authority, pagerank
from sanderling.jobs.running import run
from sanderling.model import Kind, State
from sanderling.repository.folder import Folder
from sanderling.repository.opening import settings_for
from sanderling.repository.store import CollectionStore, Store
from sanderling.server.frontier.collection import FEWEST, LEFT, SHARE, WORTH, Swap, write
from sanderling.server.ranking import snapshot
from sanderling.server.ranking.order import Snapshot
from sanderling.server.ranking.orders import topic
from sanderling.urls import identity

# Of a page off the topic: among such pages importance still decides.
LEAST_RELEVANT = 0.01


def by_topic(known: Snapshot) -> Floats:
    """What a page counts in a collection on a topic: its relevance, or what it probably has."""
    return np.maximum(np.where(known.queued, topic.score(known), known.relevance), LEAST_RELEVANT)


def swaps(
    store: CollectionStore, most: int, focused: bool = False, by_authority: bool = False, always: Sequence[str] = ()
) -> list[Swap]:
    """Who leaves and who comes, a few at a time: the least important inside for the most important
    outside.

    Importance is PageRank, or authority if the crawl visits by it. In a `focused` crawl a page
    counts by its importance times its relevance. One that is relevant no longer leaves first. Pages
    that are `always` kept never leave.
    """
    known, _ = snapshot.read(store, ("relevance", "link_relevance") if focused else ())
    score = authority(known.graph) if by_authority else pagerank(known.graph)
    if focused:
        score = score * by_topic(known)
    score = np.where(np.isin(known.graph.ids, [identity(url) for url in always]), np.inf, score)
    place = {id: n for n, id in enumerate(known.graph.ids.tolist())}
    inside = [
        place[s.id]
        for s in store.subjects()
        if s.kind == Kind.PAGE and s.state == State.FETCHED and 200 <= s.status < 300 and s.id in place
    ]
    leavers = {place[id] for id in store.excluded_for(LEFT) if id in place}
    outside = [*np.flatnonzero(known.queued).tolist(), *leavers]
    few = max(FEWEST, round(SHARE * most))
    pairs = replacement([score[n] * WORTH for n in inside], [score[n] for n in outside])[:few]
    ids = known.graph.ids
    found = [
        Swap(int(ids[inside[a]]), int(ids[outside[b]]), int(known.host[outside[b]]), outside[b] in leavers)
        for a, b in pairs
    ]
    leaving = {swap.leaver for swap in found}
    excess = sorted((n for n in inside if int(ids[n]) not in leaving), key=score.__getitem__)
    return found + [Swap(int(ids[n]), 0, 0, False) for n in excess[: max(0, len(inside) - most)]]


def main(arguments: list[str]) -> int:
    directory, *always, most, result = arguments

    def refine(folder: Folder, store: Store) -> None:
        settings, _ = settings_for(folder, {})
        found = swaps(store, int(most), bool(settings.topic), settings.order == "authority", always)
        write(Path(result), found)

    return run(directory, refine)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
