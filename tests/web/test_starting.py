"""From the form to a finished crawl, and controls on the way, as in a browser without scripts."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import turbohtml

from sanderling.settings import DECLARED
from sanderling.testing import ServedWeb, SyntheticWeb
from sanderling.web.pages import settings_form
from sanderling.web.pages.starting import GROUPS
from tests.servers import Answer, PageServer
from tests.waiting import until
from tests.web.served import Served, running
from tests.web.test_pages import attribute, check, one, tree


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("made-here")


@pytest.fixture(scope="module")
def server(home: Path) -> Iterator[Served]:
    with running(home, "--allow-private") as served:
        yield served


@pytest.fixture(scope="module")
def site() -> Iterator[ServedWeb]:
    with SyntheticWeb(pages=40, seed=3).serve() as served:
        yield served


def filled(document: turbohtml.Document, action: str) -> dict[str, str]:
    """The form with this action, as a browser sends it without changes."""
    (form,) = [each for each in document.find_all("form") if attribute(each, "action") == action]
    found = {}
    for field in form.find_all("input"):
        if attribute(field, "type") != "checkbox" or field.attr("checked") is not None:
            found[attribute(field, "name")] = attribute(field, "value")
    for field in form.find_all("textarea"):
        found[attribute(field, "name")] = field.text
    for field in form.find_all("select"):
        options = list(field.find_all("option"))
        chosen = next((each for each in options if each.attr("selected") is not None), options[0])
        found[attribute(field, "name")] = attribute(chosen, "value") or chosen.text
    return found


def send(server: Served, page: str, target: str, **typed: str) -> httpx.Response:
    return server.http.post(target, data={**filled(tree(server, page), target), **typed})


def wait_for(server: Served, crawl: str, state: str) -> str:
    def shown() -> str:
        text = server.http.get(f"/crawls/{crawl}/live?was=").text
        return text if state in text else ""

    return until(shown)


def test_an_empty_shelf_teaches(server: Served) -> None:
    document = tree(server, "/")
    check(document, "/")
    assert "No crawl yet" in document.text and "sanderling crawl" in document.text
    assert any(attribute(each, "href") == "/new" for each in document.find_all("a"))


def test_a_crawl_is_made_watched_changed_and_visited_again(server: Served, site: ServedWeb, home: Path) -> None:
    check(tree(server, "/new"), "/new")
    made = send(server, "/new", "/new", seeds=site.url, name="tide", max_pages="10", per_host="8", delay="0")
    assert made.status_code == 303 and made.headers["location"] == "/crawls/tide", made.text
    wait_for(server, "tide", "The limit of 10 pages is reached")
    overview = tree(server, "/crawls/tide")
    check(overview, "/crawls/tide")
    assert "--max-pages 10 --per-host 8 --delay 0s" in overview.text

    check(tree(server, "/crawls/tide/limits"), "limits")
    wrong = send(server, "/crawls/tide/limits", "/crawls/tide/limits", max_pages="many", include="(")
    assert wrong.status_code == 422
    document = turbohtml.parse(wrong.text)
    check(document, "limits")
    invalid = {attribute(each, "id") for each in document.find_all() if attribute(each, "aria-invalid") == "true"}
    assert invalid == {"max_pages", "include"}
    assert send(server, "/crawls/tide/limits", "/crawls/tide/limits", max_pages="").status_code == 303
    assert "max_pages" not in (home / "tide" / "sanderling.toml").read_text()
    assert send(server, "/crawls/tide", "/crawls/tide/control", action="crawl").status_code == 303
    shown = wait_for(server, "tide", "The crawl is finished")
    assert "announced" in shown
    wrong = send(server, "/crawls/tide", "/crawls/tide/control", action="refresh", budget="soon")
    assert wrong.status_code == 303 and wrong.headers["location"] == "/crawls/tide/freshness?budget=soon"
    until(lambda: "'soon' is not a number of visits" in tree(server, wrong.headers["location"]).text)
    assert attribute(one(tree(server, wrong.headers["location"]), "budget"), "value") == "soon"
    assert send(server, "/crawls/tide", "/crawls/tide/control", action="again").status_code == 303
    wait_for(server, "tide", "The crawl is finished")


def test_pause_resume_and_stop(server: Served, site: ServedWeb) -> None:
    send(server, "/new", "/new", seeds=site.url, name="slow", delay="10m")
    for action, state in (("pause", "paused"), ("resume", "running"), ("stop", "unfinished")):
        assert send(server, "/crawls/slow", "/crawls/slow/control", action=action).status_code == 303
        wait_for(server, "slow", f"The crawl is {state}")
        check(tree(server, "/crawls/slow"), state)
        until(lambda wanted=state: wanted in one(tree(server, "/"), "crawls").text)
    refused = server.http.post(
        "/crawls/slow/control", headers={"accept": "text/html"},
        data={**filled(tree(server, "/crawls/slow"), "/crawls/slow/control"), "action": "pause"},
    )  # fmt: skip
    assert refused.status_code == 409 and "no crawl is running" in refused.text


def test_what_was_made_is_started_later(server: Served, site: ServedWeb, home: Path) -> None:
    asked = {"seeds": [site.url], "name": "later", "settings": {"max_pages": 1}, "start": False}
    assert server.http.post("/api/v1/crawls", json=asked, headers={"x-sanderling": "1"}).status_code == 201
    made = tree(server, "/crawls/later")
    check(made, "made")
    assert "This crawl was not started yet" in made.text and site.url in made.text
    assert "not started" in one(tree(server, "/"), "crawls").text
    assert send(server, "/crawls/later", "/crawls/later/control", action="crawl").status_code == 303
    wait_for(server, "later", "The limit of 1 page is reached")


def test_a_folder_that_cannot_be_read_hides_no_other(server: Served, home: Path) -> None:
    (home / "spoilt").mkdir()
    (home / "spoilt" / "sanderling.db").write_bytes(b"nothing that we wrote" * 400)
    listed = one(tree(server, "/"), "crawls").text
    assert "unreadable" in listed and "tide" in listed
    targets = {attribute(each, "href") for each in one(tree(server, "/crawls/spoilt", 409), "main").find_all("a")}
    assert targets == {"/"}  # and not to itself
    shutil.rmtree(home / "spoilt")


def test_a_seed_that_cannot_be_reached_is_tried_again(server: Served) -> None:
    table: dict[str, Any] = {"/": lambda n: Answer(b"", status=500) if n == 1 else b"<title>Here</title> at last"}
    with PageServer(table) as site:
        send(server, "/new", "/new", seeds=site.origin, name="away", retries="0", delay="0")
        assert "Retry" in wait_for(server, "away", "No page could be fetched")
        check(tree(server, "/crawls/away"), "nothing fetched")
        assert "nothing fetched" in one(tree(server, "/"), "crawls").text
        assert send(server, "/crawls/away", "/crawls/away/control", action="retry").status_code == 303
        wait_for(server, "away", "Nothing is left to visit")


def test_mistakes_stand_beside_their_fields(server: Served, home: Path) -> None:
    wrong = send(
        server, "/new", "/new", seeds="https://example.org/\njavascript:alert(1)", name="../up", max_time="soon",
        exclude="(", per_host="0",
    )  # fmt: skip
    assert wrong.status_code == 422
    document = turbohtml.parse(wrong.text)
    check(document, "/new")
    invalid = {attribute(each, "id") for each in document.find_all() if attribute(each, "aria-invalid") == "true"}
    assert invalid == {"seeds", "name", "max_time", "exclude", "per_host"}
    assert "javascript:alert(1)" in next(iter(document.find_all("textarea"))).text
    assert send(server, "/new", "/new", seeds="").status_code == 422
    taken = turbohtml.parse(send(server, "/new", "/new", seeds="https://example.org/", name="tide").text)
    assert "/crawls/tide" in {attribute(each, "href") for each in taken.find_all("a")}  # also after two clicks
    assert not (home.parent / "up").exists()


def test_the_command_follows_what_is_typed(server: Served) -> None:
    typed = {**filled(tree(server, "/new"), "/new"), "seeds": "example.org", "exclude": "/a'b/\n/c/"}
    shown = server.http.post("/new/command", data=typed)
    assert shown.status_code == 200
    text = turbohtml.parse(shown.text).text
    assert text.strip() == """sanderling crawl example.org -d example.org --exclude '/a'"'"'b/' --exclude /c/"""


def test_a_form_without_its_token_is_refused(server: Served) -> None:
    for action in ("/new", "/new/command", "/crawls/tide/control", "/crawls/tide/limits", "/logout"):
        refused = server.http.post(
            action, data={"seeds": "https://example.org/", "action": "stop"}, headers={"accept": "text/html"}
        )
        assert refused.status_code == 403, action
        check(turbohtml.parse(refused.text), action)


def test_a_server_of_one_folder_makes_no_others(crawled: Path) -> None:
    with running(crawled / "small") as server:
        assert not any(attribute(each, "href") == "/new" for each in tree(server, "/").find_all("a"))
        check(tree(server, "/new", 400), "/new")


def test_a_new_crawl_may_have_a_schedule_and_forget() -> None:
    names = [name for title, _, some in GROUPS if title == "Later" for name in some]
    assert set(names) <= {each.name for each in DECLARED if each.offered}
    typed = {"seeds": "https://e.org/", "keep_fresh": "20/h", "quiet": "22:00-06:30", "keep": "thin"}
    asked = settings_form.read(typed, names)
    assert asked.wrong == {}
    assert asked.command == "sanderling crawl https://e.org/ -d e.org --keep-fresh 20/h --quiet 22:00-06:30 --keep thin"
    assert settings_form.read({**typed, "keep": "5"}, names).wrong["keep"].startswith("Keep: '5' is not all, thin")
    assert settings_form.read({"seeds": "https://e.org/"}, names).chosen == {}
