"""The worth of a visit to a page whose rate is uncertain: the mean of `gain(lam * age) / lam` over
the belief.

The belief is a normal distribution of ln(lam), given by its mean and spread. In units of the mean
rate, the worth depends only on the spread and on x = rate * age. So one small table serves all
pages, and a million pages are looked up or inverted in a few array operations.

Uncertainty can only raise the worth of a visit: a page that seems to change too fast may in truth
be a slow one. Rates drift, so the spread grows with the age of the copy (variance `DRIFT` a day).
So every page is visited again at some time. No extra rule is needed for that.
"""

from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sanderling.arrays import Floats
from sanderling.freshness.curves import gain

Singles = NDArray[np.float32]


class Objective(StrEnum):
    """What visits should maximise: the freshness of copies, or the number of changes seen."""

    FRESHNESS = "freshness"
    CHANGES = "changes"

    @property
    def power(self) -> int:
        """The power of 1/lam in the worth: a slow page stays fresh for long after a visit, but
        shows no more changes."""
        return 1 if self is Objective.FRESHNESS else 0


# Variance that the logarithm of a rate gains in a day.
DRIFT = 1 / 500
_WIDEST = 3.0
_SPREADS = np.linspace(0.0, _WIDEST, 25)
_LOG_X = np.linspace(np.log(1e-6), np.log(1e6), 553)
_PER_SPREAD = (len(_SPREADS) - 1) / _WIDEST
_PER_LOG_X = 1 / float(_LOG_X[1] - _LOG_X[0])
# Rows handled at once: a chunk's temporaries stay in the processor's cache.
_CHUNK = 16384
# Rounds of the inversion. The sum of 200,000 visits has an error of 7e-6 after 10 rounds, and of
# 5e-5 after 8.
ROUNDS, COARSE = 10, 8


def _table(power: int) -> Floats:
    """ln of the worth in units of 1/rate, by spread and ln x.

    Rates beyond 2.5 spreads are left out. They are guesses, and very slow rates would make the
    worth too high.
    """
    z = np.linspace(-2.5, 2.5, 81)
    weight = np.exp(-z * z / 2)
    weight /= weight.sum()
    faster = np.exp(_SPREADS[:, None, None] * z)
    mixed = (weight / faster**power * gain(np.exp(_LOG_X)[None, :, None] * faster)).sum(axis=2)
    return np.asarray(np.log(np.maximum(mixed, 1e-300)))


_TABLES = {objective: _table(objective.power).ravel() for objective in Objective}
_ROUGH = {objective: table.astype(np.float32) for objective, table in _TABLES.items()}


# The greatest error of `rough_worth`: half a step of the table in both directions.
ROUGH_ERROR = max(
    sum(float(np.abs(np.diff(table.reshape(len(_SPREADS), -1), axis=axis)).max()) / 2 for axis in (0, 1))
    for table in _TABLES.values()
)


def worth(
    age: ArrayLike,
    log_rate: ArrayLike,
    spread: ArrayLike,
    objective: Objective = Objective.FRESHNESS,
    drift: float = DRIFT,
) -> Floats:
    """The worth of a visit now to pages whose copies are `age` days old. The score of a page is
    worth * importance / cost."""
    age = np.maximum(np.asarray(age, np.float64), 1e-9)
    log_rate = np.asarray(log_rate, np.float64)
    wide = np.sqrt(np.asarray(spread, np.float64) ** 2 + drift * age)
    log_worth = _look_up(_TABLES[objective], np.log(age) + log_rate, wide)
    return np.asarray(np.exp(log_worth - objective.power * log_rate))


def rough_worth(age: Floats, log_rate: Floats, spread: Floats, objective: Objective = Objective.FRESHNESS) -> Singles:
    """The logarithm of the worth, with an error of at most `ROUGH_ERROR`. It is fast enough to
    exclude most of a million pages."""
    since, rate, u = (np.asarray(column, np.float32) for column in (age, log_rate, spread))
    since = np.maximum(since, np.float32(1e-9))
    u = u * u
    u += np.float32(DRIFT) * since
    np.sqrt(u, out=u)
    np.minimum(u, np.float32(_WIDEST), out=u)
    u *= np.float32(_PER_SPREAD)
    u += np.float32(0.5)
    v = np.log(since, out=since)
    v += rate
    v -= np.float32(_LOG_X[0])
    v *= np.float32(_PER_LOG_X)
    np.clip(v, 0.0, len(_LOG_X) - 1.001, out=v)
    v += np.float32(0.5)
    at = u.astype(np.int32)
    at *= len(_LOG_X)
    at += v.astype(np.int32)
    found = _ROUGH[objective].take(at, mode="clip")
    if objective.power:
        found -= rate
    return found


def _look_up(table: Floats, log_x: Floats, spread: Floats) -> Floats:
    u = np.minimum(spread, _WIDEST) * _PER_SPREAD
    i = np.minimum(u.astype(np.int32), len(_SPREADS) - 2)
    u = u - i
    v = np.clip((log_x - _LOG_X[0]) * _PER_LOG_X, 0.0, len(_LOG_X) - 1.001)
    j = v.astype(np.int32)
    v = v - j
    at = i * len(_LOG_X) + j
    low, high = table.take(at), table.take(at + len(_LOG_X))
    low += v * (table.take(at + 1) - low)
    high += v * (table.take(at + len(_LOG_X) + 1) - high)
    return np.asarray(low + u * (high - low))


def wait(
    wanted: ArrayLike,
    log_rate: ArrayLike,
    spread: ArrayLike,
    longest: float,
    objective: Objective = Objective.FRESHNESS,
    rounds: int = ROUNDS,
) -> Floats:
    """The age at which the worth of a visit reaches `wanted`, but at most `longest`: the inverse of
    `worth`."""
    pages = np.broadcast_arrays(*(np.atleast_1d(np.asarray(a, np.float64)) for a in (wanted, log_rate, spread)))
    ages = np.empty(len(pages[0]))
    for start in range(0, len(ages), _CHUNK):
        part = slice(start, start + _CHUNK)
        ages[part] = _wait(pages[0][part], pages[1][part], pages[2][part], longest, objective, rounds)
    return ages


def _wait(
    wanted: Floats, log_rate: Floats, spread: Floats, longest: float, objective: Objective, rounds: int
) -> Floats:
    """Uses the method of false position on ln(age), where the worth is nearly a straight line."""
    table = _TABLES[objective]
    target = np.log(np.maximum(wanted, 1e-300)) + objective.power * log_rate
    variance = spread**2

    def excess(log_age: Floats) -> Floats:
        wide = np.sqrt(variance + DRIFT * np.exp(log_age))
        return np.asarray(_look_up(table, log_age + log_rate, wide) - target)

    low, high = np.full(len(target), np.log(1e-7)), np.full(len(target), np.log(longest))
    below, above = excess(low), excess(high)
    never = above <= 0
    side = np.zeros(len(target))
    middle = high
    for _ in range(rounds):
        share = np.clip(below / np.minimum(below - above, -1e-12), 0.0, 1.0)
        middle = low + share * (high - low)
        at = excess(middle)
        enough = at >= 0
        # The Illinois rule: an end that stays twice counts half. Otherwise it could stay for ever.
        below = np.where(enough, np.where(side > 0, below / 2, below), at)
        above = np.where(enough, at, np.where(side < 0, above / 2, above))
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
        side = np.where(enough, 1.0, -1.0)
    return np.where(never, longest, np.exp(middle))
