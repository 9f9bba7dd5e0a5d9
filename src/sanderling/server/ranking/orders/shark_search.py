"""Shark search: half by what a link inherits from the pages on the way to it, half by its words.

A client judges the anchor, the words around it and the URL together, so that all of them stand for
the anchor here.
"""

import numpy as np

from sanderling.arrays import Floats
from sanderling.graph import Graph
from sanderling.server.ranking import fish
from sanderling.server.ranking.order import Scoring, Snapshot

# What a page inherits is halved with each step, so that more steps change little.
STEPS = 6


def score(known: Snapshot) -> Floats:
    inherits = np.zeros(len(known.depth))
    own = np.where(known.fetched, known.relevance, 0.0)
    for _ in range(STEPS):
        passed = fish.DECAY * np.where(own >= fish.RELEVANT, own, inherits)
        inherits = best_parent(known.graph, np.where(known.fetched, passed, 0.0))
    words = known.link_relevance
    return np.asarray(fish.INHERITED * inherits + (1 - fish.INHERITED) * said(words))


def said(words: Floats) -> Floats:
    """`fish.neighbourhood` of the words of links."""
    return np.asarray(fish.ANCHOR * words + (1 - fish.ANCHOR) * (words > 0))


def best_parent(graph: Graph, value: Floats) -> Floats:
    """For each page, the largest value of the pages that link to it; 0 without one."""
    found = np.zeros(len(value))
    np.maximum.at(found, graph.targets, np.repeat(value, graph.out_degree))
    return found


SCORING = Scoring(score, ("relevance", "link_relevance"))
