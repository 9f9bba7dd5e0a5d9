"""Applies a policy to a whole collection: which pages to visit now, or when each page is due.

A fixed number of visits is spent on the pages with the highest score now (`choose`). With a budget
per time, every page gets a due time (`schedule`).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sanderling.arrays import Floats
from sanderling.freshness.adaptive import NUTCH_FIRST
from sanderling.freshness.budget import LONGEST, plan_believed
from sanderling.freshness.checks import best_checks, check_visits
from sanderling.freshness.collection import Believed
from sanderling.freshness.ranked_pages import published_ranks
from sanderling.freshness.worth import ROUGH_ERROR, Objective, rough_worth, worth

# With more pages than this, a rough score excludes most of them before the exact worth is computed.
_MANY = 50_000
# A source is never taken to announce more than all but this share of changes.
_LEAST_SILENCE = 0.01
# What is left of a budget for visits that no source called for, at least.
_UNCALLED = 0.2
# Days until a page that did not answer is retried. The wait doubles with each failure.
_FIRST_BACKOFF, _LONGEST_BACKOFF = 10 / 1440, 7.0


class PlannedTimes(NamedTuple):
    due: Floats  # infinite for never
    wait: Floats  # between two visits


def inside_of(policy: str, pages: NDArray[np.void], threshold: float, levels: int) -> NDArray[np.bool_] | bool:
    """The pages that a policy with a limit visits; the others wait until they are inside."""
    if policy == "top-levels":
        return np.asarray(pages["depth"] <= levels)
    if policy == "by-rank":
        return np.asarray(published_ranks(pages) >= threshold)
    return True


def choose(
    policy: str, objective: Objective, pages: NDArray[np.void], known: Believed, cost: Floats, budget: float, now: float,
    inside: NDArray[np.bool_] | bool = True,
) -> NDArray[np.intp]:  # fmt: skip
    """The pages with the highest scores that the budget allows, the best first. Only those `inside`
    are visited."""
    if policy == "optimal" and (vouched := known.vouched) is not None:
        checks = best_checks(objective, pages, known, vouched & (ready(pages, now) <= now), cost, budget)
        rest = budget - float(cost[checks].sum())
        others = choose(policy, objective, pages, known._replace(vouched=None), cost, rest, now, ~vouched & inside)
        return np.concatenate([others, checks])
    if policy != "optimal" or len(pages) <= _MANY:
        score = _scores(policy, objective, pages, known, cost, now)
        return affordable(np.where((ready(pages, now) <= now) & inside, score, -np.inf), cost, budget)
    age = known.exposure + known.silence * _half_a_round(pages, now)
    some = _promising(objective, pages, known, age, cost, budget, now, inside)
    worths = known.weight[some] * worth(age[some], known.log_rate[some], known.spread[some], objective)
    return np.asarray(some[affordable(worths / cost[some], cost[some], budget)])


def _promising(
    objective: Objective, pages: NDArray[np.void], known: Believed, age: Floats, cost: Floats, budget: float, now: float,
    inside: NDArray[np.bool_] | bool = True,
) -> NDArray[np.intp]:  # fmt: skip
    """A part of the pages that contains all of the best ones for certain."""
    key = rough_worth(age, known.log_rate, known.spread, objective)
    with np.errstate(divide="ignore"):
        key += np.log((known.weight / cost).astype(np.float32))
    key[~np.broadcast_to(inside, len(key))] = -np.inf
    failed = np.flatnonzero(pages["failures"])
    key[failed[ready(pages[failed], now) > now]] = -np.inf
    most = int(budget / max(float(cost.min()), 1e-9))
    least = (
        -np.inf if most >= len(key) else np.partition(key, len(key) - most - 1)[len(key) - most - 1] - 2 * ROUGH_ERROR
    )
    return np.flatnonzero((key >= least) & (key > -np.inf))


def _scores(
    policy: str, objective: Objective, pages: NDArray[np.void], known: Believed, cost: Floats, now: float
) -> Floats:
    """The score of a visit to each page now. -inf means no visit."""
    elapsed = now - pages["at"]
    if policy == "optimal":
        age = known.exposure + known.silence * _half_a_round(pages, now)
        return np.asarray(known.weight * worth(age, known.log_rate, known.spread, objective) / cost)
    if policy == "proportional":
        return np.asarray(np.exp(known.log_rate) * known.weight * elapsed)
    if policy == "nutch":
        return np.asarray(elapsed - _nutch(pages))
    return np.asarray(elapsed)


def _half_a_round(pages: NDArray[np.void], now: float) -> float:
    """Half of the time until the next round, which is expected to be as long as since the last one.

    A page that is not chosen now waits until then, so its score uses its age half-way. In rounds of
    three days this raises freshness by up to 0.002.
    """
    return max(now - float(pages["at"].max()), 0.0) / 2 if len(pages) else 0.0


def affordable(score: Floats, cost: Floats, budget: float) -> NDArray[np.intp]:
    """The pages with the highest scores that the budget allows, the best first. A score of -inf
    excludes a page."""
    candidates = np.flatnonzero(score > -np.inf)
    most = min(len(candidates), int(budget / max(float(cost[candidates].min()), 1e-9)) if len(candidates) else 0)
    if most < len(candidates):
        candidates = candidates[np.argpartition(score[candidates], len(candidates) - most)[len(candidates) - most :]]
    best = candidates[np.argsort(-score[candidates], kind="stable")]
    return np.asarray(best[np.cumsum(cost[best]) <= budget])


def schedule(
    policy: str, objective: Objective, pages: NDArray[np.void], known: Believed, cost: Floats, budget: float, now: float,
    hosts: NDArray[np.intp] | None = None, caps: ArrayLike = np.inf, inside: NDArray[np.bool_] | bool = True,
) -> PlannedTimes:  # fmt: skip
    """When each page is due, if `budget` may be spent a day and no host gets more visits a day than
    its cap.

    Pages that are not `inside` are never due."""
    last = pages["at"]
    if policy == "optimal":
        # What sources announce is visited when they do; the rest of the budget is for what they do
        # not.
        unannounced = np.maximum(known.silence, _LEAST_SILENCE)
        called = float((cost * known.rate * (1 - unannounced)).sum())
        log_rate = known.log_rate + np.log(unannounced)
        visits, left = np.zeros(len(pages)), max(budget - called, _UNCALLED * budget)
        others = np.ones(len(pages), bool)
        if (vouched := known.vouched) is not None:
            hosts = np.zeros(len(pages), np.intp) if hosts is None else hosts
            caps = np.broadcast_to(np.asarray(caps, np.float64), int(hosts.max()) + 1)
            visits[vouched] = check_visits(objective, known, log_rate, vouched, cost, budget, hosts, caps)
            others, left = ~vouched, max(left - float(visits @ cost), _UNCALLED * budget)
        visits[others] = plan_believed(
            log_rate[others], known.spread[others], left, known.weight[others], cost[others],
            None if hosts is None else hosts[others], caps, objective, LONGEST,
        ).visits  # fmt: skip
        wait, last = _inverse(visits), now - known.exposure / unannounced
    elif policy == "proportional":
        pull = np.exp(known.log_rate) * known.weight
        wait = _inverse(pull * budget / max(float((cost * pull).sum()), 1e-12))
    elif policy == "nutch":
        wait = _nutch(pages)
    else:
        wait = np.where(np.broadcast_to(inside, len(pages)), float((cost * inside).sum()) / max(budget, 1e-12), np.inf)
    return PlannedTimes(np.maximum(last + wait, ready(pages, now)), wait)


def ready(pages: NDArray[np.void], now: float) -> Floats:
    """The time from which a page that did not answer may be retried.

    A last try in the future means that the clock was wrong then; such a page may be retried at
    once.
    """
    failures = pages["failures"]
    backoff: Floats = np.minimum(_FIRST_BACKOFF * 2.0 ** np.minimum(failures - 1, 20), _LONGEST_BACKOFF)
    return np.asarray(np.where((failures > 0) & (pages["tried"] <= now), pages["tried"] + backoff, -np.inf))


def _nutch(pages: NDArray[np.void]) -> Floats:
    return np.asarray(np.where(pages["interval"] > 0, pages["interval"], NUTCH_FIRST))


def _inverse(visits: Floats) -> Floats:
    return np.asarray(np.divide(1.0, visits, out=np.full(len(visits), np.inf), where=visits > 0))
