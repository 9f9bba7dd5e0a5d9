"""The curves behind every schedule: what a visit is worth, and how fresh a page stays.

For a page that changes at rate `lam` and was visited `tau` ago, x = lam * tau is the number of changes expected
since. A visit now is worth `gain(x) / lam` times its importance: the freshness it buys over the one it replaces.
All pages of an optimal schedule are visited when they reach the same worth, the threshold `mu`.
"""

import numpy as np
from numpy.typing import ArrayLike

from sanderling.arrays import Floats

# Beyond x = 40 the gain is 1 to the last bit of a double.
_FAR = 40.0


def gain(x: ArrayLike) -> Floats:
    """1 - (1 + x) e^-x: the share of the freshness to be had that a visit brings after x expected changes."""
    x = np.asarray(x, np.float64)
    near = np.minimum(x, _FAR)
    # For small x the two terms cancel; the series x^2/2 - x^3/3 + x^4/8 keeps its digits.
    series = near * near * (0.5 - near * (1 / 3 - near * 0.125))
    return np.asarray(np.where(near < 1e-3, series, -np.expm1(-near) - near * np.exp(-near)))


def _inverse_table() -> tuple[Floats, Floats]:
    x = np.concatenate([[0.0], np.geomspace(1e-4, _FAR, 4096)])
    return gain(x), x


_GAIN, _X = _inverse_table()


def inverse_gain(y: ArrayLike) -> Floats:
    """The x at which `gain` reaches y: 0 for y <= 0 and infinite for y >= 1, where no wait is long enough."""
    y = np.asarray(y, np.float64)
    inside = np.clip(y, 0.0, 1.0 - 1e-15)
    x = np.where(inside < _GAIN[1], np.sqrt(2 * inside), np.interp(inside, _GAIN, _X))
    for _ in range(3):  # Newton; the slope of the gain is x e^-x
        slope = x * np.exp(-x)
        step = np.divide(gain(x) - inside, slope, out=np.zeros_like(x), where=slope > 1e-300)
        x = np.clip(x - np.clip(step, -1.0, 1.0), 0.0, _FAR)
    return np.where(y >= 1.0, np.inf, np.where(y <= 0.0, 0.0, x))


def even_freshness(changes_per_visit: ArrayLike) -> Floats:
    """Mean freshness of a page visited at even intervals, r = lam / f changes falling in each: (1 - e^-r) / r."""
    r = np.asarray(changes_per_visit, np.float64)
    small = r < 1e-9
    safe = np.where(small, 1.0, r)
    finite = np.where(np.isinf(safe), 1.0, safe)
    return np.where(small, 1.0, np.where(np.isinf(safe), 0.0, -np.expm1(-finite) / finite))
