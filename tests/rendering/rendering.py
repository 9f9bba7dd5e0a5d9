"""Renders pages inside the test's process, with a real browser."""

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path

import pytest
from msgspec.structs import replace

from sanderling.browser.fetcher import RenderingFetcher
from sanderling.browser.finding import find
from sanderling.client.curl_fetcher import CurlFetcher
from sanderling.client.fetcher import Request, Response
from sanderling.client.loop import Loop
from sanderling.model import Exchange, HintedEvent, Stored
from sanderling.settings import Settings
from tests.waiting import PATIENCE

SETTINGS = Settings(render="always", ignore_robots=True, clients=1)


class Kept:
    """An archive in memory."""

    def __init__(self) -> None:
        self.exchanges: list[Exchange] = []

    def add(self, exchange: Exchange) -> Stored:
        self.exchanges.append(exchange)
        return Stored("memory", len(self.exchanges), 1)

    def flush(self) -> dict[str, int]:
        return {}

    def close(self) -> None:
        pass


def browser() -> Path:
    """The browser of these tests; they are skipped where there is none."""
    found = find(None)
    if found is None:
        pytest.skip("no Chromium is installed")
    if not namespaces_are_permitted():
        pytest.skip("this system forbids the browser its sandbox")
    return found


@cache
def namespaces_are_permitted() -> bool:
    """Whether this system lets a browser run in a network namespace and in its sandbox; some
    containers do not."""
    nobody = {"user": "nobody", "extra_groups": []} if os.geteuid() == 0 else {}
    network = ["unshare", "-n", "true"] if os.geteuid() == 0 else ["unshare", "-Urn", "true"]
    done = [subprocess.run(network), subprocess.run(["unshare", "-U", "true"], **nobody)]  # type: ignore[call-overload]
    return not any(each.returncode for each in done)


class Renderer:
    """A fetcher that renders, with the loop that drives it."""

    def __init__(self, loop: Loop, fetcher: RenderingFetcher, archive: Kept) -> None:
        self.loop = loop
        self.fetcher = fetcher
        self.archive = archive

    def start(self, url: str, trusted: bool = True, events: tuple[HintedEvent, ...] = ()) -> Response:
        private = ("127.0.0.1",) if trusted else ()
        return self.fetcher.start(Request(url, trusted, 16 << 20, private=private, renderable=True, events=events))

    def wait(self, *responses: Response) -> None:
        waiting, until = set(responses), time.monotonic() + PATIENCE
        while waiting:
            assert time.monotonic() < until, "a page was not rendered"
            self.loop.wait(0.5)
            waiting -= set(self.fetcher.finished())

    def render(self, url: str, trusted: bool = True) -> Response:
        response = self.start(url, trusted)
        self.wait(response)
        return response

    def html(self, url: str) -> str:
        response = self.render(url)
        assert response.rendered is not None, response.not_rendered or response.error
        return response.rendered.html.decode()


@contextmanager
def renderer(program: Path | None = None, **changes: object) -> Iterator[Renderer]:
    settings = replace(SETTINGS, **changes)
    archive = Kept()
    with closing(Loop()) as loop:
        fetcher = RenderingFetcher(program or browser(), settings, Path(), loop, CurlFetcher(settings, loop), archive)
        with closing(fetcher):
            yield Renderer(loop, fetcher, archive)
