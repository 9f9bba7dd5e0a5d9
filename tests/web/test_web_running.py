"""Crawls that are made, started, paused, changed and stopped over HTTP."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sanderling.model import Command
from sanderling.repository.folder import Folder, in_use
from sanderling.server.requests import remote
from sanderling.settings import load
from sanderling.testing import ServedWeb
from tests.waiting import PATIENCE, until
from tests.web.served import Served, running

MEANT = {"x-sanderling": "1"}
# The web holds its answers back, so the crawl does not end by itself.
PATIENT = {"first_byte_timeout": "10m", "fetch_timeout": "1h", "low_speed_time": "1h"}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home") / "crawls"


@pytest.fixture(scope="module")
def server(home: Path) -> Iterator[Served]:
    with running(home, "--allow-private") as started:
        started.http.headers.update(MEANT)
        yield started


@pytest.fixture(scope="module")
def cautious(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server that does not allow private addresses."""
    with running(tmp_path_factory.mktemp("crawls")) as started:
        started.http.headers.update(MEANT)
        yield started


def wait_until(server: Served, path: str, wanted: Callable[[Any], bool]) -> Any:
    found: Any = None

    def looked() -> bool:
        nonlocal found
        found = server.http.get(path).json()
        return wanted(found)

    until(looked)
    return found


def test_a_crawl_from_beginning_to_end(server: Served, web: ServedWeb) -> None:
    made = server.http.post(
        "/api/v1/crawls", json={"seeds": [web.url], "name": "mine", "settings": {"per_host": 8, "delay": 0}}
    )
    assert made.status_code == 201 and made.headers["location"] == "/api/v1/crawls/mine", made.text
    assert server.http.post("/api/v1/crawls", json={"seeds": [web.url], "name": "mine"}).status_code == 400
    done = wait_until(server, "/api/v1/crawls/mine", lambda crawl: not crawl["running"])
    assert done["counts"]["pages"] == 120 and done["seeds"] == [web.url]
    assert server.http.post("/api/v1/crawls/mine/start", json={"mode": "again"}).status_code == 200
    again = wait_until(server, "/api/v1/crawls/mine", lambda crawl: not crawl["running"])
    assert again["counts"]["visits"] == 2 * done["counts"]["visits"]
    assert server.http.post("/api/v1/crawls/mine/start", json={"mode": "refresh", "budget": "x"}).status_code == 400
    assert server.http.post("/api/v1/crawls/mine/start", json={"mode": "refresh", "budget": "7"}).status_code == 200
    last = wait_until(server, "/api/v1/crawls/mine", lambda crawl: not crawl["running"])
    assert last["counts"]["visits"] == again["counts"]["visits"] + 7


def test_pause_resume_limits_stop(server: Served, web: ServedWeb) -> None:
    web.hold(after=5)
    assert server.http.post("/api/v1/crawls", json={"seeds": [web.url], "name": "s", "settings": PATIENT}).is_success
    assert server.http.post("/api/v1/crawls/s/start", json={}).status_code == 409
    wait_until(server, "/api/v1/crawls/s/live", lambda live: live.get("clients"))
    assert server.http.get("/api/v1/crawls/s/clients").json()["items"]
    assert server.http.post("/api/v1/crawls/s/pause").json()["paused"]
    wait_until(server, "/api/v1/crawls/s", lambda crawl: crawl["paused"])  # unless the crawl is too busy to answer
    asked = server.http.post("/api/v1/crawls/s/visit", json={"urls": [web.url, "http://other.org/"]}).json()["items"]
    assert [(each["accepted"], each["url"]) for each in asked] == [(True, web.url), (False, "http://other.org/")]
    assert not server.http.post("/api/v1/crawls/s/resume").json()["paused"]
    changed = server.http.patch("/api/v1/crawls/s/limits", json={"max_pages": 100, "max_bytes": "1GiB"}).json()
    values = {each["name"]: each["value"] for each in changed["items"]}
    assert values["max_pages"] == 100 and values["max_bytes"] == 1 << 30 and values["max_time"] is None
    assert server.http.post("/api/v1/crawls/s/stop").json()["stopping"]
    wait_until(server, "/api/v1/crawls/s", lambda crawl: not crawl["running"])
    assert server.http.post("/api/v1/crawls/s/pause").status_code == 409
    assert server.http.post("/api/v1/crawls/s/visit", json={"urls": [web.url]}).status_code == 409
    assert server.http.get("/api/v1/crawls/s/live").status_code == 409
    assert server.http.patch("/api/v1/crawls/s/scope", json={"exclude": ["/tag/"], "scope": "any"}).is_success
    assert server.http.patch("/api/v1/crawls/s/scope", json={"exclude": ["("]}).status_code == 400
    assert server.http.patch("/api/v1/crawls/s/limits", json={"user_agent": "x"}).status_code == 422


def test_a_crawl_that_cannot_begin_leaves_nothing(server: Served, home: Path) -> None:
    asked = {"seeds": ["http://127.0.0.1:1/"], "name": "bad", "settings": {"rules": [{"ignore": ["p["]}]}}
    refused = server.http.post("/api/v1/crawls", json=asked)
    assert refused.status_code == 400 and "not a valid selector" in refused.json()["detail"]
    assert not (home / "bad").exists()


