"""One wait for several fetchers and a line: descriptors and timers."""

import os
import time
from collections.abc import Iterator
from contextlib import closing

import pytest

from sanderling.client.fetcher import Request
from sanderling.client.loop import READ, READABLE, Loop
from tests.client.fakes import FakeFetcher

PAGES = {"http://e.org/": b"page"}


@pytest.fixture
def loop() -> Iterator[Loop]:
    with closing(Loop()) as made:
        yield made


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    read, write = os.pipe()
    yield read, write
    os.close(read)
    os.close(write)


def test_two_fetchers_are_waited_for_at_once(loop: Loop) -> None:
    request = Request("http://e.org/", True, 100)
    with closing(FakeFetcher(PAGES, loop)) as one, closing(FakeFetcher(PAGES, loop)) as other:
        first, second = one.start(request), other.start(request)
        loop.wait(60.0)
        assert (one.finished(), other.finished()) == ([first], [second])
        assert first.body == second.body == b"page"


def test_a_wait_ends_with_the_first_thing_that_happens(loop: Loop, pipe: tuple[int, int]) -> None:
    heard: list[int] = []
    loop.watch(pipe[0], READ, lambda fd, events: heard.append(events & READABLE))
    loop.wait(0.0)
    assert not heard
    os.write(pipe[1], b"x")
    begun = time.monotonic()
    loop.wait(60.0)
    assert heard == [READ] and time.monotonic() - begun < 30


def test_each_timer_rings_once_at_its_time(loop: Loop) -> None:
    rung: list[str] = []
    soon, late, never = (loop.timer(lambda name=name: rung.append(name)) for name in ("soon", "late", "never"))
    soon.at, late.at = time.monotonic() + 0.05, time.monotonic() + 0.15
    begun = time.monotonic()
    loop.wait(60.0)
    assert rung == ["soon"] or time.monotonic() - begun > 0.15
    loop.wait(60.0)
    assert rung == ["soon", "late"] and time.monotonic() - begun >= 0.15
    loop.wait(0.0)
    assert rung == ["soon", "late"] and never.at is None


def test_a_timer_may_set_itself_again(loop: Loop) -> None:
    rung: list[float] = []

    def ring() -> None:
        rung.append(time.monotonic())
        timer.at = time.monotonic() + 0.01

    timer = loop.timer(ring)
    timer.at = 0.0
    for _ in range(3):
        loop.wait(60.0)
    assert len(rung) == 3


def test_what_is_no_longer_watched_is_not_called(loop: Loop, pipe: tuple[int, int]) -> None:
    """This holds even if both were ready in the same wait."""
    read, write = os.pipe()
    called: list[int] = []

    def first_of_two(fd: int, events: int) -> None:
        called.append(fd)
        for each in (read, pipe[0]):
            loop.unwatch(each)

    for reads, writes in ((read, write), pipe):
        os.write(writes, b"x")
        loop.watch(reads, READ, first_of_two)
    loop.wait(60.0)
    assert len(called) == 1
    os.close(read)
    os.close(write)


def test_a_descriptor_that_was_closed_can_be_unwatched_and_used_again(loop: Loop) -> None:
    read, write = os.pipe()
    loop.watch(read, READ, lambda fd, events: None)
    os.close(read)
    loop.unwatch(read)
    again = os.eventfd(1)
    heard: list[int] = []
    loop.watch(again, READ, lambda fd, events: heard.append(fd))
    loop.wait(60.0)
    assert heard == [again]
    os.close(again)
    os.close(write)


def test_a_descriptor_that_was_closed_without_a_word_can_be_watched_again(loop: Loop) -> None:
    """libcurl may close a socket, and the next one gets its number."""
    rung: list[int] = []
    read, write = os.pipe()
    loop.watch(read, READ, lambda fd, events: rung.append(0))
    os.close(read)
    os.close(write)
    again, other = os.pipe()
    assert again == read
    try:
        loop.watch(again, READ, lambda fd, events: rung.append(1))
        os.write(other, b"x")
        loop.wait(60.0)
    finally:
        os.close(again)
        os.close(other)
    assert rung == [1]
