"""Measures how long a revisit of a site takes, and how many of the updated pages it finds.

This repeats the experiment of the paper on the watcher-based crawler: a news site, one round a day
for a week, some percent of its pages updated each day, one crawler with five threads. `uniform`
visits all pages, `by rank` the pages above a rank, and `top levels` the pages above a depth.
Sanderling's policy visits the pages whose expected changes since the last visit reach a threshold.
It runs three times: with past visits only, with a sitemap whose reliability is learned, and with a
watcher.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sanderling.arrays import Floats
from sanderling.freshness import belief, signals
from sanderling.lab.simulation.exact_evidence import no_evidence, observed

_LEARNING, _MEASURED = 21, 7  # days
_THREADS = 5
_SECONDS_A_PAGE = 1.0


@dataclass(frozen=True)
class Round:
    """Means over the measured days."""

    policy: str
    visits: float
    seconds: float
    found: float  # share of the updated pages


@dataclass(frozen=True)
class _Informant:
    recall: float
    false_rate: float  # a day and page


def revisit(seed: int) -> list[Round]:
    rng, pages = np.random.default_rng(seed), 2000
    depth = np.minimum(rng.geometric(0.35, pages), 7)
    depth[0] = 0
    # 2 to 11.5 % of a site change a day; the upper levels more, but not only they.
    rate = np.minimum(0.02 * rng.lognormal(0, 1.6, pages) * np.exp(0.5 * (3 - depth)), 1.5)
    rate *= 0.09 / (-np.expm1(-rate)).mean()
    updated = rng.random((_LEARNING + _MEASURED, pages)) < -np.expm1(-rate)
    rank = rng.pareto(1.2, pages) * np.exp(-0.4 * depth) * (1 + 3 * rate)
    everything = np.ones(pages, bool)
    rounds = [
        _fixed("uniform", everything, updated),
        _fixed("by rank", rank >= np.quantile(rank, 0.6), updated),
        _fixed("top levels", depth <= 3, updated),
    ]
    for name, informant in (
        ("optimal", None),
        ("optimal, sitemap", _Informant(0.9, 0.02)),
        ("optimal, watcher", _Informant(1.0, 0.0)),
    ):
        rounds.append(_ours(name, informant, updated, rng))
    return rounds


def _fixed(name: str, inside: NDArray[np.bool_], updated: NDArray[np.bool_]) -> Round:
    measured = updated[_LEARNING:]
    return _round(name, float(inside.sum()), float((measured & inside).sum() / measured.sum()))


def _round(name: str, visits: float, found: float) -> Round:
    return Round(name, visits, visits * _SECONDS_A_PAGE / _THREADS, found)


def _ours(name: str, informant: _Informant | None, updated: NDArray[np.bool_], rng: np.random.Generator) -> Round:
    days, pages = updated.shape
    evidence = no_evidence(pages)
    believed = np.tile(belief.COMMON, (pages, 1))
    last = np.zeros(pages)
    alarms = np.zeros(pages, np.intp)
    record = signals.SignalRecord()
    site = np.zeros(pages, np.intp)
    visits = found = happened = 0
    stale = np.zeros(pages, bool)
    for day in range(days):
        stale |= updated[day]
        if informant is not None:
            told = updated[day] & (rng.random(pages) < informant.recall)
            alarms += told | (rng.random(pages) < informant.false_rate)
        now = float(day + 1)
        rates = belief.expected_rate(believed)
        x = _expected(rates, now - last, alarms, record if informant is not None else None)
        # In the first days all pages are visited, to learn their rates.
        chosen = np.ones(pages, bool) if day < _LEARNING // 3 else x >= _bar(informant)
        if day >= _LEARNING:
            visits += int(chosen.sum())
            found += int((updated[day] & chosen).sum())
            happened += int(updated[day].sum())
        for page in np.flatnonzero(chosen):
            changed, elapsed = bool(stale[page]), now - last[page]
            evidence[page] = observed(evidence[page], elapsed, elapsed, changed)
            record = signals.learn(record, elapsed, int(alarms[page]), changed)
        stale[chosen], alarms[chosen], last[chosen] = False, 0, now
        believed = belief.posterior(belief.learn_prior(believed, np.ones(pages), [site]), evidence)
    return _round(name, visits / _MEASURED, found / max(happened, 1))


def _bar(informant: _Informant | None) -> float:
    """The threshold of expected changes. It is higher with an informant, because the crawler can
    wait for its alarms."""
    return 0.15 if informant is None else 0.5


def _expected(rates: Floats, elapsed: Floats, alarms: NDArray[np.intp], record: signals.SignalRecord | None) -> Floats:
    if record is None:
        return rates * elapsed
    return np.array(
        [signals.expected_changes(r, e, int(k), record) for r, e, k in zip(rates, elapsed, alarms, strict=True)]
    )
