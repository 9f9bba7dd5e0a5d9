"""The API: every list in parts, every resource by its name, every error as a problem document."""

import json
import socket
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from sanderling.testing import DAY, SyntheticWeb
from tests.conftest import FAST, Run
from tests.waiting import PATIENCE, until
from tests.web.served import Served, running

API = "/api/v1/crawls/site"


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory, sanderling: Run) -> Iterator[Served]:
    """A site that was visited, changed, and visited again."""
    home = tmp_path_factory.mktemp("api")
    with SyntheticWeb(hosts=2, pages=60, seed=3, change_rate=0.5).serve() as site:
        assert sanderling("crawl", site.url, "-d", home / "site", *FAST, "--scope", "any", "--allow-private").code == 0
        site.clock.advance(30 * DAY)
        assert sanderling("crawl", "-d", home / "site", "--again", *FAST).code == 0
    with running(home) as server:
        yield server


def parts(server: Served, path: str, **asked: Any) -> list[Any]:
    """A whole list, part by part."""
    items: list[Any] = []
    after: dict[str, Any] = {}
    for _ in range(500):
        answer = server.http.get(path, params={**asked, **after})
        assert answer.status_code == 200, answer.text
        items += answer.json()["items"]
        if answer.json()["next"] is None:
            return items
        after = {"after": answer.json()["next"]}
    raise AssertionError("no end")


def some_page(server: Served, changed: bool = True) -> Any:
    pages = parts(server, f"{API}/pages", state="fetched")
    return next(page for page in pages if (page["changes"] > 0) is changed)


def test_pages_come_in_parts_and_once(api: Served) -> None:
    counts = api.http.get(API).json()["counts"]
    pages = parts(api, f"{API}/pages", limit=7)
    assert len(pages) == len({page["id"] for page in pages}) == counts["known"]
    fetched = parts(api, f"{API}/pages", limit=50, state="fetched")
    assert len(fetched) == counts["fetched"]
    origin = fetched[0]["url"].partition("://")[2].partition("/")[0]
    on_host = parts(api, f"{API}/pages", host=f"http://{origin}")
    assert on_host and all(page["url"].startswith(f"http://{origin}/") for page in on_host)
    assert parts(api, f"{API}/pages", prefix="http://nowhere.example/") == []
    (only,) = parts(api, f"{API}/pages", url=fetched[5]["url"])
    assert only == fetched[5]
    assert parts(api, f"{API}/pages", url="http://nowhere.example/") == []


def test_one_page_with_its_versions_links_and_paragraphs(api: Served) -> None:
    page = some_page(api)
    path = f"{API}/pages/{page['id']}"
    read = api.http.get(path).json()
    assert read["url"] == page["url"] and read["versions"] >= 2 and read["fingerprint"] and read["visits"] == 2
    never = parts(api, f"{API}/pages", state="excluded") + parts(api, f"{API}/pages", state="gone")
    for each in [some_page(api, changed=False), *never[:2]]:
        assert api.http.get(f"{API}/pages/{each['id']}").json()["url"] == each["url"]
    versions = parts(api, f"{path}/versions", limit=1)
    assert [each["place"] for each in versions] == list(range(read["versions"], 0, -1))
    out = parts(api, f"{path}/links/out", limit=3)
    assert out and all(each["url"] and each["state"] for each in out)
    back = parts(api, f"{API}/pages/{out[0]['id']}/links/in")
    assert page["id"] in {each["id"] for each in back}
    blame = api.http.get(f"{path}/blame").json()
    assert blame["versions_read"] == read["versions"]
    assert any(each["last_edited"] > each["first_seen"] for each in blame["items"]) or any(
        each["first_seen"] > versions[-1]["at"] for each in blame["items"]
    )


def test_a_diff_in_every_form(api: Served) -> None:
    path = f"{API}/pages/{some_page(api)['id']}/diff"
    found = api.http.get(path).json()
    assert found["b"]["place"] == found["a"]["place"] + 1 and any(each["kind"] != "same" for each in found["items"])
    assert all(each["inserted"] + each["deleted"] and each["level"] for each in found["levels"])
    last = next(each for each in parts(api, f"{API}/changes", kind="structure") if each["news"])
    levels = api.http.get(f"{API}/pages/{last['page']}/diff").json()["levels"]
    assert levels or "links lead elsewhere" in last["summary"]
    page = api.http.get(path, params={"format": "html"})
    assert page.headers["content-type"].startswith("text/html") and "<table>" in page.text
    assert page.headers["content-security-policy"].startswith("sandbox;")
    assert api.http.get(path, params={"format": "text"}).text.startswith("--- version")
    assert api.http.get(path, params={"a": 1, "b": 99}).status_code == 404
    assert api.http.get(path, params={"a": 0}).status_code == 422


