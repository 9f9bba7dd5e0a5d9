"""The table of `lab liars`; the simulation itself is tested where the beliefs are."""

import numpy as np
import pytest

from lab import liars
from lab.simulation.sources import DAYS, NOTHING, TURN


def test_gains_are_points_over_the_crawler_that_hears_nothing() -> None:
    alone = np.full((2, 2, DAYS), 0.5)
    liar = alone.copy()
    liar[:, 0, TURN:] = 0.48
    liar[:, 1] = 12.0
    gains = liars.gains(liar, alone)
    assert gains["while true"] == [0.0, 0.0]
    assert gains["first two weeks"] == gains["next two"] == [pytest.approx(-2.0)] * 2
    told = liars.told({NOTHING: alone, "liar": liar})
    assert "-2.0 ± 0.0" in told and "12.0" in told and NOTHING not in told
