"""The order of a focused crawl: first what is most likely on the topic, by all that is known before
it is fetched.

What is known of a link are the words of its anchor, around it and in its URL (judged by the
client), the relevance of all pages that link to it, and what its host has brought so far. The parts
are added with weights. Pages that were fetched show what the parts were worth: the weights are
fitted to them each time, and stay near the first ones while there are few. A page that is not
relevant itself gets credit for the best page behind it, less for each step.
"""

from collections.abc import Sequence

import numpy as np

from sanderling.arrays import Floats
from sanderling.server.ranking.focus import FIRST_WEIGHTS, LEAST_TRUST, PRIOR
from sanderling.server.ranking.order import Scoring, Snapshot

PARTS = ("words of the link", "pages that link to it, on average", "pages that link to it, in all", "its host")
# The first weights count as eight fetched pages with all parts at 1. With 100 the order learns too
# late, with 2 it follows the first few pages too far (`lab focus`).
PATIENCE = 8.0
# At 0.5 nearly every page gets credit, and a topic whose pages do not link to each other is found
# no sooner than by chance.
CREDIT, STEPS = 0.2, 2


def parts(known: Snapshot) -> tuple[Floats, Floats]:
    """The parts of every URL as rows, and how far its host can be trusted."""
    told = np.where(known.fetched, known.relevance, 0.0)
    inside = known.graph.push(known.fetched.astype(np.float64))
    total = known.graph.push(told)
    host, trust = _hosts(known, told)
    return np.column_stack(
        [odds(known.link_relevance), total / np.maximum(inside, 1.0), 1.0 - np.exp(-total), host]
    ), trust  # fmt: skip


def score(known: Snapshot) -> Floats:
    return learned(known)[0]


def learned(known: Snapshot) -> tuple[Floats, list[float]]:
    """The score of every URL, and the weights of the parts."""
    each, trust = parts(known)
    weights = fitted(known, each)
    return np.asarray(each @ weights * trust, np.float64), weights.tolist()


def with_weights(known: Snapshot, weights: Sequence[float] = FIRST_WEIGHTS) -> Floats:
    """The score of every URL with given weights."""
    each, trust = parts(known)
    return np.asarray(each @ np.array(weights) * trust, np.float64)


def fitted(known: Snapshot, each: Floats) -> Floats:
    """Weights by which the parts of the fetched pages come nearest to what these turned out to be
    worth.
    """
    first = np.array(FIRST_WEIGHTS)
    fetched = known.fetched & (known.depth > 0)
    rows, worth = each[fetched], credit(known)[fetched]
    system = rows.T @ rows + PATIENCE * np.eye(len(first))
    return np.asarray(np.maximum(np.linalg.solve(system, rows.T @ worth + PATIENCE * first), 0.0))


def credit(known: Snapshot) -> Floats:
    """What each fetched page was worth: its own relevance, or a share of the best page behind
    it.
    """
    worth = np.where(known.fetched, known.relevance, 0.0)
    graph = known.graph
    own, there = worth.copy(), graph.out_degree > 0
    starts = graph.starts[:-1][there]
    for _ in range(STEPS if len(graph.targets) else 0):
        best = np.zeros(len(worth))
        best[there] = np.maximum.reduceat(worth[graph.targets], starts)
        worth = np.where(known.fetched, np.maximum(own, CREDIT * best), 0.0)
    return np.asarray(worth, np.float64)


def _hosts(known: Snapshot, told: Floats) -> tuple[Floats, Floats]:
    _, member = np.unique(known.host, return_inverse=True)
    visits = np.bincount(member, known.fetched)
    brought = np.bincount(member, told)
    overall = float(told.sum() / max(1.0, float(known.fetched.sum())))
    mean = (brought + PRIOR * overall) / (visits + PRIOR)
    # What a host brings on which relevant pages are found. A farm with many pages cannot pull this
    # down.
    usual = float((brought * brought / np.maximum(visits, 1)).sum() / max(float(told.sum()), 1e-9))
    return mean[member], trusted(mean, usual)[member]


def odds(words: Floats) -> Floats:
    """Tells good links apart more clearly than relevances do, most of which are small."""
    return np.asarray(np.minimum(1.0, words / (1.0 - np.minimum(words, 0.999))))


def trusted(host: Floats, usual: float) -> Floats:
    """How far a host can be trusted: fully, unless it brings less than half as much as is usual."""
    return np.asarray(np.clip(host / max(usual / 2, 1e-9), LEAST_TRUST, 1.0))


SCORING = Scoring(score, ("relevance", "link_relevance"), learned)
