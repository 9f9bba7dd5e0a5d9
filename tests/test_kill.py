"""Whatever is killed, and whenever: every page is stored exactly once and hardly any is fetched twice."""

import os
import random
import signal
import sqlite3
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest
from conftest import FAST, command, stored_urls
from servers import PageServer, links

from sanderling.testing import ServedWeb, SyntheticWeb

PAGES = 3000


def start(folder: Path, site: ServedWeb, *more: object) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        command("crawl", site.url, "-d", folder, *FAST, "--clients", 2, *more),
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip


def leased(folder: Path) -> int:
    """What was leased at the last commit before a kill."""
    db = sqlite3.connect(f"file:{folder}/sanderling.db?mode=ro", uri=True)
    try:
        row = db.execute("SELECT json_extract(value, '$.leased') FROM meta WHERE key = 'counts'").fetchone()
        return int(row[0])
    finally:
        db.close()


@pytest.mark.timeout(300)
def test_killing_everything_twenty_times_loses_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    chance = random.Random(1)
    kills = at_risk = 0
    with SyntheticWeb(hosts=1, pages=PAGES, seed=3, latency=0.03).serve() as site:
        expected = site.direct.reachable(0)
        while True:
            before = sum(site.requests.values())
            process = start(folder, site)
            while process.poll() is None and (kills >= 40 or sum(site.requests.values()) < before + 50):
                time.sleep(0.01)
            time.sleep(chance.random() * 0.4)
            if process.poll() is not None:
                break
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            kills += 1
            # Two clients hold at most a full stock each; a lease after the last commit is not on disk.
            at_risk += 2 * 200
        assert process.returncode == 0
        requests = sum(site.requests.values())
    assert kills >= 20
    assert Counter(stored_urls(folder)) == Counter(expected)
    assert requests <= len(expected) + at_risk
    assert requests - len(expected) < len(expected)


def clients_of(pid: int) -> list[int]:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(child) for child in children]


def test_killing_clients_loses_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    chance = random.Random(2)
    killed = progress = 0
    with SyntheticWeb(hosts=1, pages=1500, seed=4, latency=0.01).serve() as site:
        process = start(folder, site)
        while process.poll() is None:
            time.sleep(0.3 + chance.random() * 0.3)
            # On a busy machine clients take longer to start; those that never get to work are another test.
            if sum(site.requests.values()) - progress < 50 or process.poll() is not None:
                continue
            if clients := clients_of(process.pid):
                os.kill(chance.choice(clients), signal.SIGKILL)
                killed += 1
                progress = sum(site.requests.values())
        assert process.returncode == 0
        expected = site.direct.reachable(0)
    assert killed >= 3
    assert Counter(stored_urls(folder)) == Counter(expected)


# Stands in for a parser that crashes: the interpreter imports it before anything else.
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
            env={"PYTHONPATH": str(tmp_path)}, crashes=how == b"faulty",
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
