"""The pace of a client is measured and decides how much it may hold."""

import pytest

from sanderling.model import Outcome, Visit
from sanderling.server.frontier.pace import LARGEST, SMALLEST, ClientPace


def page() -> Visit:
    return Visit(id=1, outcome=Outcome.PAGE, status=200, size=1000)


def lost() -> Visit:
    return Visit(id=1, outcome=Outcome.RETRY, reason="the host cannot be reached")


def test_rates_follow_the_reports() -> None:
    pace = ClientPace(0.0)
    for second in range(1, 61):
        pace.hear([page()] * 50, float(second))
    assert pace.visits_per_second == pytest.approx(50, rel=0.01)
    assert pace.bytes_per_second == pytest.approx(50_000, rel=0.01)
    for second in range(61, 121):
        pace.hear([], float(second))
    assert pace.visits_per_second < 0.5
    assert pace.failing == 0.0
    assert pace.share == 1.0


def test_whom_no_server_answers_gets_less() -> None:
    pace = ClientPace(0.0)
    pace.hear([lost()] * 35 + [page()] * 35, 1.0)
    assert 0.2 < pace.failing < 0.5
    assert 0.5 < pace.share < 0.8
    pace.hear([lost()] * 500, 2.0)
    assert pace.share == SMALLEST
    pace.hear([page()] * 500, 3.0)
    assert pace.share > 0.99
    busy = Visit(id=1, outcome=Outcome.RETRY, status=503)
    pace.hear([busy] * 500, 4.0)  # that is a problem of the server, not of the client
    assert pace.share > 0.99


@pytest.mark.parametrize(
    ("planned", "taken", "share"), [(10, 12, 1.0), (10, 50, 0.25), (10, 500, SMALLEST), (10, 2, LARGEST)]
)
def test_who_is_late_gets_less_and_who_is_early_more(planned: float, taken: float, share: float) -> None:
    pace = ClientPace(0.0)
    for _ in range(500):
        pace.settle(planned, taken)
    assert pace.share == pytest.approx(share, rel=0.1)


def test_plans_for_no_time_at_all_say_nothing() -> None:
    pace = ClientPace(0.0)
    for _ in range(500):
        pace.settle(0.001, 0.8)
    assert pace.share > 1.0
