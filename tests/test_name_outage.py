"""A DNS server that fails for a while costs no page, whatever it says."""

from typing import Any

import pytest

from tests.own_network import seen_by


@pytest.fixture(scope="module")
def crawls(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What `tests.failing_names` saw, in a network of its own."""
    return seen_by("tests.failing_names", tmp_path_factory.mktemp("names"))


def facts(crawl: Any) -> tuple[int, int, int, int]:
    return crawl["code"], crawl["pages"], crawl["failed"], crawl["queued"]


@pytest.mark.parametrize("mood", ["nxdomain", "servfail"])
def test_a_short_failure_of_names_is_waited_for(crawls: Any, mood: str) -> None:
    pages, short = crawls[mood]["pages"], crawls[mood]["short"]
    assert facts(short) == (0, pages, 0, 0)
    assert "cannot be reached: waiting for it" in short["errors"]
    assert "is back after" in short["errors"]


@pytest.mark.parametrize("mood", ["nxdomain", "servfail"])
def test_after_a_long_failure_of_names_the_pages_are_still_queued(crawls: Any, mood: str) -> None:
    pages, (begun, away, resumed) = crawls[mood]["pages"], crawls[mood]["long"]
    assert facts(begun)[:3] == (0, 20, 0)
    assert facts(away) == (1, 20, 0, begun["queued"])
    assert "pages stay queued" in away["errors"]
    assert facts(resumed) == (0, pages, 0, 0)
