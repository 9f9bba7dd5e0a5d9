"""What differs only because time has passed is known by how much it differs."""

import time
from pathlib import Path

import pytest

from sanderling.change.passing import only_time_passed
from tests.conftest import FAST, Run
from tests.servers import PageServer, links

AT = 1_795_063_480.0  # 04:44:40 UTC


@pytest.mark.parametrize(
    ("before", "after", "seconds"),
    [
        ("Version 1 79 seconds keeper", "Version 1 4 minutes keeper", 180),
        ("Age: 4\xa0minutes", "Age: 7\xa0minutes", 181),
        ("up 1 hour, 59 minutes", "up 2 hours, 4 minutes", 300),
        ("ends in 3 hours", "ends in 2 hours", 3600),
        ("an hour", "3 hours", 7200),
        ("It is 04:44:41Z", "It is 04:47:42Z", 181),
    ],
)
def test_time_that_passed(before: str, after: str, seconds: int) -> None:
    assert only_time_passed(["a", before], ["a", after], AT, AT + seconds)


@pytest.mark.parametrize(
    ("before", "after", "seconds"),
    [
        ("4 minutes", "7 minutes", 3600),
        ("Ships in 3 days", "Ships in 4 days", 86_400),
        ("4 minutes by Ann", "7 minutes by Bob", 180),
        ("She won in 2:03:11", "She won in 2:02:10", 61),
        ("Opens at 09:00", "Opens at 10:00", 3600),
        ("4 guests", "7 guests", 180),
        ("4", "7", 180),
        ("one", "one more", 180),
    ],
)
def test_news(before: str, after: str, seconds: int) -> None:
    assert not only_time_passed(["a", before], ["a", after], AT, AT + seconds)
    assert not only_time_passed([before], [before, "more"], AT, AT + seconds)


def test_a_crawl_tells_no_clocks(sanderling: Run, tmp_path: Path) -> None:
    def page(name: str) -> bytes:
        return f"<h1>Page {name}</h1><p>It is {time.strftime('%H:%M:%S', time.gmtime())} now".encode()

    with PageServer({"/": links("/a", "/b"), "/a": lambda _: page("a"), "/b": lambda _: page("b")}) as server:
        sanderling("crawl", server.origin, "-d", tmp_path / "c", *FAST)
        time.sleep(1)  # so that the clock shows another second
        server.table["/b"] = lambda _: page("b, edited")
        sanderling("crawl", "-d", tmp_path / "c", "--again")
        told = sanderling("changes", tmp_path / "c", "--json", "--all").lines[:2]
        assert {row["url"][-2:]: row["news"] for row in told} == {"/a": False, "/b": True}
        assert any(row["summary"].endswith("; only time has passed") for row in told)
