"""`sanderling lab ajax`: how much content behind clicks and scrolling is found, and how fast.

Two experiments with a real browser on a served site. The first counts the comments that are found
behind "show more", tabs, a pager and endless scrolling. The second counts dynamic pages and their
states in equal times, with events that do the same combined, and with every event triggered.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path
from typing import NamedTuple

from lab.comment_site import CommentSite, comments_in
from lab.confidence import repeated
from sanderling.browser.fetcher import RenderingFetcher
from sanderling.browser.finding import find
from sanderling.client.curl_fetcher import CurlFetcher
from sanderling.client.fetcher import Request, Response
from sanderling.client.loop import Loop
from sanderling.errors import RunFailed
from sanderling.model import Exchange, Stored
from sanderling.presenting.arguments import positive
from sanderling.settings import Settings

# The comments of eight videos, as published in 2016 for a crawler that triggers reported events.
PUBLISHED = [17_657, 3_010, 3_866, 4_447, 6_045, 976, 3_606, 7_919]
PUBLISHED_FOUND = 0.9971


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--scale",
        type=positive,
        default=1,
        metavar="N",
        help="divide the published counts of comments by N (default: 1)",
    )
    parser.add_argument(
        "--seconds", type=positive, default=30, metavar="N", help="time for each measurement of states (default: 30)"
    )
    parser.add_argument("--crawlers", type=positive, nargs="+", default=[1, 2, 4], metavar="N", help="pages that are rendered at the same time (default: 1 2 4)")  # fmt: skip


def run(options: argparse.Namespace) -> int:
    program = find(None)
    if program is None:
        raise RunFailed("there is no Chromium here; `sanderling browser install` gets one")
    counts = [max(1, each // options.scale) for each in PUBLISHED]
    with CommentSite(counts) as site:
        sys.stdout.write(
            "comments behind events\n\n| video | reached by | comments | found | twice | seconds |\n|---|---|---|---|---|---|\n"
        )
        found = total = 0
        for number, wanted in enumerate(counts):
            result = comments(program, site, number)
            found, total = found + result.distinct, total + wanted
            sys.stdout.write(
                f"| {number + 1} | {site.way(number)} | {wanted:,} | {result.distinct:,} | {result.twice:,} | {result.seconds:.0f} |\n"
            )
            sys.stdout.flush()
        sys.stdout.write(f"\n{found / total:.2%} of all (published: {PUBLISHED_FOUND:.2%})\n")
        sys.stdout.write(
            "\nstates of dynamic pages\n\n| at the same time | events | pages | states | events a state |\n|---|---|---|---|---|\n"
        )
        for crawlers in options.crawlers:
            for combine in (True, False):
                made = states(program, site, crawlers, options.seconds, combine)
                name = "combined" if combine else "all"
                each = made.events / made.states if made.states else float("nan")
                sys.stdout.write(f"| {crawlers} | {name} | {made.pages:,} | {made.states:,} | {each:.1f} |\n")
                sys.stdout.flush()
    sys.stdout.write(repeated(1, "run of each") + "\n")
    return 0


class CommentsFound(NamedTuple):
    distinct: int
    twice: int  # comments that stand in two states
    seconds: float


class StatesFound(NamedTuple):
    pages: int
    states: int
    events: int


def comments(program: Path, site: CommentSite, number: int) -> CommentsFound:
    """What is found of the comments of one video, in the page and its states."""
    started = time.monotonic()
    with _renderer(program, Settings(render="always", states=10_000, state_depth=3, state_time=3600.0)) as (
        loop,
        fetcher,
    ):
        first = fetcher.start(_request(site.video(number)))
        _wait(loop, fetcher, {first})
        if first.rendered is None:
            raise RunFailed(f"{site.video(number)} could not be rendered")
        held = Counter(comments_in(first.rendered.html).keys())
        for url, _ in first.rendered.found:
            state = fetcher.start(_request(url))
            _wait(loop, fetcher, {state})
            if state.rendered is not None:
                held.update(comments_in(state.rendered.html).keys())
    return CommentsFound(len(held), sum(times > 1 for times in held.values()), time.monotonic() - started)


def states(program: Path, site: CommentSite, crawlers: int, seconds: float, combine: bool) -> StatesFound:
    """How many dynamic pages and states are found in a time."""
    settings = Settings(render="always", states=100, state_depth=2, state_time=60.0, render_tabs=crawlers)
    pages = found = 0
    with _renderer(program, settings) as (loop, fetcher):
        fetcher.pool.combine = combine
        _wait(loop, fetcher, {fetcher.start(_request(f"{site.origin}/page/0"))})  # the browser has started
        numbers, events, until = count(1), fetcher.pool.events, time.monotonic() + seconds
        running: set[Response] = set()
        while time.monotonic() < until:
            while len(running) < crawlers:
                running.add(fetcher.start(_request(f"{site.origin}/page/{next(numbers)}")))
            loop.wait(0.5)
            for response in fetcher.finished():
                running.discard(response)
                if response.rendered is not None:
                    pages += 1
                    found += len(response.rendered.found)
        return StatesFound(pages, found, fetcher.pool.events - events)


def _request(url: str) -> Request:
    return Request(url, True, 64 << 20, private=("127.0.0.1",), renderable=True)


def _wait(loop: Loop, fetcher: RenderingFetcher, waiting: set[Response]) -> None:
    while waiting:
        loop.wait(0.5)
        waiting -= set(fetcher.finished())


@contextmanager
def _renderer(program: Path, settings: Settings) -> Iterator[tuple[Loop, RenderingFetcher]]:
    with closing(Loop()) as loop:
        fetcher = RenderingFetcher(program, settings, Path(), loop, CurlFetcher(settings, loop), _NoArchive())
        with closing(fetcher):
            yield loop, fetcher


class _NoArchive:
    """Keeps nothing."""

    def add(self, exchange: Exchange) -> Stored:
        return Stored("", 0, 0)

    def flush(self) -> dict[str, int]:
        return {}

    def close(self) -> None:
        pass