def test_events_of_a_running_crawl(server: Served, web: ServedWeb) -> None:
    web.hold(after=5)
    asked = {"seeds": [web.url], "name": "watched", "settings": PATIENT}
    assert server.http.post("/api/v1/crawls", json=asked).is_success
    seen: dict[str, Any] = {}
    with server.http.stream("GET", "/api/v1/crawls/watched/events?baseline=1") as answer:
        name = ""
        for line in answer.iter_lines():
            if line.startswith("event: "):
                name = line.removeprefix("event: ")
            elif line.startswith("data: "):
                seen[name] = json.loads(line.removeprefix("data: "))
            if seen.get("live", {}).get("clients") and "change" in seen:
                break
    assert seen["change"]["kinds"] == ["new"]
    measured = server.http.get("/metrics").text
    assert 'sanderling_running{crawl="watched"} 1\n' in measured
    assert 'sanderling_lookup_seconds_total{crawl="watched"} ' in measured
    assert 'sanderling_fetch_seconds_total{crawl="watched"} ' in measured
    assert server.http.post("/api/v1/crawls/watched/stop").is_success


def test_the_server_takes_its_crawls_with_it_unless_told_otherwise(tmp_path: Path, web: ServedWeb) -> None:
    web.hold(after=5)
    for keep in (False, True):
        with running(tmp_path / f"crawls-{keep}", "--allow-private", *["--keep"] * keep) as server:
            asked = {"seeds": [web.url], "name": "s", "settings": PATIENT}
            assert server.http.post("/api/v1/crawls", json=asked, headers=MEANT).is_success
        folder = Folder(tmp_path / f"crawls-{keep}" / "s")
        if keep:
            assert in_use(folder)
            assert remote.command(folder.path, Command("stop"), PATIENCE).stopping
        until(lambda folder=folder: not in_use(folder))


@pytest.mark.parametrize(
    "seed",
    [
        "http://127.0.0.1/", "http://localhost:8000/", "http://2130706433/", "http://0x7f.0.0.1/", "http://0/",
        "http://[::]/", "http://[::1]/", "http://[::ffff:127.0.0.1]/", "http://[64:ff9b::7f00:1]/", "http://[2002:7f00:1::]/",
        "http://169.254.169.254/latest/meta-data/", "http://10.0.0.1/", "http://192.168.1.1/", "http://a.internal/",
        "http://printer.local/", "ftp://127.0.0.1/", "gopher://127.0.0.1/",
    ],
)  # fmt: skip
def test_seeds_at_private_addresses_are_refused(cautious: Served, seed: str) -> None:
    refused = cautious.http.post("/api/v1/crawls", json={"seeds": ["http://192.0.2.1/", seed]})
    assert refused.status_code == 400, refused.text
    assert "private address" in refused.json()["detail"]
    assert cautious.http.get("/api/v1/crawls").json()["items"] == []


@pytest.mark.parametrize("seed", ["file:///etc/passwd", "javascript:alert(1)", "http://", "//x", "\0", "http://a b/"])
def test_seeds_that_are_none_are_refused(cautious: Served, seed: str) -> None:
    assert cautious.http.post("/api/v1/crawls", json={"seeds": [seed]}).status_code == 400


@pytest.mark.parametrize(
    "name", ["../evil", "..", ".", "a/b", "/etc", "a\0b", "A", "-rf", ".hidden", "a..b", "x" * 65, "a\nb", "con/", "~"]
)
def test_names_that_lead_elsewhere_are_refused(server: Served, home: Path, name: str) -> None:
    before = set(home.parent.glob("**/sanderling.toml"))
    refused = server.http.post("/api/v1/crawls", json={"seeds": ["http://127.0.0.1:1/"], "name": name, "start": False})
    assert refused.status_code in (400, 422), refused.text
    assert set(home.parent.glob("**/sanderling.toml")) == before


@pytest.mark.parametrize(
    "settings",
    [
        {"store": "postgresql://db/x"}, {"allow_private": True}, {"private_seeds": True}, {"proxy": "http://127.0.0.1:1"},
        {"min_free": 0}, {"nonsense": 1}, {"scope": "everything"}, {"include": ["("]}, {"include": "/"},
        {"user_agent": "x\r\nHost: evil"}, {"max_pages": -1}, {"rules": [{"x": 1}]},
    ],
)  # fmt: skip
def test_settings_that_reach_too_far_or_do_not_fit_are_refused(cautious: Served, settings: dict[str, Any]) -> None:
    refused = cautious.http.post("/api/v1/crawls", json={"seeds": ["http://192.0.2.1/"], "settings": settings})
    assert refused.status_code == 400, refused.text


def test_a_name_that_leads_inward_only_when_it_is_fetched_is_not_followed(
    server: Served, home: Path, web: ServedWeb, sanderling: Callable[..., Any]
) -> None:
    """Crawls of the API check the address of each seed again when they fetch it."""
    made = server.http.post("/api/v1/crawls", json={"seeds": [web.url], "name": "c", "start": False})
    assert made.status_code == 201 and made.json()["counts"]["pages"] == 0
    place = home / "c" / "sanderling.toml"
    place.write_text(place.read_text() + "private_seeds = false\n")
    assert load(place)[0].private_seeds is False
    assert sanderling("crawl", "-d", place.parent).code == 1
    (only,) = sanderling("pages", place.parent, "--state", "failed", "--json").lines
    assert "private" in only["reason"], only
