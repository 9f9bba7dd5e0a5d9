"""What the user named, where it moved to, and what that does to the scope."""

from pathlib import Path

from sanderling.model import State
from sanderling.repository.sqlite import SqliteStore
from sanderling.server.frontier.seeds import Seeds
from sanderling.settings import Settings
from tests.server.crawl_of_one import CrawlOfOne, page, redirect

SEED, TARGET = "http://e.org/", "http://www.e.org/"


def test_seeds_of_earlier_runs_stay(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "sanderling.db")
    store.seed([SEED], [], [], store.counts())
    seeds = Seeds(store, Settings(), ["http://other.org", SEED])
    assert seeds.urls == [SEED, "http://other.org/"]
    assert seeds.is_home("http://other.org") and not seeds.is_home("http://www.e.org")
    assert seeds.objection("http://e.org/x", "http://e.org") == ""
    assert seeds.objection("http://www.e.org/x", "http://www.e.org")
    store.close()


def test_only_named_hosts_may_be_private(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "sanderling.db")
    assert Seeds(store, Settings(), [SEED]).is_trusted("http://e.org")
    assert not Seeds(store, Settings(), [SEED]).is_trusted("http://www.e.org")
    assert not Seeds(store, Settings(private_seeds=False), [SEED]).is_trusted("http://e.org")
    store.close()


def test_the_scope_follows_a_seed_that_moved(tmp_path: Path) -> None:
    crawl = CrawlOfOne(tmp_path, [SEED])
    (seed,) = crawl.lease()
    crawl.report(redirect(seed, TARGET))
    assert crawl.store.homes() == [TARGET]
    assert [task.url for task in crawl.lease()] == [TARGET]
    crawl.store.close()


def test_an_excluded_page_that_a_seed_moved_to_is_visited_in_the_same_run(tmp_path: Path) -> None:
    crawl = CrawlOfOne(tmp_path, [SEED, "http://e.org/old"])
    tasks = {task.url: task for task in crawl.lease()}
    crawl.report(page(tasks[SEED], TARGET))
    assert crawl.states()[TARGET] == State.EXCLUDED
    crawl.report(redirect(tasks["http://e.org/old"], TARGET))
    assert [task.url for task in crawl.lease()] == [TARGET]
    assert (crawl.parts.ledger.counts.excluded, crawl.parts.ledger.counts.queued) == (0, 1)
    crawl.store.close()
