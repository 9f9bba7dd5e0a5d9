"""Processes are killed at any time: every page is stored exactly once, and few are fetched
twice."""

import contextlib
import math
import os
import random
import shutil
import signal
import socket
import subprocess
import time
from collections import Counter
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from sanderling.processes import entry_points
from sanderling.processes.crew import new_name
from sanderling.repository.sqlite import SqliteStore
from sanderling.server.requests import remote
from sanderling.server.run_folder import LINK
from sanderling.testing import ServedWeb, SyntheticWeb
from tests.conftest import FAST, Run, started, stored_urls
from tests.servers import PageServer, links
from tests.waiting import PATIENCE, until

PAGES = 3000


def start(folder: Path, site: ServedWeb) -> "AbstractContextManager[subprocess.Popen[str]]":
    arguments = ("crawl", site.url, "-d", folder, *FAST, "--clients", 2)
    return started(*arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def committed(folder: Path) -> list[str]:
    """The pages that are on the disk."""
    with contextlib.closing(SqliteStore(folder / "sanderling.db", readonly=True)) as store:
        return [page.url for page in store.pages()]


def test_killing_everything_twenty_times_loses_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    chance = random.Random(1)
    kills, asked_for = 0, dict[str, int]()
    with SyntheticWeb(hosts=1, pages=PAGES, seed=3, latency=0.03).serve() as site:
        expected = site.direct.reachable(0)
        while True:
            # At most this many pages in a run, so that even a fast machine needs more than twenty
            # runs.
            site.hold(after=PAGES // 20) if kills < 22 else site.release()
            enough = sum(site.requests.values()) + chance.randrange(30, PAGES // 20) if kills < 22 else math.inf
            with start(folder, site) as process:
                until(lambda: sum(site.requests.values()) >= enough or process.poll() is not None)  # noqa: B023
                time.sleep(chance.random() * 0.4)
                if process.poll() is not None:
                    break
                os.killpg(process.pid, signal.SIGKILL)
            kills += 1
            until(lambda: not site.in_flight)
            for url in committed(folder):
                asked_for.setdefault(url, site.requests[url])
        assert process.returncode == 0
        assert {url: site.requests[url] for url in asked_for} == asked_for  # what is on the disk is not fetched again
        requests = sum(site.requests.values())
    assert kills >= 20 and len(asked_for) > 100
    assert Counter(stored_urls(folder)) == Counter(expected)
    # Two clients hold at most a full stock each; a lease after the last commit is not on disk.
    assert requests <= len(expected) + kills * 2 * 200


def at_work(folder: Path, replaced: int) -> bool:
    """Whether both clients are running, after this many have died."""
    live = remote.look(folder, PATIENCE)
    return live.replaced == replaced and len(live.clients) == 2


def test_killing_clients_loses_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    chance = random.Random(2)
    with SyntheticWeb(hosts=1, pages=1500, seed=4, latency=0.01).serve() as site:
        site.hold(after=300)
        with start(folder, site) as process:
            for kills in range(4):
                until(lambda: site.held)
                until(lambda kills=kills: at_work(folder, replaced=kills))
                os.kill(chance.choice(remote.look(folder, PATIENCE).clients).pid, signal.SIGKILL)
                site.hold(after=300)
            site.release()
            assert process.wait(PATIENCE) == 0
        expected = site.direct.reachable(0)
    assert Counter(stored_urls(folder)) == Counter(expected)


# Simulates a parser that crashes, which the native reader would not ask for pages as simple as
# these. The interpreter imports it first.
DEADLY = """
import os
import turbohtml

parse = turbohtml.parse

def deadly(body, *more, **options):
    if b"deadly" in bytes(body):
        os.kill(os.getpid(), 9)
    if b"faulty" in bytes(body):
        raise SystemError("a bug in a parser")
    return parse(body, *more, **options)

turbohtml.parse = deadly
os.environ["SANDERLING_READER"] = "python"
"""


@pytest.mark.parametrize("how", [b"deadly", b"faulty"])
def test_a_page_that_ends_clients_is_set_aside(tmp_path: Path, sanderling, how: bytes) -> None:  # type: ignore[no-untyped-def]
    """A parser that crashes the whole process on one page costs that page and nothing else."""
    (tmp_path / "sitecustomize.py").write_text(DEADLY)
    chance = random.Random(3)
    pages = {f"/{n}": chance.randbytes(300).hex(" ").encode() for n in range(30)}
    names = list(pages)
    with PageServer({**pages, "/": links(*names), "/7": b"a %b page" % how}) as server:
        ran = sanderling(
            "crawl", server.origin, "-d", tmp_path / "crawl", *FAST, "--clients", 1, "--json",
            env={"PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])}, crashes=how == b"faulty",
        )  # fmt: skip
        assert ran.code == 0, ran.err
        assert ran.json["set_aside"] == 1
        assert ran.json["clients_replaced"] == 2
        assert ran.json["pages"] == len(names)
        assert server.requests["/7"] == 2
        assert max(count for path, count in server.requests.items() if path != "/7") <= 3
        assert Counter(stored_urls(tmp_path / "crawl")) == Counter(
            f"{server.origin}{path}" for path in ["/", *names] if path != "/7"
        )
        (failed,) = sanderling("pages", tmp_path / "crawl", "--state", "failed", "--json").lines
    assert failed["url"] == f"{server.origin}/7"
    assert "ended a client process twice" in failed["reason"]


def test_what_a_killed_crawl_leaves_is_cleared_up(tmp_path: Path, web: ServedWeb, sanderling) -> None:  # type: ignore[no-untyped-def]
    """The next run does it. It does not touch a running crawl that it finds through a copied
    folder."""
    folder, copy = tmp_path / "crawl", tmp_path / "copy"
    web.hold(after=10)
    with start(folder, web) as process:
        until(lambda: len(committed(folder)) == 10 if (folder / LINK).is_symlink() else False)  # nothing moves any more
        left = (folder / LINK).readlink().parent
        assert left.stat().st_mode & 0o077 == 0  # nobody else may send messages to a crawl
        shutil.copytree(folder, copy, symlinks=True)
        ran = sanderling("crawl", "-d", copy, "--max-pages", 1)
        assert (ran.code, left.exists()) == (0, True), ran.err
        os.killpg(process.pid, signal.SIGKILL)
    assert left.exists()
    web.release()
    assert sanderling("crawl", "-d", folder).code == 0
    assert not left.exists() and not (folder / LINK).is_symlink()


@pytest.mark.parametrize("left", ["nothing", "a socket that nobody listens at"])
def test_a_client_that_comes_too_late_leaves_without_a_word(tmp_path: Path, left: str) -> None:
    place = tmp_path / "socket"
    if left != "nothing":
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as once:
            once.bind(str(place))
    client = entry_points.command("client", new_name(), place, tmp_path, tmp_path / "marker")
    ran = subprocess.run(client, capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_a_first_start_that_is_killed_early_can_be_finished(tmp_path: Path, sanderling: Run) -> None:
    """At whichever call it ends: every step of opening a folder is killed once."""
    steps = ("mkdir", "flock", "rename", "connect")
    with PageServer({"/": links("/a"), "/a": b"a page"}) as server:
        for step in steps:
            folder = tmp_path / step
            (tmp_path / "sitecustomize.py").write_text(KILLED_AT.format(step=step))
            ran = sanderling(
                "crawl",
                server.origin,
                "-d",
                folder,
                "--exclude",
                "zip",
                *FAST,
                env={"PYTHONPATH": f"{tmp_path}:{SOURCE}"},
            )
            assert ran.code == -signal.SIGKILL, step
            assert sanderling("crawl", server.origin, "-d", folder, "--exclude", "zip", *FAST).code == 0, step
            assert 'exclude = ["zip"]' in (folder / "sanderling.toml").read_text()
            assert len(stored_urls(folder)) == 2


def test_what_a_full_disk_left_of_a_first_start_can_be_finished(tmp_path: Path, sanderling: Run) -> None:
    folder = tmp_path / "crawl"
    (folder / "warc").mkdir(parents=True)
    for name in ("sanderling.toml", "sanderling.lock", "sanderling.toml.part"):
        (folder / name).touch()
    with PageServer({"/": b"a page"}) as server:
        assert sanderling("crawl", server.origin, "-d", folder, *FAST).code == 0
        assert len(stored_urls(folder)) == 1


# Ends the process in the middle of its first moments.
KILLED_AT = """
import fcntl, os, pathlib, sqlite3

def deadly(call):
    def die(*given, **more):
        call(*given, **more)
        os.kill(os.getpid(), 9)
    return die

if "{step}" == "mkdir":
    pathlib.Path.mkdir = deadly(pathlib.Path.mkdir)
if "{step}" == "flock":
    fcntl.flock = deadly(fcntl.flock)
if "{step}" == "rename":
    pathlib.Path.replace = deadly(pathlib.Path.replace)
if "{step}" == "connect":
    sqlite3.connect = deadly(sqlite3.connect)
"""
SOURCE = Path(__file__).parents[1] / "src"
