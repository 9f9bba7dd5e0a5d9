"""A collection is refined as long as the crawl goes on, and a run with nothing else to do ends."""

from sanderling.server.frontier.collection import MOST_ROUNDS, REFILL, Rounds


def rounds(spent: int, known: int) -> Rounds:
    made = Rounds()
    assert made.left(1000.0, known)
    for _ in range(spent):
        made.begin(1000.0)
    return made


def test_a_run_that_finds_nothing_new_ends() -> None:
    assert rounds(MOST_ROUNDS - 1, 100).left(1000.0, 100)
    assert not rounds(MOST_ROUNDS, 100).left(1000.0, 100)


def test_a_crawl_that_grows_goes_on() -> None:
    assert rounds(MOST_ROUNDS, 100).left(1000.0, 103)


def test_a_service_goes_on() -> None:
    spent = rounds(MOST_ROUNDS, 100)
    assert not spent.left(1000.0 + REFILL - 1, 100)
    assert spent.left(1000.0 + REFILL + 1, 100)
