"""A running crawl can be watched, paused, stopped and changed from outside."""

import contextlib
import json
import random
import subprocess
import time
import tomllib
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Literal

import pytest

from sanderling.errors import UsageError
from sanderling.model import Command, Live
from sanderling.server.requests import remote
from sanderling.settings import Settings, amend, load, with_changes
from sanderling.testing import ServedWeb
from sanderling.testing.postgres import PostgresServer
from tests.conftest import FAST, PATIENT, Run, started, stored_urls
from tests.servers import WORDS, PageServer, links
from tests.waiting import PATIENCE, until
from tests.web.served import running


def crawling(*arguments: object) -> AbstractContextManager["subprocess.Popen[str]"]:
    """A crawl with one client that waits for a web that holds its answers back."""
    return started("crawl", *arguments, *PATIENT, "--clients", 1, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def wait_for(folder: Path, wanted: Callable[[Live], bool]) -> Live:
    def looked() -> Live | None:
        with contextlib.suppress(remote.NotRunning):
            live = remote.look(folder, PATIENCE)
            return live if wanted(live) else None
        return None

    found = until(looked)
    assert found is not None
    return found


def tell(
    folder: Path, action: Literal["pause", "resume", "stop", "change"], changes: dict[str, Any] | None = None
) -> Live:
    return remote.command(folder, Command(action, changes or {}), PATIENCE)


def test_pause_resume_stop(web: ServedWeb, tmp_path: Path) -> None:
    folder = tmp_path / "c"
    web.hold(after=10)
    with crawling(web.url, "-d", folder, "--delay", "10ms") as process:
        live = wait_for(folder, lambda live: live.counts.pages == 10)
        assert live.clients[0].pid and live.active[0].origin == web.url.rstrip("/") and not live.paused
        assert live.lists is not None and len(live.lists) == 3
        assert tell(folder, "pause").paused
        web.hold(after=20)  # requests in flight, and those that start before the client receives the message
        paused = wait_for(folder, lambda live: live.leased == 0)
        time.sleep(0.5)
        still = remote.look(folder, PATIENCE)
        assert still.counts.pages == paused.counts.pages <= 30 and still.counts.queued > 0 and still.paused
        assert not tell(folder, "resume").paused
        web.release()
        wait_for(folder, lambda live: live.counts.pages > paused.counts.pages)
        assert tell(folder, "stop").stopping
        process.communicate(timeout=PATIENCE)
        assert process.returncode == 0


def test_what_is_visited_again_is_counted(web: ServedWeb, tmp_path: Path, sanderling: Run) -> None:
    folder = tmp_path / "c"
    assert sanderling("crawl", web.url, "-d", folder, *FAST).code == 0
    web.hold(after=5)
    with crawling("-d", folder, "--again", "--delay", "10ms"):
        counts = until(lambda: found if (found := sanderling("status", folder, "--json").json)["leased"] else None)
        assert counts["queued"] == 0  # no first visit is left
        assert counts["leased"] + counts["fetched"] + counts["gone"] == counts["known"] == 120
        tell(folder, "pause")
        recalled = wait_for(folder, lambda live: live.waiting > 0)
        assert recalled.waiting + recalled.leased <= 120 and recalled.counts.queued == 0
        web.release()


def test_a_limit_that_is_changed_counts_and_is_kept(web: ServedWeb, tmp_path: Path) -> None:
    folder = tmp_path / "c"
    web.hold(after=10)
    with crawling(web.url, "-d", folder, "--delay", "10ms", "--json") as process:
        wait_for(folder, lambda live: live.counts.pages == 10)
        tell(folder, "pause")
        web.hold(after=20)
        pages = wait_for(folder, lambda live: live.leased == 0).counts.pages
        limit = pages + 20
        assert tell(folder, "change", {"max_pages": limit, "max_time": "1h"}).pages_left == 20
        web.release()
        tell(folder, "resume")
        out, _ = process.communicate(timeout=PATIENCE)
    assert json.loads(out)["pages"] == limit <= 50
    settings, _ = load(folder / "sanderling.toml")
    assert settings.max_pages == limit and settings.max_time == 3600.0


def test_leases_beyond_a_lowered_limit_are_recalled(web: ServedWeb, tmp_path: Path) -> None:
    folder = tmp_path / "c"
    web.hold(after=10)
    with crawling(web.url, "-d", folder, "--delay", "10ms") as process:
        wait_for(folder, lambda live: live.counts.pages == 10 and live.leased >= 4)
        tell(folder, "change", {"max_pages": 12})
        wait_for(folder, lambda live: live.leased <= 2)  # all tasks that it has not started are recalled
        web.release()
        out, _ = process.communicate(timeout=PATIENCE)
    assert out.startswith("12 pages ") and "still queued (a limit was reached)" in out


def test_what_does_not_fit_changes_nothing(web: ServedWeb, tmp_path: Path, sanderling: Run) -> None:
    folder = tmp_path / "c"
    web.hold(after=5)
    with crawling(web.url, "-d", folder):
        wait_for(folder, lambda live: live.counts.pages >= 1)
        before = (folder / "sanderling.toml").read_text()
        for changes in ({"include": ["("]}, {"max_pages": -1}, {"user_agent": "x"}, {"scope": "all"}, {"nonsense": 1}):
            with pytest.raises(UsageError):
                tell(folder, "change", changes)
        ran = sanderling("control", folder, "change", "--exclude", "(")
        assert ran.code == 2 and "not a valid pattern" in ran.err
        ran = sanderling("control", folder, "change")
        assert ran.code == 2 and "change takes settings, such as --max-pages 5000" in ran.err
        ran = sanderling("control", folder, "pause", "--max-pages", 5)
        assert ran.code == 2 and "pause takes no settings" in ran.err
        assert (folder / "sanderling.toml").read_text() == before
        assert sanderling("control", folder, "--json").json["paused"] is False
        assert sanderling("control", folder, "stop").code == 0


def test_nobody_there(tmp_path: Path, sanderling: Run) -> None:
    folder = tmp_path / "c"
    folder.mkdir()
    (folder / "sanderling.toml").write_text("seeds = []\n")
    ran = sanderling("control", folder, "pause")
    assert ran.code == 2 and "no crawl is running" in ran.err


def states(sanderling: Run, folder: Path) -> dict[str, int]:
    return {
        name: sanderling("status", folder, "--json").json[name] for name in ("queued", "fetched", "excluded", "held")
    }


def test_a_changed_scope_moves_what_was_queued_and_what_was_excluded(
    web: ServedWeb, tmp_path: Path, sanderling: Run
) -> None:
    folder = tmp_path / "c"
    assert sanderling("crawl", web.url, "-d", folder, *FAST, "--max-pages", 5).code == 0
    first = states(sanderling, folder)
    assert first["queued"] > 10
    # Everything in the queue is excluded, so that the next run has nothing to do.
    place = folder / "sanderling.toml"
    place.write_text(amend(place.read_text(), {"max_pages": None, "exclude": ["/"]}))
    assert sanderling("crawl", "-d", folder, *FAST).code == 0
    without = states(sanderling, folder)
    assert without["fetched"] == first["fetched"] and without["queued"] == 0
    assert without["excluded"] == first["excluded"] + first["queued"]
    # In again.
    place.write_text(amend(place.read_text(), {"exclude": None}))
    assert sanderling("crawl", "-d", folder, *FAST).code == 0
    assert states(sanderling, folder)["excluded"] == first["excluded"]
    assert sanderling("status", folder, "--json").json["pages"] == 120


def test_a_changed_scope_in_postgresql(
    web: ServedWeb, tmp_path: Path, postgres: PostgresServer, sanderling: Run
) -> None:
    folder, place = tmp_path / "c", tmp_path / "c" / "sanderling.toml"
    assert sanderling("crawl", web.url, "-d", folder, *FAST, "--store", postgres.dsn, "--max-pages", 5).code == 0
    first = states(sanderling, folder)
    for changes, excluded in (({"max_pages": None, "exclude": ["/"]}, first["queued"]), ({"exclude": None}, 0)):
        place.write_text(amend(place.read_text(), changes))
        assert sanderling("crawl", "-d", folder, *FAST).code == 0
        assert states(sanderling, folder)["excluded"] == first["excluded"] + excluded
    with running(folder) as server:
        assert server.http.get("/api/v1/crawls/c").json()["counts"]["pages"] == 120
        for path in ("pages?state=fetched", "changes", "hosts", "pages?prefix=" + web.url, "versions/1", "feed.atom"):
            answer = server.http.get(f"/api/v1/crawls/c/{path}")
            assert answer.status_code == 200 and answer.content, answer.text
        page = server.http.get("/api/v1/crawls/c/pages?limit=1").json()["items"][0]["id"]
        for path in ("", "/versions", "/links/out", "/links/in", "/blame", "/diff?a=1&b=1"):
            assert server.http.get(f"/api/v1/crawls/c/pages/{page}{path}").status_code == 200
        assert "postgresql" in server.http.get("/api/v1/crawls/c/settings").text


@pytest.mark.parametrize(("first", "then"), [(0, 2), (9, 1)], ids=["deeper", "less deep"])
def test_a_depth_that_is_changed_while_it_runs(
    web: ServedWeb, tmp_path: Path, sanderling: Run, first: int, then: int
) -> None:
    folder = tmp_path / "c"
    web.hold(after=first and 1)
    with crawling(web.url, "-d", folder, "--max-depth", first) as process:
        wait_for(folder, lambda live: live.leased > 0 and live.counts.pages == (first and 1))
        tell(folder, "change", {"max_depth": then})
        web.release()
        process.communicate(timeout=PATIENCE)
    level, near = {web.url}, {web.url}
    for _ in range(then):
        level = {link for url in level for link in web.direct.links_at(url, 0)}
        near |= level
    assert set(stored_urls(folder)) == near & web.direct.reachable(0)
    assert load(folder / "sanderling.toml")[0].max_depth == then
    assert sanderling("check", folder).code == 0


def test_a_pattern_given_while_it_runs_counts_at_once(web: ServedWeb, tmp_path: Path) -> None:
    folder = tmp_path / "c"
    web.hold(after=5)
    with crawling(web.url, "-d", folder) as process:
        wait_for(folder, lambda live: live.counts.pages >= 1)
        assert tell(folder, "change", {"exclude": ["."], "order": "breadth-first"}).lists is None
        web.hold(after=50)  # far from all
        process.communicate(timeout=PATIENCE)
        assert process.returncode == 0
    assert load(folder / "sanderling.toml")[0].exclude == (".",)


def test_amending_keeps_what_the_user_wrote() -> None:
    text = '# mine\nseeds = ["https://a.example/"]\nmax_pages = 5 # few\nexclude = [\n  "/a",\n  "/b",\n]\n\n[[rules]]\nurls = "x"\n'
    amended = amend(text, {"exclude": ("/c",), "max_time": "2h", "max_pages": None})
    assert amended.startswith("# mine\nseeds") and "[[rules]]" in amended
    assert tomllib.loads(amended) == {
        "seeds": ["https://a.example/"], "exclude": ["/c"], "max_time": "2h", "rules": [{"urls": "x"}],
    }  # fmt: skip
    odd = 'seeds = [\n"https://a.example/",\n]\n"max_pages" = 5\n'
    assert tomllib.loads(amend(odd, {"max_pages": 6}))["max_pages"] == 6
    assert with_changes(Settings(max_pages=5), {"max_pages": None, "scope": "any"}) == Settings(scope="any")


@pytest.mark.parametrize("depth", [[], ["--max-depth", 1]])
def test_a_seed_that_is_added_brings_what_was_known_of_its_host(
    tmp_path: Path, sanderling: Run, depth: list[object]
) -> None:
    with PageServer({}) as other, PageServer({}) as first:
        other.table |= {"/": links("/known"), "/known": links("/new"), "/new": b"new"}
        first.table |= {"/": links(other.origin + "/known", other.origin + "/")}
        assert sanderling("crawl", first.origin, "-d", tmp_path / "c", *FAST, *depth).code == 0
        assert states(sanderling, tmp_path / "c")["excluded"] == 2
        assert sanderling("crawl", other.origin, "-d", tmp_path / "c", *FAST).code == 0
        fetched = {page["url"] for page in sanderling("pages", tmp_path / "c", "--json").lines if page["status"] == 200}
    expected = {f"{first.origin}/", f"{other.origin}/", f"{other.origin}/known"} | (
        {f"{other.origin}/new"} if not depth else set()
    )
    assert fetched == expected


def test_visit_puts_known_and_new_pages_in_front_of_a_running_crawl(tmp_path: Path, sanderling: Run) -> None:
    folder = tmp_path / "c"
    dice = random.Random(1)
    words = [f"{first}-{second}" for first in WORDS[:8] for second in WORDS[:10]]
    pages = {f"/{word}": " ".join([word, *dice.choices(WORDS, k=40)]).encode() for word in words}
    with PageServer({"/": links(*pages), **pages, "/hidden": b"<p>nobody links here</p>"}) as site:
        here = site.origin
        with started("crawl", here, "-d", folder, "--delay", "100ms", "--clients", 1, "--no-sitemaps", "--json") as run:
            until(lambda: len(site.asked) > 5)
            ran = sanderling("control", folder, "visit", here + "/", here + "/hidden", "http://other.org/", "nonsense")
            assert ran.code == 1
            assert ran.out.splitlines() == [
                f"{here}/: visited again next",
                f"{here}/hidden: new, visited next",
                "http://other.org/: scope: another host",
                "nonsense: not a URL that begins with http:// or https:// and a host",
            ]
            answered = len(site.asked)
            until(lambda: site.requests["/hidden"] and site.requests["/"] > 1)
            asked = [each.url for each in site.asked]
            # What was on its way comes first, and nothing else of what was queued before.
            assert max(asked.index("/", asked.index("/") + 1), asked.index("/hidden")) <= answered + 10
            run.wait(PATIENCE)
        found = {row["url"]: row["visits"] for row in sanderling("pages", folder, "--json").lines}
        assert len(found) == 82 and found[here + "/"] == 2 and found[here + "/hidden"] == 1


def test_visit_says_what_it_lacks(tmp_path: Path, sanderling: Run) -> None:
    folder = tmp_path / "c"
    folder.mkdir()
    (folder / "sanderling.toml").write_text("seeds = []\n")
    ran = sanderling("control", folder, "visit", "http://e.org/")
    assert ran.code == 2 and "no crawl is running" in ran.err and f"sanderling refresh {folder}" in ran.err
    ran = sanderling("control", folder, "visit")
    assert ran.code == 2 and "visit takes URLs, such as https://example.org/news" in ran.err
    ran = sanderling("control", folder, "pause", "http://e.org/")
    assert ran.code == 2 and "pause takes no URLs" in ran.err


def test_a_visit_asked_for_while_paused_is_made_by_the_next_run(
    tmp_path: Path, sanderling: Run, kept_in: list[object]
) -> None:
    folder = tmp_path / "c"
    pages = {f"/{n}": b"<p>page %d</p>" % n for n in range(9)}
    with PageServer({"/": links(*pages), **pages}) as site:
        with started("crawl", site.origin, "-d", folder, "--delay", "300ms", "--clients", 1, *kept_in) as run:
            until(lambda: len(site.asked) > 3)
            sanderling("control", folder, "pause")
            wait_for(folder, lambda live: live.leased == 0)
            ran = sanderling("control", folder, "visit", site.origin + "/", site.origin + "/new")
            assert ran.code == 0 and "The crawl is paused" in ran.out
            run.kill()
            run.wait(PATIENCE)
        assert site.requests["/"] == 1
        assert sanderling("crawl", "-d", folder, *FAST).code == 0
        assert (site.requests["/"], site.requests["/new"]) == (2, 1)