def test_changes_newest_first(api: Served) -> None:
    changes = parts(api, f"{API}/changes", limit=5)
    numbers = [each["number"] for each in changes]
    assert numbers == sorted(numbers, reverse=True) and len(numbers) > 5
    edited = parts(api, f"{API}/changes", kind="text")
    assert edited and all("text" in each["kinds"] for each in edited)
    assert parts(api, f"{API}/changes", since="2100-01-01") == []
    assert len(parts(api, f"{API}/changes", all=True)) >= len(numbers)
    feed = api.http.get(f"{API}/feed.atom")
    assert api.http.get("/feed.atom").text.count("<entry>") == feed.text.count("<entry>")
    assert api.http.get("/feed.atom?crawl=nobody").status_code == 404
    assert feed.headers["content-type"].startswith("application/atom+xml") and feed.text.count("<entry>") > 5


def test_an_archived_version_is_shown_elsewhere(api: Served) -> None:
    version = api.http.get(f"{API}/versions/1").json()
    assert not version["archive"].startswith(api.url)
    shown = httpx.get(version["archive"], timeout=PATIENCE)
    assert shown.status_code == 200 and shown.headers["content-security-policy"].startswith("sandbox;")
    body = api.http.get(f"{API}/versions/1/body")
    assert "Archived copy of" in shown.text and b"Archived copy of" not in body.content
    assert body.headers["content-type"] == "application/octet-stream"
    assert body.headers["content-disposition"].startswith("attachment")
    assert api.http.get(f"{API}/versions/1/text").headers["content-type"].startswith("text/plain")


def test_hosts_and_settings(api: Served) -> None:
    hosts = parts(api, f"{API}/hosts", limit=1)
    assert len({host["origin"] for host in hosts}) == len(hosts) >= 1 and hosts[0]["robots"]
    (one,) = parts(api, f"{API}/hosts", origin=hosts[0]["origin"])
    assert one == hosts[0]
    settings = {each["name"]: each["value"] for each in api.http.get(f"{API}/settings").json()["items"]}
    assert settings["scope"] == "any" and settings["per_host"] == 8


def test_search(api: Served) -> None:
    title = some_page(api)["title"]

    def search() -> Any:
        return api.http.get(f"{API}/search", params={"q": title, "limit": 100}).json()

    until(lambda: not search()["behind"])  # missing versions are indexed beside the answers
    found = search()
    assert found["behind"] == 0 and title in {hit["title"] for hit in found["hits"]}
    one = api.http.get(f"{API}/search", params={"q": "*", "within": [title, f'url:"{found["hits"][0]["url"]}"']}).json()
    assert 1 <= one["total"] <= found["total"] and found["hits"][0]["url"] in {hit["url"] for hit in one["hits"]}
    assert api.http.get(f"{API}/search", params={"q": "*", "at": "2001-02", "until": "2001-03"}).json()["total"] == 0
    assert api.http.get(f"{API}/search", params={"q": "*", "at": "2001-02", "until": "2999-12"}).json()["total"]
    assert api.http.get(f"{API}/search", params={"q": "*", "until": "2001-02"}).status_code == 400
    assert api.http.get(f"{API}/search", params={"q": "x", "within": ["y"] * 11}).status_code == 422
    wordless = api.http.get(f"{API}/search", params={"q": "("}).json()
    assert wordless["total"] == 0 and "no words to search for" in wordless["notes"][0]
    assert api.http.get(f"{API}/search", params={"q": '"' * 99 + "~*:("}).status_code in (200, 400)


