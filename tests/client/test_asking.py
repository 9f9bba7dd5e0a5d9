"""How many pages a client asks for ahead of time."""

from sanderling.client.asking import MOST, NEAR, AskingAhead


def rounds(answer: float, pages: int) -> AskingAhead:
    """Reports of so many pages a second, each of which is answered after so long."""
    ahead = AskingAhead(report_after=0.25)
    for second in range(20):
        ahead.told(float(second), pages, wanted=1)
        ahead.answered(second + answer)
    return ahead


def test_a_server_that_answers_at_once_is_asked_for_no_more_than_can_be_used() -> None:
    assert rounds(NEAR / 2, pages=100).pages(64) == 0
    assert AskingAhead(0.25).pages(64) == 0


def test_what_is_fetched_until_the_answer_is_asked_for_ahead() -> None:
    assert rounds(0.4, pages=10).pages(64) == 13  # ten a second, twice 0.65 s
    assert rounds(0.4, pages=1000).pages(64) == MOST * 64


def test_an_answer_that_waits_for_work_is_not_a_slow_one() -> None:
    ahead = rounds(NEAR / 2, pages=10)
    ahead.told(30.0, 10, wanted=1)
    ahead.answered(90.0)
    assert ahead.pages(64) == 0
