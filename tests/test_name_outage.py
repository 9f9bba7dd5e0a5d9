"""A DNS server that fails for a while costs no page, whatever it says."""

import json
import subprocess
import sys
from typing import Any

import pytest


@pytest.fixture(scope="module")
def crawls(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What `tests.failing_names` saw, in a network of its own."""
    if subprocess.run(["unshare", "-mn", "true"], capture_output=True).returncode:
        pytest.skip("this user may not make a network namespace")
    script = ["unshare", "-mn", sys.executable, "-m", "tests.failing_names", str(tmp_path_factory.mktemp("names"))]
    done = subprocess.run(script, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


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
