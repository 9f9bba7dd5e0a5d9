"""How many pages off the topic lie before each URL that was not visited, counted again over all
links."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from sanderling.graph import pack
from sanderling.model import Kind, State
from sanderling.repository.store import JudgedStore

# More than any sensible `tunnel_depth`.
MOST = 100


class StepsOff(NamedTuple):
    """A URL that was not visited, and how many pages off the topic lie before it."""

    id: int
    off_topic: int
    state: int
    was: int
    reason: str


def counts(store: JudgedStore, relatedness: float) -> Iterator[StepsOff]:
    """Of URLs that a visited page links to. What only a sitemap names keeps its count."""
    facts = {fact.id: fact for fact in store.url_facts()}
    ids = np.fromiter(sorted(facts), np.int64, len(facts))
    graph = pack(ids, store.packed_links(), np.array([facts[id].alias for id in ids.tolist()], np.int64))
    place = {id: n for n, id in enumerate(ids.tolist())}
    visited, relevant, redirects = (np.zeros(len(ids), np.bool_) for _ in range(3))
    for id, relevance, redirect in store.judged_pages():
        n = place[id]
        visited[n], relevant[n], redirects[n] = True, relevance >= relatedness, redirect is not None
    own = np.full(len(ids), MOST)
    own[[place[id] for id, fact in facts.items() if not fact.depth]] = 0
    linked = np.zeros(len(ids), np.bool_)
    linked[graph.targets] = True
    sources = np.repeat(np.arange(len(ids)), graph.out_degree)
    for _ in range(MOST):
        gives = np.where(relevant, 0, np.where(redirects, own, np.minimum(own + 1, MOST)))
        found = own.copy()
        there = visited[sources]
        np.minimum.at(found, graph.targets[there], gives[sources[there]])
        if (found == own).all():
            break
        own = found
    for id, state, kind, was, why in store.unvisited_counts():
        if kind == Kind.PAGE and state in (State.KNOWN, State.QUEUED) and linked[place[id]]:
            yield StepsOff(id, int(own[place[id]]), state, was, why)
