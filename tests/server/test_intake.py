"""A report becomes one commit."""

from pathlib import Path

from sanderling.model import Before, Outcome, Settled, State, Task
from sanderling.server.frontier import mentions, settling
from sanderling.server.frontier.transition import queued
from sanderling.server.gate.holding import Lessons, Released
from sanderling.server.intake import intake
from tests.server.crawl_of_one import CrawlOfOne, page, redirect

SEED = "http://e.org/"


def test_a_report_settles_admits_counts_and_queues(tmp_path: Path) -> None:
    crawl = CrawlOfOne(tmp_path, [SEED])
    (seed,) = crawl.lease()
    visits = crawl.report(page(seed, "http://e.org/a", "http://other.org/"))
    assert [url for url, _ in visits] == [SEED]
    assert crawl.states() == {
        SEED: State.FETCHED, "http://e.org/a": State.QUEUED, "http://other.org/": State.EXCLUDED,
    }  # fmt: skip
    counts = crawl.store.counts()
    assert (counts.known, counts.fetched, counts.queued, counts.excluded, counts.pages) == (3, 1, 1, 1, 1)
    assert [task.url for task in crawl.lease()] == ["http://e.org/a"]
    crawl.store.close()


def test_what_a_client_does_not_hold_is_not_taken_in(tmp_path: Path) -> None:
    crawl = CrawlOfOne(tmp_path, [SEED])
    (seed,) = crawl.lease()
    stranger = Task(5, "http://e.org/stranger", 0, 0, 0)
    assert crawl.report(page(stranger, "http://e.org/a")) == []
    crawl.report(page(seed))
    assert crawl.report(page(seed, "http://e.org/b")) == []  # the second time
    assert crawl.states() == {SEED: State.FETCHED}
    crawl.store.close()


def test_a_failed_try_waits_for_another(tmp_path: Path) -> None:
    crawl = CrawlOfOne(tmp_path, [SEED], retries=1, retry_wait=10.0)
    (seed,) = crawl.lease()
    crawl.report(page(seed, outcome=Outcome.RETRY, status=503, stored=None))
    assert crawl.lease() == []
    crawl.parts.frontier.tick(1000.0)
    (again,) = crawl.lease()
    assert again.attempts == 1
    crawl.report(page(again, outcome=Outcome.RETRY, status=503, stored=None))
    assert crawl.states() == {SEED: State.FAILED} and crawl.parts.frontier.exhausted()
    crawl.store.close()


def test_only_redirects_of_seeds_lead_the_scope() -> None:
    near, far = Task(1, SEED, 0, 0, 0), Task(2, "http://e.org/x", 1, 0, 0)
    visits = [redirect(near, "http://a.org/"), redirect(far, "http://b.org/"), page(near)]
    assert mentions.redirected_seeds(visits, {1: near, 2: far}) == visits[:1]


def test_what_is_queued_is_visited_as_if_it_were_new() -> None:
    queued, gone = Before(b"", b"", State.QUEUED, 200, None, True), Before(b"", b"", State.GONE, 404, None, True)
    assert intake.visited_before({1: queued, 2: gone}) == {2: gone}


def test_lessons_of_the_gate_reach_the_commit() -> None:
    lessons = Lessons(
        aliases=[(1, 2)],
        released=[Released(3, 7, 1, State.KNOWN), Released(4, 7, 1, State.EXCLUDED)],
    )
    assert intake.aliases(lessons) == [(1, 2), (4, 0)]
    assert intake.settled_as_queued(queued(lessons.released)) == [
        Settled(id, State.QUEUED, 0, 0.0, "") for id in (3, 4)
    ]
    settled = [Settled(1, State.FETCHED, 0, 0.0, ""), Settled(2, State.FETCHED, 0, 0.0, "")]
    assert [each.reason for each in settling.with_reasons(settled, {2: "soft-404"})] == ["", "soft-404"]
