"""The client's loop crawls with any line, any fetcher and any archive."""

import time
from contextlib import closing
from typing import Any

import pytest

from sanderling.client.crawler import Crawler
from sanderling.client.fetcher import Fetcher
from sanderling.client.loop import Loop
from sanderling.client.reading import Reader
from sanderling.model import Outcome, Visit
from sanderling.settings import Settings
from sanderling.urls import identity
from tests.client.fakes import ChoosingFetcher, FakeFetcher, FakeLine, MemoryArchive

ROBOTS = "http://e.org/robots.txt"
PAGES = {f"http://e.org/{n}": b"<title>%d</title>" % n for n in range(40)}
SETTINGS = Settings(delay=0.0, contact="http://e.org/bot")


class NoDetector:
    fingerprint: Any = None
    describe_image: Any = None


def crawl(line: FakeLine, loop: Loop, fetcher: Fetcher) -> MemoryArchive:
    archive = MemoryArchive()
    reader = Reader(SETTINGS, archive, lambda id: None, NoDetector())
    Crawler("0" * 12, SETTINGS, line, loop, fetcher, reader, archive).run()
    return archive


def visit_to(line: FakeLine, url: str) -> Visit:
    return line.visits[identity(url)]


def test_a_client_asks_robots_first_then_each_page_once() -> None:
    table = PAGES | {ROBOTS: b"User-agent: *\nDisallow: /7"}
    with closing(FakeLine(list(PAGES))) as line, closing(Loop()) as loop, closing(FakeFetcher(table, loop)) as fetcher:
        archive = crawl(line, loop, fetcher)
    assert next(iter(fetcher.asked)) == ROBOTS
    assert fetcher.asked == {url: 1 for url in table if not url.endswith("/7")}
    excluded = visit_to(line, "http://e.org/7")
    assert (excluded.outcome, excluded.reason) == (Outcome.EXCLUDED, "robots")
    assert visit_to(line, "http://e.org/8").title == "8"
    assert {each.url for each in archive.exchanges} == set(fetcher.asked)
    assert sum(len(note.robots.text) > 0 for report in line.reports for note in report.hosts if note.robots) == 1


def test_two_fetchers_work_at_once() -> None:
    """For example a browser beside libcurl."""
    with closing(FakeLine(list(PAGES))) as line, closing(Loop()) as loop:
        plain, browser = FakeFetcher(PAGES, loop), FakeFetcher(PAGES, loop)
        with closing(ChoosingFetcher(plain, browser, lambda request: request.url.endswith("1"))) as both:
            crawl(line, loop, both)
    assert browser.asked == {f"http://e.org/{n}": 1 for n in (1, 11, 21, 31)}
    assert plain.asked.total() == len(PAGES) - 4 + 1  # robots.txt
    assert {visit.outcome for visit in line.visits.values()} == {Outcome.PAGE}


def test_a_pause_that_the_server_knows_is_kept_whatever_its_clock_shows() -> None:
    url = "http://e.org/1"
    with (
        closing(FakeLine([url], clock=1e9)) as line,
        closing(Loop()) as loop,
        closing(FakeFetcher(PAGES, loop)) as fetcher,
    ):
        (host,) = line._lease.hosts
        line._lease = type(line._lease)(1e9, [type(host)(host.origin, 1, 1e9 + 0.5, True, None, host.tasks)])
        begun = time.monotonic()
        crawl(line, loop, fetcher)
    assert visit_to(line, url).at - begun >= 0.5
    assert visit_to(line, url).at == pytest.approx(time.monotonic(), abs=60)
