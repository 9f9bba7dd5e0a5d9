"""What a visit is worth when the rate is not known but believed: `gain(lam * age) / lam` in the mean over the belief.

The belief is a normal distribution of ln(lam), given by its mean and spread; in units of the mean rate the worth
depends on the spread and on x = rate * age alone, so one small table serves all pages, and a million of them
are looked up or inverted in a few array operations.

Uncertainty makes pages worth more, never less: a page thought hopeless may be a slow one in truth. As rates drift,
the spread grows with the age (`DRIFT` of variance a day), so every page comes up again: the floor of re-probing is
not a rule beside the optimum but a part of it.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sanderling.freshness.curves import gain

Floats = NDArray[np.float64]

# Variance that the logarithm of a rate gains in a day.
DRIFT = 1 / 500
_WIDEST = 3.0
_SPREADS = np.linspace(0.0, _WIDEST, 25)
_LOG_X = np.linspace(np.log(1e-5), np.log(1e5), 461)
_STEP = _LOG_X[1] - _LOG_X[0]


def _table() -> Floats:
    """ln of the worth in units of 1/rate, by spread and ln x. Rates beyond 2.5 spreads are left out: they are
    guesses, and the slow side of them would promise more than any page keeps."""
    z = np.linspace(-2.5, 2.5, 81)
    weight = np.exp(-z * z / 2)
    weight /= weight.sum()
    faster = np.exp(_SPREADS[:, None, None] * z)
    mixed = (weight / faster * gain(np.exp(_LOG_X)[None, :, None] * faster)).sum(axis=2)
    return np.log(np.maximum(mixed, 1e-300))


_LOG_WORTH = _table()


def worth(age: ArrayLike, log_rate: ArrayLike, spread: ArrayLike, drift: float = DRIFT) -> Floats:
    """Of a visit now to pages whose copies are `age` old; times importance, over cost, it is what pages compete by."""
    age = np.maximum(np.asarray(age, np.float64), 1e-9)
    log_rate = np.asarray(log_rate, np.float64)
    wide = np.sqrt(np.asarray(spread, np.float64) ** 2 + drift * age)
    return np.exp(_look_up(np.log(age) + log_rate, wide) - log_rate)


def _look_up(log_x: Floats, spread: Floats) -> Floats:
    u = np.minimum(spread, _WIDEST) * ((len(_SPREADS) - 1) / _WIDEST)
    i = np.minimum(u.astype(np.intp), len(_SPREADS) - 2)
    u = u - i
    v = np.clip((log_x - _LOG_X[0]) / _STEP, 0.0, len(_LOG_X) - 1.001)
    j = v.astype(np.intp)
    v = v - j
    below = _LOG_WORTH[i, j] * (1 - v) + _LOG_WORTH[i, j + 1] * v
    above = _LOG_WORTH[i + 1, j] * (1 - v) + _LOG_WORTH[i + 1, j + 1] * v
    return below * (1 - u) + above * u


def wait(wanted: ArrayLike, log_rate: ArrayLike, spread: ArrayLike, longest: float, drift: float = DRIFT) -> Floats:
    """The age at which a page is worth `wanted`, at most `longest`: the inverse of `worth`, by bisection."""
    wanted = np.log(np.maximum(np.asarray(wanted, np.float64), 1e-300))
    log_rate = np.asarray(log_rate, np.float64)
    variance = np.asarray(spread, np.float64) ** 2
    shape = np.broadcast_shapes(wanted.shape, log_rate.shape, variance.shape)
    low = np.full(shape, np.log(1e-6))
    high = np.full(shape, np.log(longest))
    for _ in range(22):
        middle = 0.5 * (low + high)
        wide = np.sqrt(variance + drift * np.exp(middle))
        enough = _look_up(middle + log_rate, wide) - log_rate >= wanted
        high = np.where(enough, middle, high)
        low = np.where(enough, low, middle)
    return np.exp(high)
