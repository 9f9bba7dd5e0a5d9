"""How likely each class of rates is by the evidence of many pages at once."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sanderling.freshness.belief import LOG_RATES, RATES
from sanderling.freshness.evidence import KINDS, NONE, SIZE

Floats = NDArray[np.float64]


def unpack(packed: Sequence[bytes]) -> Floats:
    """(pages, kinds, numbers) of many pages at once."""
    whole = b"".join(each if len(each) == SIZE else NONE for each in packed)
    return np.frombuffer(whole, np.float32).reshape(len(packed), len(KINDS), -1).astype(np.float64)


def likelihood(numbers: Floats) -> Floats:
    """The logarithm of the likelihood of each class of rates, from (pages, numbers) of one kind."""
    quiet, changes, logs, dated = numbers.T
    interval = np.exp(logs / np.maximum(changes, 1e-9))
    with np.errstate(over="ignore"):
        x = RATES * np.minimum(interval, 1e6)[:, None]
    said = np.log(np.maximum(-np.expm1(-x), 1e-12))
    found: Floats = changes[:, None] * said + dated[:, None] * LOG_RATES - RATES * quiet[:, None]
    return np.asarray(found - found.max(axis=1, keepdims=True))
