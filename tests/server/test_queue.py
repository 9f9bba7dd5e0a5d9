"""What a host is visited for next."""

import time
from pathlib import Path

import msgspec

from sanderling.model import State
from sanderling.server.assembly import Purpose
from sanderling.server.frontier.collection import Swap
from sanderling.urls import identity
from tests.server.crawl_of_one import CrawlOfOne, page

SEED, NEWCOMER = "http://e.org/", "http://e.org/newcomer"


def full_collection(path: Path) -> CrawlOfOne:
    """One page inside, and another that is to take its place."""
    crawl = CrawlOfOne(path, [SEED], collection=1)
    (seed,) = crawl.lease()
    crawl.report(page(seed, NEWCOMER))
    assert crawl.lease() == []  # there is no room for it yet
    frontier = crawl.parts.frontier
    assert frontier._collection is not None
    swap = Swap(identity(SEED), identity(NEWCOMER), identity("http://e.org"), False)
    frontier._swap(frontier._collection, [swap])
    return crawl


def test_a_newcomer_takes_the_place_of_a_page(tmp_path: Path) -> None:
    crawl = full_collection(tmp_path)
    assert crawl.states() == {SEED: State.EXCLUDED, NEWCOMER: State.QUEUED}
    (newcomer,) = crawl.lease()
    assert newcomer.url == NEWCOMER and not newcomer.digest
    crawl.store.close()


def test_a_page_that_returns_unchanged_brings_no_second_version(tmp_path: Path) -> None:
    crawl = full_collection(tmp_path)
    (newcomer,) = crawl.lease()
    crawl.report(page(newcomer))
    frontier = crawl.parts.frontier
    assert frontier._collection is not None
    swap = Swap(identity(NEWCOMER), identity(SEED), identity("http://e.org"), True)
    frontier._swap(frontier._collection, [swap])
    (back,) = crawl.lease()
    assert back.url == SEED and back.stored and back.digest == b"d"
    versions = crawl.store.newest_version()
    crawl.report(page(back, at=2.0))
    assert crawl.states() == {SEED: State.FETCHED, NEWCOMER: State.EXCLUDED}
    assert crawl.store.newest_version() == versions and crawl.parts.ledger.counts.same == 1
    crawl.store.close()


def test_a_newcomer_that_leaves_the_scope_is_not_visited(tmp_path: Path) -> None:
    crawl = full_collection(tmp_path)
    crawl.parts.frontier.change(msgspec.structs.replace(crawl.settings, exclude=("newcomer",)))
    while crawl.parts.frontier.rejudging:
        crawl.parts.frontier.tick(time.time())
    assert crawl.states()[NEWCOMER] == State.EXCLUDED
    assert crawl.lease() == []
    assert crawl.parts.frontier._collection is not None and crawl.parts.frontier._collection.expected == 0
    crawl.store.close()


def test_again_visits_what_is_new_and_what_was_visited(tmp_path: Path) -> None:
    first = CrawlOfOne(tmp_path, [SEED])
    (seed,) = first.lease()
    first.report(page(seed, "http://e.org/new"))
    first.store.close()
    again = CrawlOfOne(tmp_path, [], Purpose(again=True))
    tasks = {task.url: bool(task.digest) for task in again.lease()}
    assert tasks == {SEED: True, "http://e.org/new": False}
    again.store.close()