def test_freshness(api: Served) -> None:
    until(lambda: api.http.get(f"{API}/freshness").status_code != 202)
    found = api.http.get(f"{API}/freshness").json()["estimate"]
    assert 0 <= found["freshness"] <= 1 and found["visited_again"] > 0 and found["budgets"][0]["visits"] > 0
    (host,) = found["hosts"]
    assert host["estimator"] == "EB" and host["eb"]["low"] < host["eb"]["rate"] < host["eb"]["high"]
    assert host["visits"] >= host["changes"] > 0 and host["ep"]["low"] < host["ep"]["rate"]
    page = next(
        row for row in api.http.get(f"{API}/pages", params={"state": "fetched"}).json()["items"] if row["visits"] > 1
    )
    rate = api.http.get(f"{API}/pages/{page['id']}").json()["change_rate"]
    assert rate["eb"]["of"] == "page" and rate["ep"]["of"] in ("page", "host") and rate["every"] > 0


def test_metrics(api: Served) -> None:
    text = api.http.get("/metrics").text
    counts = api.http.get(API).json()["counts"]
    assert f'sanderling_pages_total{{crawl="site"}} {counts["pages"]}\n' in text
    assert f'sanderling_urls{{crawl="site",state="fetched"}} {counts["fetched"]}\n' in text
    for line in text.splitlines():
        assert line.startswith("#") or len(line.split(" ")) == 2, line


def test_events_without_a_running_crawl_tell_what_was_missed(api: Served) -> None:
    with api.http.stream("GET", f"{API}/events?baseline=1", headers={"last-event-id": "0"}) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        events = answer.iter_lines()
        first = [next(events) for _ in range(3)]
    assert first[0] == "event: change" and first[1] == "id: 1"
    assert json.loads(first[2].removeprefix("data: "))["number"] == 1


def test_all_news_of_a_moment_is_one_write(served: Served) -> None:
    """That a reader has left is noticed between two moments only, and each write until then is a
    warning in the log."""
    where = served.http.base_url
    with socket.create_connection((where.host, where.port), timeout=PATIENCE) as line, line.makefile("rb") as answer:
        asked = f"GET /api/v1/crawls/small/events?baseline=1 HTTP/1.1\r\nHost: {where.host}:{where.port}\r\nLast-Event-ID: 0\r\n\r\n"
        line.sendall(asked.encode())
        while answer.readline().strip():
            pass
        written = answer.read(int(answer.readline(), 16))  # the first chunk
    assert written.count(b"event: change\n") == 40 and written.count(b"event: idle\n") == 1


@pytest.mark.parametrize(
    ("path", "status"),
    [
        (f"{API}/pages/0000000000000000", 404), (f"{API}/pages/zzz", 422), (f"{API}/pages/0000000000000000/blame", 404),
        (f"{API}/pages?limit=0", 422), (f"{API}/pages?limit=501", 422), (f"{API}/pages?after=x", 422),
        (f"{API}/pages?state=nonsense", 422), (f"{API}/pages?host=http://", 400), (f"{API}/versions/0", 404),
        (f"{API}/versions/99999999999999999999", 422), (f"{API}/versions/999999/body", 404), (f"{API}/changes?kind=x", 422),
        (f"{API}/changes?since=x", 400), (f"{API}/changes?min_significance=nan", 422), (f"{API}/live", 409),
        ("/api/v1/crawls/nobody/pages", 404), ("/api/v1/crawls/nobody/events", 404), (f"{API}/hosts?origin=x.example", 404),
        (f"{API}/search?page=0", 422), ("/crawls/site/pages?after=99999999999999999999", 422), (f"{API}/pages?prefix=%00", 200), (f"{API}/pages?after=-9223372036854775809", 422),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_a_problem(api: Served, path: str, status: int) -> None:
    answer = api.http.get(path)
    assert answer.status_code == status, answer.text
    if status != 200:
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["status"] == status and answer.json()["detail"]


def test_everything_is_described(api: Served) -> None:
    document = api.http.get("/api/v1/openapi.json").json()
    text = json.dumps(document)
    for name in {each.partition('"')[0] for each in text.split("#/components/schemas/")[1:]}:
        assert name in document["components"]["schemas"], name
    assert set(document["components"]["schemas"]["Live"]["properties"]) >= {"paused", "clients", "lists"}
    for path, methods in document["paths"].items():
        assert path.startswith("/api/v1/"), path
        for method in methods.values():
            assert method["responses"] and method["summary"]
