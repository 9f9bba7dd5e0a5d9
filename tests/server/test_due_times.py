"""Visits that are put off are announced when they are due, also when that was said late."""

from sanderling.model import Settled, State
from sanderling.server.frontier.due import DueTimes


class Visits:
    """A store that knows when visited pages of one host are due."""

    def __init__(self) -> None:
        self.due_at = [10.0, 10.0]

    def next_wake(self) -> float | None:
        return None

    def due(self, after: float, until: float) -> list[tuple[int, int]]:
        count = sum(after < at <= until for at in self.due_at)
        return [(1, count)] if count else []

    def next_due(self, after: float) -> float | None:
        return min((at for at in self.due_at if at > after), default=None)


def test_a_visit_that_was_put_off_to_a_moment_that_is_past_is_announced() -> None:
    """The server was too busy, or stood still, when the report came in."""
    store = Visits()
    times = DueTimes(store)  # type: ignore[arg-type]
    assert times.visits_due(10.0) == [(1, 2)]
    store.due_at = [11.0, 12.5]
    times.settled([Settled(1, State.FETCHED, 0, 12.5, "unreachable")])
    assert times.step(13.0) == [(1, 2)]
    times.settled([Settled(2, State.FETCHED, 0, 11.0, "unreachable")])
    assert times.step(13.1)
    assert times.step(13.2) == []


def test_a_clock_that_was_set_back_delays_no_retry_for_long() -> None:
    class Retries(Visits):
        def next_wake(self) -> float | None:
            return 90_000.0

        def wake(self, now: float) -> list[tuple[int, int]]:
            return [(1, 2)] if now >= 90_000.0 else []

    times = DueTimes(Retries())  # type: ignore[arg-type]
    assert times.step(89_000.0) == []
    assert times.step(3_600.0) == [(1, 2)]
