"""A host that goes away is waited for: a page fails by its own attempts only."""

import subprocess
import threading
import time
from pathlib import Path

import pytest

from sanderling.testing import ServedWeb, SyntheticWeb
from tests.conftest import FAST, Run, started, stored_urls
from tests.waiting import PATIENCE, until

QUICK = (*FAST, "--retry-wait", "300ms", "--retries", 1)


def outages(site: ServedWeb, seconds: list[float]) -> None:
    """The server goes away after every 20 pages, for so long each time."""
    for n, pause in enumerate(seconds, 1):
        until(lambda n=n: sum(site.requests.values()) >= 20 * n)
        site.go_away()
        time.sleep(pause)
        site.come_back()


@pytest.mark.parametrize("seconds", [[0.3, 0.3, 0.3], [4.0]])
def test_short_outages_cost_no_page(tmp_path: Path, sanderling: Run, seconds: list[float]) -> None:
    with SyntheticWeb(hosts=1, pages=150, seed=5, latency=0.005).serve() as site:
        breaker = threading.Thread(target=outages, args=(site, seconds))
        breaker.start()
        ran = sanderling("crawl", site.url, "-d", tmp_path / "c", *QUICK, "--json")
        breaker.join()
        expected = site.direct.reachable(0)
    assert (ran.code, ran.json["failed"], ran.json["queued"]) == (0, 0, 0)
    assert sorted(stored_urls(tmp_path / "c")) == sorted(expected)
    assert "cannot be reached: waiting for it" in ran.err
    assert "is back after" in ran.err


def test_a_host_that_stays_away_keeps_its_pages_queued(tmp_path: Path, sanderling: Run) -> None:
    with SyntheticWeb(hosts=1, pages=100, seed=5, latency=0.005).serve() as site:
        site.hold(after=30)
        flags = ("-d", tmp_path / "c", *QUICK, "--host-patience", "2s")
        with started("crawl", site.url, *flags, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            until(lambda: site.held)
            site.go_away()
            _, errors = process.communicate(timeout=PATIENCE)
            assert process.returncode == 1
        assert "pages stay queued" in errors and "run the same command again" in errors
        status = sanderling("status", tmp_path / "c", "--json").json
        assert status["failed"] == 0 and status["queued"] > 0
        site.come_back()
        site.release()
        ran = sanderling("crawl", *flags, "--json")
        expected = site.direct.reachable(0)
    assert (ran.code, ran.json["failed"], ran.json["queued"]) == (0, 0, 0)
    assert sorted(stored_urls(tmp_path / "c")) == sorted(expected)


def test_others_go_on_while_one_is_away(tmp_path: Path, sanderling: Run) -> None:
    web = SyntheticWeb(hosts=1, pages=60, seed=5)
    with web.serve() as gone, SyntheticWeb(hosts=1, pages=60, seed=6).serve() as there:
        gone.hold(after=10)
        flags = ("-d", tmp_path / "c", *QUICK, "--host-patience", "3s")
        seeds = (gone.url, there.url)
        with started("crawl", *seeds, *flags, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            until(lambda: gone.held)
            gone.go_away()
            process.communicate(timeout=PATIENCE)
        stored = set(stored_urls(tmp_path / "c"))
        assert there.direct.reachable(0) <= stored
