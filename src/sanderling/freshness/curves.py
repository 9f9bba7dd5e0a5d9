"""The functions behind every schedule: the worth of a visit, and the freshness of a page between
visits.

If a page changes at rate `lam` and was visited `tau` ago, x = lam * tau changes are expected since.
The worth of a visit now is `gain(x) / lam` times the importance of the page. This is the freshness
that the visit adds. An optimal schedule visits every page when the worth of a visit reaches the
same threshold `mu`.
"""

import numpy as np
from numpy.typing import ArrayLike

from sanderling.arrays import Floats

# Beyond x = 40 the gain is 1 to the last bit of a double.
_FAR = 40.0


def gain(x: ArrayLike) -> Floats:
    """1 - (1 + x) e^-x: the share of the possible freshness that a visit adds after x expected
    changes."""
    x = np.asarray(x, np.float64)
    near = np.minimum(x, _FAR)
    # For small x the two terms cancel. The series x^2/2 - x^3/3 + x^4/8 stays exact.
    series = near * near * (0.5 - near * (1 / 3 - near * 0.125))
    return np.asarray(np.where(near < 1e-3, series, -np.expm1(-near) - near * np.exp(-near)))


def _inverse_table() -> tuple[Floats, Floats]:
    x = np.concatenate([[0.0], np.geomspace(1e-4, _FAR, 4096)])
    return gain(x), x


_GAIN, _X = _inverse_table()


def inverse_gain(y: ArrayLike) -> Floats:
    """The x at which `gain` reaches y: 0 for y <= 0, and infinite for y >= 1, which no x
    reaches."""
    y = np.asarray(y, np.float64)
    inside = np.clip(y, 0.0, 1.0 - 1e-15)
    x = np.where(inside < _GAIN[1], np.sqrt(2 * inside), np.interp(inside, _GAIN, _X))
    for _ in range(3):  # Newton; the slope of the gain is x e^-x
        slope = x * np.exp(-x)
        step = np.divide(gain(x) - inside, slope, out=np.zeros_like(x), where=slope > 1e-300)
        x = np.clip(x - np.clip(step, -1.0, 1.0), 0.0, _FAR)
    return np.where(y >= 1.0, np.inf, np.where(y <= 0.0, 0.0, x))


def even_freshness(changes_per_visit: ArrayLike) -> Floats:
    """The mean freshness of a page that is visited at even intervals, with r = lam / f changes in
    each: (1 - e^-r) / r."""
    r = np.asarray(changes_per_visit, np.float64)
    small = r < 1e-9
    safe = np.where(small, 1.0, r)
    finite = np.where(np.isinf(safe), 1.0, safe)
    return np.where(small, 1.0, np.where(np.isinf(safe), 0.0, -np.expm1(-finite) / finite))
