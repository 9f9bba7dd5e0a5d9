"""How a crawl is doing, as each part knows it."""

import contextlib
from pathlib import Path

import msgspec

from sanderling.model import Command, Outcome, Visit
from sanderling.server.requests.control import Control
from sanderling.server.requests.status import CrawlStatus, sample_failures
from sanderling.server.requests.throughput import Throughput
from tests.server.crawl_of_one import page
from tests.server.test_clients import Crowd, Heard, welcomed


def status_of(crowd: Crowd) -> CrawlStatus:
    parts = crowd.crawl.parts
    return CrawlStatus(
        parts.frontier, None, parts.observer, crowd.control,
        crowd.clients, Throughput(),
    )  # fmt: skip


def test_progress_and_live_say_the_same(tmp_path: Path) -> None:
    heard = Heard()
    with contextlib.closing(Crowd(tmp_path, 0, heard, max_pages=10)) as crowd:
        status = status_of(crowd)
        welcomed(crowd, heard)
        (seed,) = crowd.crawl.lease()
        crowd.crawl.report(page(seed, "http://e.org/a", "http://e.org/b"))
        crowd.crawl.lease(want=1)
        progress, live = status.progress(), status.look(stopping=False)
        assert (progress.counts.pages, progress.leased, progress.pages_left, progress.waiting) == (1, 1, 9, 1)
        assert (live.counts, live.leased, live.pages_left) == (progress.counts, progress.leased, progress.pages_left)
        assert progress.clients == len(live.clients) == 1
        assert not live.paused and not live.stopping and progress.time_left is None


def test_who_asks_at_once_gets_the_same_answer_until_something_changes(tmp_path: Path) -> None:
    with contextlib.closing(Crowd(tmp_path, 0, Heard())) as crowd:
        status = status_of(crowd)
        first = status.live(stopping=False)
        assert status.live(stopping=False) is first
        assert crowd.control.follow(Command("pause")) == ""
        status.forget()
        again = status.live(stopping=False)
        assert again.paused and not first.paused
        assert status.look(stopping=True).stopping


def test_a_limit_of_time_counts_down_but_not_in_a_pause(tmp_path: Path) -> None:
    with contextlib.closing(Crowd(tmp_path, 0, Heard(), max_time=1000.0)) as crowd:
        control = Control(msgspec.structs.replace(crowd.crawl.settings), tmp_path / "x", crowd.crawl.parts.frontier)
        control.follow(Command("pause"))
        control._started -= 400.0  # as if it had begun to pause so long ago
        assert control._paused_at is not None
        control._paused_at -= 400.0
        assert control.time_left is not None and 999.0 < control.time_left <= 1000.0
        control.follow(Command("resume"))
        control._started -= 400.0
        assert 599.0 < control.time_left <= 600.0


def test_disappointments_name_the_url_and_why(tmp_path: Path) -> None:
    with contextlib.closing(Crowd(tmp_path, 0, Heard(), retries=0)) as crowd:
        (seed,) = crowd.crawl.lease()
        assert sample_failures(crowd.crawl.store) == [("http://e.org/", "not visited yet")]
        crowd.crawl.report(Visit(id=seed.id, outcome=Outcome.FAILED, reason="status:403", status=403, at=1.0))
        ((url, why),) = sample_failures(crowd.crawl.store)
        assert url == "http://e.org/" and "403" in why
