"""A site of files, the announcer beside it, and a refresh that goes on for ever: every change is
found once.
"""

import contextlib
import json
import os
import random
import signal
import statistics
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from sanderling.model import VersionRow
from sanderling.repository import warc
from sanderling.repository.folder import Folder
from sanderling.repository.opening import open_store
from sanderling.urls import identity
from tests.applications import free_port
from tests.conftest import Run, started
from tests.receiving.site import FileSite, crawl, make_site, prose, refreshing
from tests.waiting import until
from tests.web.served import Served, running

PAGES = 25
# Nothing but the seed is visited by plan: what is found is found because somebody said so.
NOTHING_ELSE = ("--policy", "top-levels", "--top-levels", "0", "--report-interval", "0.5s")


def versions(folder: Path, url: str) -> list[VersionRow]:
    store = open_store(Folder(folder), readonly=True)
    with contextlib.closing(store):
        return store.versions(identity(url))


@contextlib.contextmanager
def announcing(site: FileSite, home: Path, *more: object) -> Iterator["subprocess.Popen[str]"]:
    arguments = ("announce", site.root, "--site", f"{site.url}/", "--state", home / "announcer", "--gone-after", "1s")
    with started(*arguments, *more, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as process:
        until(lambda: (site.root / ".well-known/sanderling/manifest.jsonl").exists())
        yield process


@pytest.fixture
def site(tmp_path: Path) -> Iterator[FileSite]:
    with make_site(tmp_path / "site", PAGES) as made:
        yield made


@pytest.fixture
def folder(tmp_path: Path, site: FileSite, sanderling: Run) -> Path:
    crawl(sanderling, site, tmp_path / "crawl", "--no-sitemaps")
    return tmp_path / "crawl"


@pytest.fixture
def server(folder: Path) -> Iterator[Served]:
    with running(folder, "--indexnow") as served:
        yield served


def test_changes_are_found_by_push(site: FileSite, folder: Path, server: Served, tmp_path: Path) -> None:
    took = []
    push = ("--push", f"{server.url}/indexnow")
    with announcing(site, tmp_path, *push), refreshing(folder, *NOTHING_ELSE, "--no-reports", budget="20/s"):
        for number in range(9):
            url = f"{site.url}/p{number}.html"
            site.write(f"p{number}.html", prose(1000 + number))
            began = time.monotonic()
            until(lambda url=url: len(versions(folder, url)) == 2)
            took.append(time.monotonic() - began)
        assert all(len(versions(folder, f"{site.url}/p{number}.html")) == 1 for number in range(9, PAGES))
    # Others may keep the machine busy, so only what is far off fails here; `docs/notices.md` has
    # the figures.
    assert statistics.median(took) < 30, took


def test_changes_are_found_once_by_the_report_and_shown(
    site: FileSite, folder: Path, tmp_path: Path, sanderling: Run
) -> None:
    with announcing(site, tmp_path), refreshing(folder, *NOTHING_ELSE, budget="20/s"):
        until(lambda: site.requests["/.well-known/sanderling/manifest.jsonl"] > 1)
        for number in range(12):
            site.write(f"p{number}.html", prose(2000 + number))
        site.write("added.html", prose(3000))
        (site.root / "p20.html").rename(site.root / "renamed.html")
        (site.root / "p21.html").unlink()
        urls = [f"{site.url}/p{number}.html" for number in range(12)]
        until(lambda: all(len(versions(folder, url)) == 2 for url in urls))
        until(lambda: versions(folder, f"{site.url}/added.html") and versions(folder, f"{site.url}/renamed.html"))
        until(lambda: all(_is_gone(folder, f"{site.url}/{name}.html") for name in ("p20", "p21")))
        site.requests.clear()
        until(lambda: site.requests["/.well-known/sanderling/manifest.jsonl"] > 2)
        # Nothing is visited again without a reason; the seed is, by plan.
        assert {path for path in site.requests if not path.startswith("/.well-known")} <= {"/", "/robots.txt"}
    shown = sanderling("freshness", folder).out
    assert "report" in shown and site.url in shown
    (source,) = sanderling("freshness", folder, "--json").json["sources"]
    assert (source["host"], source["source"], source["heeded"]) == (site.url, "report", True)
    assert source["precision"] > 0.9
    told = [row["url"] for row in sanderling("changes", folder, "--json").lines if row["url"] in urls]
    assert sorted(told) == sorted(urls)


def test_a_report_is_found_by_robots_txt(site: FileSite, tmp_path: Path, sanderling: Run) -> None:
    """Also when the line came after the crawl."""
    crawl(sanderling, site, tmp_path / "crawl", "--no-sitemaps")
    (site.root / "robots.txt").write_text(f"Announce: {site.url}/news/manifest.jsonl\n")
    site.write("p9.html", prose(7000))
    report = ("--report", site.root / "news", "--once")
    assert sanderling("announce", site.root, "--site", f"{site.url}/", "--state", tmp_path / "state", *report).code == 0
    done = sanderling("refresh", tmp_path / "crawl", *NOTHING_ELSE, "--budget", "3")
    assert done.code == 0 and f"{site.url}/ announces its changes in a report" in done.err
    assert "Fatal" not in done.err

    def is_read() -> bool:
        """On a very busy machine, a refresh plans before the report is read (`LONGEST_WAIT`)."""
        return len(versions(tmp_path / "crawl", f"{site.url}/p9.html")) == 2

    def refreshes() -> bool:
        return is_read() or not sanderling("refresh", tmp_path / "crawl", *NOTHING_ELSE, "--budget", "3").code

    until(lambda: refreshes() and is_read())
    assert site.requests["/news/manifest.jsonl"] and not site.requests["/.well-known/sanderling/manifest.jsonl"]
    nowhere = f"{site.url}/nowhere.jsonl"
    done = sanderling("refresh", tmp_path / "crawl", *NOTHING_ELSE, "--budget", "1", "--report-at", nowhere)
    assert done.code == 0 and f"there is no report at {nowhere}" in done.err


def _is_gone(folder: Path, url: str) -> bool:
    store = open_store(Folder(folder), readonly=True)
    with contextlib.closing(store):
        return store.known([identity(url)])[identity(url)][1] == 5


def test_nothing_is_lost_or_told_twice_when_both_are_killed(
    site: FileSite, folder: Path, tmp_path: Path, sanderling: Run
) -> None:
    dice = random.Random(4)
    wanted = dict.fromkeys(range(6, PAGES), 1)
    new = [f"{site.url}/{name}{round}.html" for name in ("added", "renamed") for round in range(3)]
    gone = [f"{site.url}/p{number}.html" for number in range(6)]
    for round in range(3):
        with announcing(site, tmp_path) as announcer, refreshing(folder, *NOTHING_ELSE, budget="20/s") as refresh:
            if round == 0:  # a report does not tell what was gone before it was read for the first time
                until(lambda: site.requests["/.well-known/sanderling/manifest.jsonl"] > 1)
            for number in dice.sample(sorted(wanted), 6):
                site.write(f"p{number}.html", prose(5000 + 100 * round + number))
                wanted[number] += 1
                time.sleep(dice.uniform(0, 0.3))
            site.write(f"added{round}.html", prose(9000 + round))
            (site.root / f"p{round}.html").unlink()
            (site.root / f"p{3 + round}.html").rename(site.root / f"renamed{round}.html")
            if round < 2:  # at any point of their work
                time.sleep(dice.uniform(0, 1.0))
                for victim in dice.sample([announcer, refresh], 2):
                    os.killpg(victim.pid, signal.SIGKILL)
                    victim.wait()
            else:
                until(lambda: all(_text(folder, site, number) == _now(site, number) for number in wanted))
                until(lambda: all(versions(folder, each) for each in new))
                until(lambda: all(_is_gone(folder, each) for each in gone))
    rows = sanderling("changes", folder, "--json").lines
    for number, most in wanted.items():
        found = versions(folder, f"{site.url}/p{number}.html")
        assert 1 <= len(found) <= most
        assert len({row.digest for row in found}) == len(found)
        assert sum(row["url"] == f"{site.url}/p{number}.html" for row in rows) == len(found) - 1
    assert all(sum(row["url"] == each for row in rows) == 1 for each in new + gone)


def _now(site: FileSite, number: int) -> bytes:
    return (site.root / f"p{number}.html").read_bytes()


def _text(folder: Path, site: FileSite, number: int) -> bytes:
    """The newest stored content of a page."""
    newest = versions(folder, f"{site.url}/p{number}.html")[-1]
    return warc.read(folder / "warc", newest.stored).body


def test_a_site_that_another_crawler_has_taken_is_left_alone(
    site: FileSite, folder: Path, tmp_path: Path, sanderling: Run
) -> None:
    (tmp_path / "token").write_text("a token that nobody guesses")
    port = free_port()
    manifest = site.root / ".well-known/sanderling/manifest.jsonl"
    report = f"{site.url}/.well-known/sanderling/manifest.jsonl"

    def refresh(*more: object) -> tuple[str, bool]:
        site.requests.clear()
        ran = sanderling("refresh", folder, "--budget", "5", "--no-index", "--report-at", report, *more)
        assert ran.code == 0, ran.err
        return ran.err, any(path.endswith(("/", ".html")) for path in site.requests)

    with announcing(site, tmp_path, "--listen", port, "--token-file", tmp_path / "token"):
        _begin(port, 600)
        until(lambda: b'"taken_by":"other"' in manifest.read_bytes())
        said, visited = refresh()
        assert f"another crawler is at work at {site.url} until" in said and not visited
        assert "left out of this refresh" in said
        assert f"another crawler has reserved {site.url} until" in sanderling("freshness", folder).out
        assert refresh("--no-heed-taken")[1]
        _begin(port, 0)
        until(lambda: b'"taken_by":"other"' not in manifest.read_bytes())
        said, visited = refresh()
        assert "another crawler" not in said and visited
        assert "another crawler" not in sanderling("freshness", folder).out

        # The report is known now, so rounds of all pages heed it, too.
        _begin(port, 600)
        until(lambda: b'"taken_by":"other"' in manifest.read_bytes())
        for command in (("crawl", "--again", "-d", folder), ("refresh", folder, "--policy", "all")):
            site.requests.clear()
            ran = sanderling(*command, "--no-index")
            assert ran.code == 0 and "it is left out of this round" in ran.err, ran.err
            assert not any(path.endswith(("/", ".html")) for path in site.requests)
        _begin(port, 0)
        until(lambda: b'"taken_by":"other"' not in manifest.read_bytes())
        ran = sanderling("crawl", "--again", "-d", folder, "--no-index")
        assert "another crawler" not in ran.err
        assert any(path.endswith(("/", ".html")) for path in site.requests)


def test_a_refresh_takes_a_site_and_gives_it_back(
    site: FileSite, folder: Path, tmp_path: Path, sanderling: Run
) -> None:
    (tmp_path / "token").write_text("a token that nobody guesses")
    port = free_port()
    manifest = site.root / ".well-known/sanderling/manifest.jsonl"
    take = ("--take-at", f"http://127.0.0.1:{port}/begin#file:{tmp_path / 'token'}", "--take-reset", "change")
    with announcing(site, tmp_path, "--listen", port, "--token-file", tmp_path / "token"):
        with refreshing(folder, *NOTHING_ELSE, *take, budget="20/s"):
            until(lambda: b'"taken_by":"sanderling-' in manifest.read_bytes())
            with pytest.raises(urllib.error.HTTPError, match="409"):
                _begin(port, 600)
            # We do not keep ourselves away.
            site.write("p1.html", prose(7000))
            until(lambda: len(versions(folder, f"{site.url}/p1.html")) == 2)
        _begin(port, 600)  # it was given back
        ran = sanderling("refresh", folder, "--budget", "5", "--no-index", *take)
        assert f"another crawler is at work at {site.url}" in ran.err
        _begin(port, 0)
        (tmp_path / "token").write_text("another token, which is wrong")
        ran = sanderling("refresh", folder, "--budget", "5", "--no-index", *take)
        assert ran.code == 0 and f"{site.url}/ cannot be reserved: its announcer answered 401" in ran.err
    wrong = sanderling("refresh", folder, "--budget", "5", "--take-at", f"{site.url}/begin#secret-token")
    assert wrong.code == 2 and "where the token is kept" in wrong.err and "secret-token" not in wrong.err


def _begin(port: int, seconds: int) -> None:
    body = json.dumps({"crawler": "other", "seconds": seconds}).encode()
    asked = urllib.request.Request(
        f"http://127.0.0.1:{port}/begin", body, {"Authorization": "Bearer a token that nobody guesses"}
    )
    with urllib.request.urlopen(asked) as answer:
        assert answer.status == 200
