"""What the summary of a crawl says of URLs that were held back."""

from sanderling.presenting.held import by_code, held_lines

HELD = {"held-pattern:/day/0": 900, "held-listed:/item/0": 20, "held-off-topic:2": 190, "held-spent": 10}


def test_the_real_reasons_are_named_with_counts() -> None:
    first, second = held_lines(HELD, "c", 5000)
    assert first == (
        "1,120 held back: 920 like others that brought nothing new (most of them /day/0), 190 too far off the topic, "
        "10 linked only by pages that repeat others"
    )
    assert second == (
        "`sanderling pages c --held` lists these; `sanderling crawl -d c --no-hold` and "
        "`sanderling crawl -d c --tunnel-depth N` fetch them"
    )
    assert by_code(HELD)["held-pattern"] == 900


def test_that_more_was_left_out_than_fetched_is_said() -> None:
    assert held_lines(HELD, "c", 100)[0].startswith("1,120 held back, more than the 100 that were fetched: ")
    assert held_lines({}, "c", 0) == []
