"""Reports from a real crawl: the feed, the digest, and changes while another process finds them."""

import contextlib
import json
import queue
import signal
import subprocess
import threading
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from sanderling.telling.atom import NAMESPACE
from sanderling.testing import DAY, SyntheticWeb
from sanderling.testing.postgres import PostgresServer
from tests.conftest import FAST, Run, command
from tests.waiting import PATIENCE

ATOM = f"{{{NAMESPACE}}}"


class Follower:
    """`sanderling changes --follow`, read through a pipe."""

    def __init__(self, *arguments: object) -> None:
        wanted = command("changes", *arguments, "--follow", "--json", "--baseline")
        self._process = subprocess.Popen(wanted, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self._lines: queue.Queue[str] = queue.Queue()
        self._thread = threading.Thread(target=self._read)
        self._thread.start()

    def __enter__(self) -> "Follower":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.send_signal(signal.SIGINT)
        self._process.wait(PATIENCE)
        self._thread.join()

    def _read(self) -> None:
        assert self._process.stdout
        with self._process.stdout as lines:
            for line in lines:
                self._lines.put(line)

    def line(self) -> str:
        return self._lines.get(timeout=PATIENCE)

    def first(self, happen: Callable[[int], object]) -> dict[str, Any]:
        """Makes changes until one is reported, because the start of following cannot be seen."""
        for time in count(1):
            happen(time)
            with contextlib.suppress(queue.Empty):
                return json.loads(self._lines.get(timeout=2))
        raise AssertionError

    def take(self, count: int) -> list[dict[str, object]]:
        return [json.loads(self.line()) for _ in range(count)]


def test_changes_are_told_as_they_are_committed(sanderling: Run, tmp_path: Path, kept_in: list[object]) -> None:
    folder = tmp_path / "crawl"
    with SyntheticWeb(pages=40, seed=8, change_rate=0.4).serve() as site:
        sanderling("crawl", site.url, "-d", folder, *FAST, "--max-pages", 0, *kept_in)
        with Follower(folder) as follower:
            heard = follower.first(lambda n: sanderling("crawl", "-d", folder, *FAST, "--max-pages", n))
            sanderling("crawl", "-d", folder, *FAST, "--max-pages", 1000)
            told = sanderling("changes", folder, "--json", "--baseline").lines[::-1]
            assert {row["url"] for row in told} == site.direct.reachable(0)
            missed = [row["id"] for row in told].index(heard["id"])
            site.clock.advance(3 * DAY)
            sanderling("crawl", "-d", folder, "--again", "--max-pages", 1000)
            before, told = len(told), sanderling("changes", folder, "--json", "--baseline").lines[::-1]
            assert len(told) > before
            heard_since = [row["id"] for row in follower.take(len(told) - missed - 1)]
            assert [heard["id"], *heard_since] == [row["id"] for row in told[missed:]]
        with pytest.raises(queue.Empty):
            follower._lines.get_nowait()


def test_a_database_that_goes_away_is_waited_for(sanderling: Run, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    with PostgresServer() as server, SyntheticWeb(pages=20, seed=8).serve() as site:
        sanderling("crawl", site.url, "-d", folder, *FAST, "--max-pages", 5, "--store", server.dsn)
        with Follower(folder, "--since", "1h") as follower:
            before = follower.take(5)
            server.stop()
            assert "the database went away" in follower.line()
            server.start()
            assert "the database is back" in follower.line()
            sanderling("crawl", "-d", folder, *FAST, "--max-pages", 1000)
            told = sanderling("changes", folder, "--json", "--baseline").lines[::-1]
            assert [row["id"] for row in before + follower.take(len(told) - 5)] == [row["id"] for row in told]


def test_following_can_begin_in_the_past(sanderling: Run, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    with SyntheticWeb(pages=20, seed=8).serve() as site:
        sanderling("crawl", site.url, "-d", folder, *FAST)
    told = sanderling("changes", folder, "--json", "--baseline").lines[::-1]
    assert (
        sanderling("changes", folder, "--json", "--baseline", "--follow", "--since", "1h", "--limit", len(told)).lines
        == told
    )


def test_feed_and_digest_of_a_crawl(sanderling: Run, tmp_path: Path) -> None:
    folder, file = tmp_path / "crawl", tmp_path / "feed.atom"
    with SyntheticWeb(hosts=2, pages=40, seed=8, change_rate=0.4).serve() as site:
        sanderling("crawl", site.url, "-d", folder, *FAST, "--scope", "any", "--allow-private")
        site.clock.advance(3 * DAY)
        sanderling("crawl", "-d", folder, "--again")
    told = sanderling("changes", folder, "--json", "--kind", "text", "--min-significance", "0.1").lines
    ran = sanderling("feed", folder, "--kind", "text", "--min-significance", "0.1", "-o", file)
    assert (ran.code, ran.out) == (0, "")
    entries = ElementTree.parse(file).getroot().findall(ATOM + "entry")
    assert [entry.findtext(ATOM + "id") for entry in entries] == [row["id"] for row in told]
    for entry, row in zip(entries, told, strict=True):
        assert entry.findtext(ATOM + "summary") == f"{row['summary']}: {row['excerpt']}"
    assert sanderling("feed", folder, "--limit", 3).out.count("<entry>") == 3
    assert "<entry>" not in sanderling("feed", folder, "--host", "elsewhere.org").out

    (summed,) = [sanderling("digest", folder, "--json", "--baseline").json]
    pages = [page for site in summed["sites"] for group in ("new", "changed", "gone") for page in site[group]]
    everything = sanderling("changes", folder, "--json", "--baseline").lines
    assert sorted(page["url"] for page in pages) == sorted({row["url"] for row in everything})
    changes = [row for row in everything if row["kinds"] != ["new"]]
    assert sum(page["times"] for page in pages if page["kinds"] != ["new"]) == len(changes)
    assert sanderling("digest", folder, "--most", 1).out.count("\n") < 12
    assert sanderling("digest", folder, "--markdown").out.startswith("# Changes since")
    assert "Nothing." in sanderling("digest", folder, "--since", "2100-01-01").out
    assert sanderling("digest", folder, "--since", "soon").code == 2
