"""Watches, settings, export and deletion: by the API, and by the forms of the dashboard."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import turbohtml

from sanderling.settings import load
from tests.servers import PageServer
from tests.waiting import until
from tests.web.served import Served, running

SENT = {"X-Sanderling": "1"}
PAGE = b"<title>Kettle</title><b class=price>79.00</b><i>3 left</i><a href=/gone>Old</a>"


@pytest.fixture(scope="module")
def site() -> Iterator[PageServer]:
    with PageServer({"/": PAGE}) as served:
        yield served


@pytest.fixture(scope="module")
def home(crawled: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("watching")
    shutil.copytree(crawled / "small", folder / "small")
    return folder


@pytest.fixture(scope="module")
def server(home: Path) -> Iterator[Served]:
    with running(home, "--allow-private") as served:
        yield served


def send(server: Served, path: str, **typed: str) -> int:
    page = turbohtml.parse(server.http.get("/watches/new?url=" + server.url).text)
    token = next(each.attr("value") for each in page.find_all("input") if each.attr("name") == "form_token")
    return server.http.post(path, data={"form_token": str(token), **typed}).status_code


def test_how_long_versions_are_kept(server: Served, home: Path) -> None:
    where, settings = "/api/v1/crawls/small/retention", home / "small" / "sanderling.toml"
    assert server.http.get(where).json() == {"keep": "all", "versions": 0, "pages": 0, "waiting": []}
    assert server.http.get(f"{where}?keep=1+version").json()["keep"] == "1 version"
    assert server.http.patch(where, json={"keep": "thin"}, headers=SENT).json()["keep"] == "thin"
    assert load(settings)[0].keep == "thin"
    for refused in (server.http.patch(where, json={"keep": "5"}, headers=SENT), server.http.get(f"{where}?keep=5")):
        assert refused.status_code == 400 and "is not all, thin, an age" in refused.json()["detail"]
    assert send(server, "/crawls/small/settings", action="keep", keep="30d") == 303
    assert load(settings)[0].keep == "30d"
    assert send(server, "/crawls/small/settings", action="keep", keep="thick") == 422
    assert send(server, "/crawls/small/settings", action="keep", keep="all") == 303
    assert "keep" not in settings.read_text()


def test_who_is_told_by_the_api(server: Served, home: Path) -> None:
    where = "/api/v1/crawls/small/notifications"
    with PageServer({}) as receiver:
        address = f"json://user:secret@127.0.0.1:{receiver.port}/hook"
        made = server.http.post(where, json={"to": address, "kinds": ["text"], "when": "daily"}, headers=SENT)
        assert made.status_code == 201, made.text
        (told,) = made.json()["items"]
        assert (told["when"], told["kinds"]) == ("daily", ["text"]) and "secret" not in made.text
        tested = server.http.post(f"{where}/0/test", headers=SENT).json()
        assert not tested["taken"] and tested["complaint"]  # it answers 404 to all
        assert server.http.post(f"{where}/1/test", headers=SENT).status_code == 400
    refused = server.http.post(where, json={"to": "env:MAIL"}, headers=SENT)
    assert refused.status_code == 400 and "has to be given as it is here" in refused.json()["detail"]
    assert server.http.post(where, json={"to": address, "when": "never"}, headers=SENT).status_code == 400
    assert server.http.delete(f"{where}/0", headers=SENT).status_code == 204
    assert server.http.get(where).json() == {"items": []}
    assert server.http.delete(f"{where}/0", headers=SENT).status_code == 400


def test_a_watch_is_made_edited_and_removed(server: Served, site: PageServer, home: Path) -> None:
    address = "json://user:secret@127.0.0.1:9/hook"
    asked = {
        "url": site.origin + "/",
        "select": [".price"],
        "every": "10m",
        "notify": [address],
        "start": False,
        "keep": "thin",
    }
    made = server.http.post("/api/v1/watches", json=asked, headers=SENT)
    assert made.status_code == 201, made.text
    assert (made.json()["crawl"], made.json()["every"], made.json()["notify"]) == ("watches", 600.0, 1)
    assert made.json()["keep"] == "thin"
    where = made.headers["location"]
    assert server.http.get(where).json()["select"] == [".price"]
    again = server.http.post("/api/v1/watches", json=asked, headers=SENT)
    assert again.status_code == 400 and "is watched already" in again.json()["detail"]
    changed = server.http.patch(where, json={"paused": True, "tags": ["shop"], "notify": []}, headers=SENT)
    assert changed.json()["paused"] and changed.json()["notify"] == 0
    (watch,) = load(home / "watches" / "sanderling.toml")[0].watch
    assert (watch.tags, watch.notify, watch.select) == (("shop",), (), (".price",))
    assert [each["url"] for each in server.http.get("/api/v1/watches?tag=shop").json()["items"]] == [site.origin + "/"]
    assert "secret" not in server.http.get("/watches").text + server.http.get("/api/v1/watches").text
    assert server.http.delete(where, headers=SENT).status_code == 204
    assert server.http.get(where).status_code == 404


def test_what_is_wrong_with_a_watch_is_one_sentence(server: Served, site: PageServer) -> None:
    for more, said in (
        ({"select": ["p["]}, "is not a valid selector"), ({"every": "often"}, "'often' is not"), ({"url": "x"}, "http"),
        ({"must": ["("]}, "is not a valid pattern"), ({"number": ["smaller"]}, "number must be"),
        ({"notify": ["file:secrets"]}, "as it is here"), ({"notify": ["syslog://"]}, "on the server itself"),
        ({"crawl": "../up"}, "cannot name a crawl"),
    ):  # fmt: skip
        answer = server.http.post("/api/v1/watches", json={"url": site.origin, "start": False} | more, headers=SENT)
        assert answer.status_code == 400 and said in answer.json()["detail"], (more, answer.text)
    assert server.http.get("/api/v1/watches").json() == {"items": []}


def test_what_matches_now(server: Served, site: PageServer) -> None:
    found = server.http.post(
        "/api/v1/watches/matches", json={"url": site.origin, "select": [".price"]}, headers=SENT
    ).json()
    assert found == {"items": ["79.00"], "count": 1, "problem": ""}
    wrong = server.http.post("/api/v1/watches/matches", json={"url": site.origin + "/gone"}, headers=SENT).json()
    assert "it answered 404" in wrong["problem"]


def test_private_addresses_are_refused(crawled: Path) -> None:
    with running(crawled) as public:
        for more in ({}, {"url": "https://8.8.8.8/", "notify": ["json://127.0.0.1/hook"]}):
            asked = {"url": "http://127.0.0.1:9/", "start": False} | more
            answer = public.http.post("/api/v1/watches", json=asked, headers=SENT)
            assert answer.status_code == 400 and "private address" in answer.json()["detail"], answer.text
        tried = public.http.post("/api/v1/watches/matches", json={"url": "http://127.0.0.1:9/"}, headers=SENT).json()
        assert "private address" in tried["problem"]


def test_rules_and_addresses_are_added_and_removed(server: Served, home: Path) -> None:
    path, file = "/crawls/small/settings", home / "small" / "sanderling.toml"
    assert send(server, path, action="rule", watched=".price", urls="/p/") == 303
    assert send(server, path, action="rule", ignored="p[") == 422
    assert send(server, path, action="notify", to="json://127.0.0.1:9/", when="daily", tags="shop", kinds="text") == 303
    assert send(server, path, action="notify", to="env:SECRET") == 422
    settings = load(file)[0]
    assert [(rule.urls, rule.watch) for rule in settings.rules] == [("/p/", (".price",))]
    assert [(each.when, each.kinds, each.tags) for each in settings.notify] == [("daily", ("text",), ("shop",))]
    assert send(server, path, action="test", place="0") == 422  # nobody listens there
    assert send(server, path, action="remove-rules", place="0") == send(server, path, action="remove-notify", place="0")
    assert load(file)[0].rules == load(file)[0].notify == ()


def test_broken_links_are_shown_and_fed(server: Served) -> None:
    until(lambda: "being checked" not in server.http.get("/crawls/small/broken").text)
    assert "No broken links" in server.http.get("/crawls/small/broken").text
    assert server.http.get("/crawls/small/broken.atom").text.startswith("<?xml")


def test_a_crawl_is_exported_and_deleted(server: Served, home: Path, crawled: Path) -> None:
    rows = server.http.get("/crawls/small/export/jsonl").text.splitlines()
    assert len(rows) == 40 and json.loads(rows[0])["url"]
    assert server.http.get("/crawls/small/export/nonsense").status_code == 404
    assert send(server, "/crawls/small/delete", name="other") == 422
    shutil.copytree(home / "small", home / "second")
    assert send(server, "/crawls/second/delete", name="second") == 303
    assert not (home / "second").exists()
    assert server.http.delete("/api/v1/crawls/small", headers=SENT).status_code == 204
    assert not (home / "small").exists() and not list(home.glob(".*"))
    assert server.http.delete("/api/v1/crawls/small", headers=SENT).status_code == 404


def test_a_second_crawl_of_a_host_is_numbered(server: Served, site: PageServer, home: Path) -> None:
    asked = {"seeds": [site.origin], "start": False}
    names = [server.http.post("/api/v1/crawls", json=asked, headers=SENT).json()["id"] for _ in range(3)]
    assert names == ["127.0.0.1", "127.0.0.1-2", "127.0.0.1-3"]


def test_a_schedule_is_kept(server: Served, home: Path) -> None:
    made = server.http.post("/api/v1/crawls", json={"seeds": ["http://127.0.0.1:9/"], "name": "kept", "start": False}, headers=SENT)  # fmt: skip
    assert made.status_code == 201
    assert send(server, "/crawls/kept/settings", action="schedule", keep_fresh="soon") == 422
    assert send(server, "/crawls/kept/settings", action="schedule", keep_fresh="200/h", quiet="22:00-06:30") == 303
    settings = load(home / "kept" / "sanderling.toml")[0]
    assert (settings.keep_fresh, settings.quiet) == ("200/h", "22:00-06:30")
    assert send(server, "/crawls/kept/settings", action="schedule") == 303
    assert load(home / "kept" / "sanderling.toml")[0].keep_fresh == ""
