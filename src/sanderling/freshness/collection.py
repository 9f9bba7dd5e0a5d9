"""All pages of a crawl that may be visited again, as one table, and the beliefs about them.

Pages that were visited more than once have evidence of their own. All other pages share the belief
about their folder. It is computed once for each folder, so that a million pages take seconds.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sanderling.arrays import Floats
from sanderling.freshness import belief, seasons
from sanderling.freshness.evidence import KINDS, MEMORY, SIZE
from sanderling.freshness.importance import importance
from sanderling.freshness.signals import SKEW, SignalRecord
from sanderling.freshness.sources import SOURCES, odds_by_word
from sanderling.freshness.trust import Trust

Groups = NDArray[np.intp]

# Times are in days.
COLUMNS = np.dtype(
    [
        ("id", "<i8"), ("host", "<i8"), ("pattern", "<i8"), ("folder", "<i8"), ("depth", "<i4"), ("there", "?"),
        ("announced", "<f8"), ("at", "<f8"), ("since", "<f8"), ("kinds", "<i4"), ("size", "<f8"), ("importance", "<f8"),
        ("interval", "<f8"), ("tried", "<f8"), ("failures", "<i4"), ("not_modified", "<i4"), ("same", "<i4"), ("evidence", f"S{SIZE}"),
        ("told", "<f8", (len(SOURCES),)),  # when sources named it
        ("relevance", "<f8"),  # for the topic of the crawl; 0 without one
    ]
)  # fmt: skip

# The weight of a page that is gone or redirects. It is still visited now and then.
ABSENT = 0.1
# The weight of a page that has nothing to do with the topic of the crawl. It is still visited now
# and then.
OFF_TOPIC = 0.02
# How often priors and beliefs are computed from each other.
_SWEEPS = 2
_CHUNK = 65_536
# A report that was read within this many days speaks of the present.
_LATE = 1.0


class Believed(NamedTuple):
    """The beliefs about every page now."""

    log_rate: Floats
    spread: Floats
    rate: Floats  # expected, in changes a day
    exposure: Floats  # the time since its last visit, corrected by signals and the activity of its neighbours
    fresh: Floats  # the probability that our copy is up to date
    age: Floats  # expected time since the first missed change
    weight: Floats
    silence: Floats | float = 1.0  # the share of changes that no source announces: time without a word counts so much
    vouched: NDArray[np.bool_] | None = None  # pages that a proven report of their whole host does not name


def believe(pages: NDArray[np.void], hosts: Mapping[int, Trust], now: float) -> Believed:
    levels, above = _levels(pages)
    counted = numbers_of(pages)[:, 0].astype(np.float64)
    counted[:, 0] += _quiet_days(pages, hosts, now)
    observed = np.flatnonzero(counted.any(axis=1))
    faded = np.exp(-np.maximum(now - pages["at"][observed], 0.0) / MEMORY)
    evidence = belief.log_likelihood(counted[observed]) if len(observed) else np.zeros((0, belief.CLASSES))
    first = belief.common(_period(pages))
    own, groups = _posteriors(evidence, faded, [level[observed] for level in levels], above, first)
    log_rate, spread = belief.mean_and_spread(groups)
    folder = levels[-1]
    log_rate, spread, rate = log_rate[folder], spread[folder], belief.expected_rate(groups)[folder]
    log_rate[observed], spread[observed] = belief.mean_and_spread(own)
    rate[observed] = belief.expected_rate(own)
    exposure = _signal_exposure(pages, hosts, log_rate, _season_exposure(pages, levels, rate, now))
    exposure, silence = _source_exposure(pages, hosts, log_rate, exposure, now)
    fresh, age = np.empty(len(pages)), np.empty(len(pages))
    row = np.full(len(pages), -1)
    row[observed] = np.arange(len(observed))
    for start in range(0, len(pages), _CHUNK):
        part = slice(start, start + _CHUNK)
        mine = row[part]
        believed = np.where(mine[:, None] >= 0, own[mine] if len(own) else 0.0, groups[folder[part]])
        x = belief.RATES * exposure[part, None]
        kept = np.exp(-x)
        fresh[part] = (believed * kept).sum(axis=1)
        age[part] = exposure[part] - (believed * (1 - kept) / belief.RATES).sum(axis=1)
    weight = importance(pages["importance"], 0, np.where(pages["there"], 1.0, ABSENT) * _by_topic(pages))
    vouched = _vouched(pages, hosts, now)
    return Believed(log_rate, spread, rate, exposure, fresh, np.maximum(age, 0.0), weight, silence, vouched)


def _by_topic(pages: NDArray[np.void]) -> Floats | float:
    """In a focused crawl a page counts by its relevance."""
    return np.maximum(pages["relevance"], OFF_TOPIC) if pages["relevance"].any() else 1.0


def numbers_of(pages: NDArray[np.void]) -> NDArray[np.float32]:
    """The evidence of every page: (pages, kinds, numbers)."""
    packed = np.ascontiguousarray(pages["evidence"])
    return (
        packed.view(np.float32).reshape(len(pages), len(KINDS), -1)
        if len(pages)
        else np.zeros((0, len(KINDS), 4), np.float32)
    )


def _levels(pages: NDArray[np.void]) -> tuple[list[Groups], list[Groups]]:
    """Group numbers of every page, from the coarsest level to the finest, and the parent group of
    each group."""
    levels: list[Groups] = []
    above: list[Groups] = []
    for name in ("host", "pattern", "folder"):
        _, first, group = np.unique(pages[name], return_index=True, return_inverse=True)
        above.append(levels[-1][first] if levels else np.zeros(len(first), np.intp))
        levels.append(group.astype(np.intp))
    return levels, above


def _period(pages: NDArray[np.void]) -> float:
    """The median time between the last two visits of a page."""
    again = pages["since"] > 0
    return max(float(np.median(pages["at"][again] - pages["since"][again])), 0.0) if again.any() else 0.0


def _posteriors(
    evidence: Floats, faded: Floats, levels: list[Groups], above: list[Groups], first: Floats
) -> tuple[Floats, Floats]:
    """The belief about each observed page, and about a page without evidence in each of the finest
    groups."""
    usual = belief.usual(evidence, faded, first) if len(evidence) else first
    believed = belief.posterior(usual, evidence)
    for _ in range(_SWEEPS if len(evidence) else 0):
        prior = belief.learn_prior(believed, faded, levels, usual)
        believed = belief.posterior(prior, evidence)
    counted = believed * faded[:, None]
    whole = counted.sum(axis=0)
    strength = belief.CONCENTRATION
    groups: Floats = ((whole + strength * usual) / (whole.sum() + strength))[None, :]
    for level, parents in zip(levels, above, strict=True):
        sums = np.stack([np.bincount(level, counted[:, k], len(parents)) for k in range(belief.CLASSES)], axis=1)
        mass = sums.sum(axis=1, keepdims=True)
        groups = (sums + strength * groups[parents]) / (mass + strength)
    return believed, groups


def _quiet_days(pages: NDArray[np.void], hosts: Mapping[int, Trust], now: float) -> Floats:
    """Days without a change since the last visit, as far as a sitemap that announces most changes,
    or a source that names single pages, shows none."""
    quiet = np.zeros(len(pages))
    announcing = [host for host, trust in hosts.items() if trust.announces_changes]
    silent = np.flatnonzero(
        (pages["announced"] > 0) & (pages["announced"] <= pages["at"] + SKEW) & np.isin(pages["host"], announcing)
    )
    recall = {host: hosts[host].sitemap.recall for host in announcing}
    quiet[silent] = [recall[host] for host in pages["host"][silent].tolist()]
    quiet *= np.maximum(now - pages["at"], 0.0)
    for host, mine in _speaking(pages, hosts):
        last = pages["at"][mine]
        for source, record in hosts[host].sources.items():
            until = min(now, record.silence_until(source))
            unnamed = pages["told"][mine, SOURCES.index(source)] <= last
            covered = np.maximum(until - np.maximum(last, record.since), 0.0) * unnamed
            quiet[mine] = np.maximum(quiet[mine], record.recall * covered)
    return quiet


def _season_exposure(pages: NDArray[np.void], levels: list[Groups], rate: Floats, now: float) -> Floats:
    """The time since the last visit, corrected by the activity of the neighbours (`seasons`)."""
    page = np.flatnonzero((pages["since"] > 0) & (pages["at"] > pages["since"]))
    seen = seasons.LastVisits(page, pages["since"][page], pages["at"][page], pages["kinds"][page] != 0, rate[page])
    return seasons.exposure(levels[0], levels[-1], pages["at"], seen, now)


def _signal_exposure(pages: NDArray[np.void], hosts: Mapping[int, Trust], log_rate: Floats, elapsed: Floats) -> Floats:
    """The time since the last visit, corrected by the host's announcements:
    `signals.expected_changes` for all pages."""
    dated = np.flatnonzero(pages["announced"] > 0)
    if not len(dated):
        return elapsed
    ids, host = np.unique(pages["host"][dated], return_inverse=True)
    records = [hosts[int(id)].sitemap if int(id) in hosts else SignalRecord() for id in ids]
    recall = np.array([record.recall for record in records])[host]
    false = np.maximum(np.array([record.false_rate for record in records])[host], 1e-9)
    rate = np.exp(log_rate[dated])
    alarm = pages["announced"][dated] > pages["at"][dated] + SKEW
    expected = rate * (1 - recall) * elapsed[dated] + alarm * np.log((false + rate * recall) / false)
    elapsed[dated] = expected / rate
    return elapsed


def _source_exposure(
    pages: NDArray[np.void], hosts: Mapping[int, Trust], log_rate: Floats, elapsed: Floats, now: float
) -> tuple[Floats, Floats]:
    """The same for sources that name single pages: their silence takes time away, their word adds
    changes.

    Returns the corrected time, and the share of changes that will not be announced.
    """
    exposure, silence = elapsed, np.ones(len(pages))
    for host, mine in _speaking(pages, hosts):
        last = pages["at"][mine]
        quiet, odds = np.zeros(len(mine)), np.ones(len(mine))
        for source, record in hosts[host].sources.items():
            recall, until = record.recall, record.silence_until(source)
            covered = np.maximum(min(now, until) - np.maximum(last, record.since), 0.0)
            quiet = np.maximum(quiet, recall * covered)
            named = pages["told"][mine, SOURCES.index(source)] > last
            odds = np.maximum(odds, np.where(named, odds_by_word(record), 1.0))
            if until >= now - _LATE:
                silence[mine] = np.minimum(silence[mine], 1 - recall)
        share = np.where(odds > 1, 1.0, 1 - quiet / np.maximum(now - last, 1e-9))
        rate = np.exp(log_rate[mine])
        kept = np.exp(-rate * elapsed[mine] * np.clip(share, 0.0, 1.0))
        # The odds of a change times the odds of the word: P(no change) = kept / (kept + odds * (1 -
        # kept)).
        exposure[mine] = np.log((kept + odds * (1 - kept)) / np.maximum(kept, 1e-300)) / rate
    return exposure, silence


def _vouched(pages: NDArray[np.void], hosts: Mapping[int, Trust], now: float) -> NDArray[np.bool_] | None:
    found = np.zeros(len(pages), bool)
    for host, mine in _speaking(pages, hosts):
        if any(record.spares_visits(now) for record in hosts[host].sources.values()):
            found[mine] = pages["told"][mine].max(axis=1) <= pages["at"][mine]
    return found if found.any() else None


def _speaking(pages: NDArray[np.void], hosts: Mapping[int, Trust]) -> Iterator[tuple[int, Groups]]:
    """The hosts that have such sources, each with the rows of its pages."""
    speaking = np.array([host for host, trust in hosts.items() if trust.sources], np.int64)
    if not len(speaking) or not len(pages):
        return
    rows = np.flatnonzero(np.isin(pages["host"], speaking))
    rows = rows[np.argsort(pages["host"][rows], kind="stable")]
    ids, first = np.unique(pages["host"][rows], return_index=True)
    yield from zip(ids.tolist(), np.split(rows, first[1:]), strict=True)
