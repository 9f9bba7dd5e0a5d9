"""Refreshes: the budget is kept, the right pages are visited, and dishonest hosts cannot use up the
budget."""

import contextlib
import json
import os
import random
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from email.utils import formatdate
from pathlib import Path
from xml.etree.ElementTree import fromstring

import pytest

from sanderling.server.requests import remote
from sanderling.testing import DAY, SyntheticWeb
from sanderling.testing.postgres import PostgresServer
from tests.conftest import FAST, Run, command
from tests.servers import WORDS, Answer, Entry, PageServer
from tests.waiting import PATIENCE, until


def later(days: float) -> dict[str, str]:
    """The environment of a command that runs this much later."""
    return {"SANDERLING_AHEAD": str(days * DAY)}


def test_a_budget_is_spent_on_what_changes(sanderling: Run, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    with SyntheticWeb(pages=150, seed=11, change_rate=0.1, rate_spread=1.5, vanish=0.0).serve() as site:
        sanderling("crawl", site.url, "-d", folder, *FAST)
        visits = changed = 0
        for day in range(1, 10):
            site.clock.now = day * DAY
            site.requests.clear()
            ran = sanderling("refresh", folder, "--budget", 30, "--no-reports", "--json", env=later(day))
            assert ran.code == 0, ran.err
            assert ran.json["visits"] <= 30 and sum(site.requests.values()) <= 30
            visits += ran.json["visits"]
            changed += ran.json["changed"]
            assert ran.json["freshness"] > ran.json["freshness_before"]
        assert visits > 225
        # At the same budget a visit to everybody in turn finds 0.1 * 5 changes in 5 days, many of
        # them two at once.
        rows = sanderling("pages", folder, "--json").lines
        often = sorted(rows, key=lambda row: -row["changes"])[:15]
        mean = visits / len(rows)
        assert sum(row["visits"] - 1 for row in often) / len(often) > 1.3 * mean
        assert changed > 30


def test_everything_is_the_same_as_again(sanderling: Run, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    with SyntheticWeb(pages=40, seed=2).serve() as site:
        sanderling("crawl", site.url, "-d", folder, *FAST)
        site.requests.clear()
        ran = sanderling("refresh", folder, "--policy", "all", "--json", env=later(1))
        assert (ran.json["visits"], ran.json["not_modified"]) == (40, 40)
        assert set(site.requests.values()) == {1}


def test_the_limit_of_pages_is_for_new_ones(sanderling: Run, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    with SyntheticWeb(pages=60, seed=2).serve() as site:
        sanderling("crawl", site.url, "-d", folder, *FAST, "--max-pages", 20)
        for day, limit, new in ((1, [], 0), (2, ["--max-pages", 0], 0), (3, ["--max-pages", 25], 5)):
            ran = sanderling("refresh", folder, "--budget", 100, "--json", *limit, env=later(day)).json
            assert ran["new"] == new and ran["not_modified"] > 0


@pytest.mark.parametrize("policy", ["uniform", "proportional", "nutch", "top-levels"])
def test_every_policy_spends_its_budget_and_no_more(sanderling: Run, tmp_path: Path, policy: str) -> None:
    folder = tmp_path / "crawl"
    with SyntheticWeb(pages=60, seed=2).serve() as site:
        sanderling("crawl", site.url, "-d", folder, *FAST)
        visited = 0
        for day in (1, 2):
            site.requests.clear()
            ran = sanderling(
                "refresh", folder, "--policy", policy, "--budget", 20, "--no-reports", "--json", env=later(day)
            )
            assert ran.code == 0, ran.err
            visited += len(site.requests)
            assert sum(site.requests.values()) <= 20
        assert visited >= 36 if policy != "top-levels" else visited > 5


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--budget", "0"], "with a budget of 0 nothing is ever visited"),
        (["--budget", "0/h"], "with a budget of 0 nothing is ever visited"),
        (["--budget", "many"], "is not a number of visits or bytes"),
        (["--budget", "5/fortnight"], "is not a number of visits or bytes"),
        (["--budget", "-5"], "is not a number of visits or bytes"),
        (["--forever"], "--forever needs a budget per time"),
        (["--forever", "--budget", "500"], "--forever needs a budget per time"),
        (["--policy", "all", "--budget", "5"], "use --policy uniform"),
    ],
)
def test_what_cannot_be_done_is_said(sanderling: Run, tmp_path: Path, arguments: list[str], sentence: str) -> None:
    ran = sanderling("refresh", tmp_path, *arguments)
    assert ran.code == 2 and sentence in ran.err


def test_a_folder_that_is_none(sanderling: Run, tmp_path: Path) -> None:
    ran = sanderling("refresh", tmp_path / "none")
    assert ran.code == 2 and "does not exist" in ran.err


@contextlib.contextmanager
def service(folder: Path, *arguments: object) -> Iterator["subprocess.Popen[str]"]:
    """A refresh with --forever, ended with SIGTERM as systemd does."""
    run = subprocess.Popen(
        command("refresh", folder, "--forever", "--json", "--no-reports", *arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, env={**os.environ, **later(30)},
    )  # fmt: skip
    try:
        yield run
    finally:
        if run.poll() is None:
            run.kill()
        run.communicate()


def visits(folder: Path) -> int:
    return remote.look(folder, PATIENCE).counts.visits


def test_a_service_spends_its_budget_as_it_flows_and_ends_when_told(sanderling: Run, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    with SyntheticWeb(pages=80, seed=2).serve() as site:
        sanderling("crawl", site.url, "-d", folder, *FAST, "--no-sitemaps")
        for _ in range(2):  # and no burst after a restart
            site.requests.clear()
            started, before = time.monotonic(), sanderling("status", folder, "--json").json["visits"]
            with service(folder, "--budget", "5/s", "--policy", "uniform", *FAST) as run:
                until(lambda: sum(site.requests.values()) >= 12)
                requests = sum(site.requests.values())
                assert requests <= 5 * (time.monotonic() - started) + 2
                until(lambda before=before, requests=requests: visits(folder) - before >= requests)
                run.terminate()
                out, err = run.communicate(timeout=PATIENCE)
                assert run.returncode == 0 and "Traceback" not in err
                assert json.loads(out)["visits"] >= requests


def test_a_network_that_is_away_is_nobodys_fault(sanderling: Run, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    with SyntheticWeb(pages=40, seed=2).serve(address="127.0.0.61") as site:  # no other process takes this port
        sanderling("crawl", site.url, "-d", folder, *FAST)
    before = sanderling("status", folder, "--json").json
    with service(folder, "--budget", "100/s", *FAST) as run:
        assert run.stderr is not None
        for line in run.stderr:
            if "the network seems to be away" in line:
                break
        run.terminate()
        out, _ = run.communicate(timeout=PATIENCE)
    assert (json.loads(out)["visits"], json.loads(out)["spent"]) == (0, 0)
    after = sanderling("status", folder, "--json").json
    assert {key: after[key] for key in ("fetched", "failed", "gone", "queued")} == {
        key: before[key] for key in ("fetched", "failed", "gone", "queued")
    }


def a_web_of_liars(day: Callable[[], int]) -> dict[str, Entry]:
    """Fifteen pages of each kind: those that count their visitors, those whose validators and dates
    lie, and honest ones of which every third changes each day."""

    def counter(asked: int) -> bytes:
        return page(f"<p>You are visitor number {asked}.</p><input type=hidden name=csrf value={asked * 7919:x}>")

    def restless(asked: int) -> Answer:
        return Answer(page("<p>Nothing ever happens here.</p>"), headers=(("ETag", f'"server-{asked}"'),))

    def dated(asked: int) -> Answer:
        ahead = day() * DAY + (400 * DAY if asked % 2 else 0)
        now = formatdate(time.time() + ahead, usegmt=True)
        return Answer(page("<p>Nor here, but always just now.</p>"), headers=(("Last-Modified", now),))

    def honest(n: int) -> Callable[[int], Answer]:
        def answer(_: int) -> Answer:
            words = random.Random(n * 1000 + (day() if n % 3 == 0 else 0))
            paragraphs = (" ".join(words.choices(WORDS, k=12)) for _ in range(words.randint(2, 5)))
            return Answer(page("".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)))

        return answer

    table: dict[str, Entry] = {}
    for n in range(15):
        table |= {f"/count/{n}": counter, f"/tag/{n}": restless, f"/date/{n}": dated, f"/honest/{n}": honest(n)}
    links = "".join(f'<a href="{path}">{path}</a> ' for path in table)
    return table | {"/": page(links)}


def page(body: str) -> bytes:
    return f"<!doctype html><title>A page</title><h1>A page</h1><p>It begins the same every day.</p>{body}".encode()


def test_nobody_eats_the_budget_with_lies(sanderling: Run, tmp_path: Path) -> None:
    folder, today = tmp_path / "crawl", [0]
    with PageServer(a_web_of_liars(lambda: today[0])) as server:
        sanderling("crawl", server.origin + "/", "-d", folder, *FAST)
        visited: Counter[str] = Counter()
        for day in range(1, 9):
            today[0] = day
            before = len(server.asked)
            if day <= 3:  # after some visits, it is known that these change at every visit
                sanderling("crawl", "-d", folder, "--again", env=later(day))
                continue
            ran = sanderling("refresh", folder, "--budget", 16, "--json", env=later(day))
            assert ran.code == 0 and ran.json["visits"] <= 16, ran.err
            visited.update(asked.url for asked in server.asked[before:])
        # In five days, with room for a quarter of the pages, none that changes had to wait three
        # times for those that pretend to, and most never had to: what a report of several pages
        # teaches depends on which they are.
        honest = [visited[f"/honest/{n}"] for n in range(0, 15, 3)]
        assert min(honest) >= 3 and sum(honest) >= 20, visited
    told = sanderling("freshness", folder, "--json", env=later(11)).json
    assert {doubt["about"] for doubt in told["doubts"]} >= {"ETag", "Last-Modified"}
    assert "not believed:" in sanderling("freshness", folder, env=later(11)).out


def test_a_clock_that_jumps_back_and_forth(sanderling: Run, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    with SyntheticWeb(pages=30, seed=2).serve() as site:
        sanderling("crawl", site.url, "-d", folder, *FAST, env=later(100))
        for day in (0, 4000, 1, 2):
            ran = sanderling("refresh", folder, "--budget", 10, "--json", env=later(day))
            assert ran.code == 0 and ran.json["visits"] >= 8, ran.err
            assert 0 <= ran.json["freshness_before"] <= 1
        told = sanderling("freshness", folder, "--json", env=later(3)).json
        assert 0 < told["freshness"] <= 1 and told["age_days"] >= 0


def test_a_budget_of_bytes(sanderling: Run, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    with SyntheticWeb(pages=60, seed=2, size=20_000, change_rate=3.0).serve(validators=False) as site:
        sanderling("crawl", site.url, "-d", folder, *FAST)
        mean = sanderling("status", folder, "--json").json["bytes"] / 60
        ran = sanderling("refresh", folder, "--budget", f"{round(20 * mean)}B", "--json", *FAST, env=later(3))
        assert 5 <= ran.json["visits"] <= 40 and ran.json["bytes"] < 30 * mean


def test_new_pages_are_found_on_the_way(sanderling: Run, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    table: dict[str, Entry] = {"/": page('<a href="/old">old</a>'), "/old": page("old")}
    with PageServer(table) as server:
        sanderling("crawl", server.origin + "/", "-d", folder, *FAST)
        server.table |= {"/": page('<a href="/old">old</a> <a href="/new">new</a>'), "/new": page("new")}
        ran = sanderling("refresh", folder, "--budget", 10, "--json", env=later(3))
        assert (ran.json["new"], ran.json["changed"]) == (1, 1)
        told = sanderling("refresh", folder, "--budget", 10, env=later(6)).out
        assert "estimated freshness of 3 pages" in told and "next: `sanderling changes" in told


def test_the_same_with_the_state_in_postgresql(sanderling: Run, tmp_path: Path, postgres: PostgresServer) -> None:
    folder = tmp_path / "crawl"
    with SyntheticWeb(pages=40, seed=2, change_rate=0.5).serve() as site:
        sanderling("crawl", site.url, "-d", folder, "--store", postgres.dsn, *FAST)
        for day in (2, 4):
            site.clock.now = day * DAY
            ran = sanderling("refresh", folder, "--budget", 15, "--json", env=later(day))
            assert ran.code == 0 and 12 <= ran.json["visits"] <= 15 and ran.json["changed"] > 0, ran.err
        told = sanderling("freshness", folder, "--json", env=later(4)).json
        assert told["visited_again"] > 10 and told["rates"]["any"] > 0
        assert told["watched_days"] > 1
        assert 0 < told["changes_low"] < told["changes_a_day"] < told["changes_high"]
        said = sanderling("freshness", folder, env=later(4)).out
        assert f"probably {told['changes_low']:,.1f} to" in said


def test_minutes_say_nothing_about_a_day(sanderling: Run, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    with PageServer({"/": lambda n: page(f"visit {n}")}) as server:
        sanderling("crawl", server.origin + "/", "-d", folder, *FAST)
        for minutes in (5, 10, 15):
            sanderling("crawl", "-d", folder, "--again", env=later(minutes / 1440))
        told = sanderling("freshness", folder, env=later(16 / 1440))
    assert "too early to tell how often they change: those visited again were watched for 15 min" in told.out
    assert "changes a day are expected" not in told.out


def test_freshness_of_nothing_and_of_a_first_crawl(sanderling: Run, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    with PageServer({"/": page("alone")}) as server:
        sanderling("crawl", server.origin + "/", "-d", folder, *FAST)
    told = sanderling("freshness", folder)
    assert told.code == 0 and "1 page, 0 of them visited again" in told.out and "visits a day" in told.out
    assert "too early to tell how often they change: no page was visited again" in told.out
    drawn = tmp_path / "curve.svg"
    assert sanderling("freshness", folder, "--plot", drawn).code == 0
    assert fromstring(drawn.read_text()).tag.endswith("svg")
    failed = sanderling("freshness", folder, "--plot", tmp_path / "none" / "curve.svg")
    assert failed.code == 1 and "No such file or directory" in failed.err


def test_a_page_that_a_person_asks_for_waits_for_no_budget(sanderling: Run, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    with SyntheticWeb(pages=40, seed=2).serve() as site:
        sanderling("crawl", site.url, "-d", folder, *FAST, "--no-sitemaps")
        known = sanderling("pages", folder, "--json").lines[7]["url"]
        site.requests.clear()
        with service(folder, "--budget", "1/d", "--no-sitemaps", *FAST) as run:
            until(lambda: (folder / "sanderling.socket").exists())
            ran = until(lambda: found if (found := sanderling("control", folder, "visit", known)).code == 0 else None)
            assert ran.out == f"{known}: visited again next\n"
            until(lambda: site.requests[known])
            run.kill()
            run.wait(PATIENCE)
        rows = {row["url"]: row for row in sanderling("pages", folder, "--json").lines}
        assert sum(site.requests.values()) <= 3 and rows[known]["visits"] <= 2


def test_a_killed_refresh_keeps_what_a_person_asked_for(sanderling: Run, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    with SyntheticWeb(pages=40, seed=2).serve() as site:
        sanderling("crawl", site.url, "-d", folder, *FAST, "--no-sitemaps")
        known = sanderling("pages", folder, "--json").lines[7]["url"]
        site.requests.clear()
        site.hold()
        with service(folder, "--budget", "1/d", "--no-sitemaps", *FAST) as run:
            until(lambda: sanderling("control", folder, "visit", known).code == 0)
            run.kill()
            run.wait(PATIENCE)
        site.release()
        site.requests.clear()
        with service(folder, "--budget", "1/d", "--no-sitemaps", *FAST):
            until(lambda: site.requests[known])
