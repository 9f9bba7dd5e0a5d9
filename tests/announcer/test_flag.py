"""Crawlers that do not know each other take a site one after the other."""

import json
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from sanderling_announce.flag import Flag, Taken
from sanderling_announce.report_server import ReportServer
from tests.announcer.sites import WatchedSite

TOKEN = "a token that nobody guesses"


def test_both_ways_in_which_the_flag_is_reset() -> None:
    flag = Flag(Taken(), lambda: None, longest=100.0)
    assert flag.begin("one", 1e9, "time", 1000.0) == (True, Taken(1100.0, "one", "time"))
    assert not flag.begin("two", 10.0, "time", 1099.0)[0]
    flag.page_changed()
    assert flag.state(1099.0).by == "one"
    # By time: it expires by itself.
    assert flag.state(1100.0) == Taken()
    assert flag.begin("two", 10.0, "change", 1100.0)[0]
    assert not flag.begin("one", 10.0, "change", 1101.0)[0]
    # By event: a page changed.
    flag.page_changed()
    assert flag.begin("one", 10.0, "time", 1101.0)[0]
    # Whoever has it may keep it for longer, or give it back.
    assert flag.begin("one", 50.0, "time", 1105.0)[1].until == 1155.0
    assert flag.begin("one", 0.0, "time", 1106.0) == (True, Taken())


def test_the_site_may_choose_how_it_is_reset() -> None:
    flag = Flag(Taken(), lambda: None, reset="time")
    assert flag.begin("one", 60.0, "change", 1000.0)[1].reset == "time"
    flag.page_changed()
    assert not flag.begin("two", 60.0, "change", 1001.0)[0]
    flag = Flag(Taken(), lambda: None, reset="change")
    assert flag.begin("one", 60.0, "time", 1000.0)[0]
    flag.page_changed()
    assert flag.begin("two", 60.0, "time", 1001.0)[0]


@pytest.fixture
def served(tmp_path: Path) -> Any:
    site = WatchedSite(tmp_path)
    site.write("a.html")
    site.settle()
    server = ReportServer("127.0.0.1", 0, site.announcer.publisher.folder, site.announcer.flag, TOKEN)
    yield site, f"http://127.0.0.1:{server.port}"
    server.close()
    site.finish()


def asked(url: str, body: object = None, **headers: str) -> tuple[int, bytes, dict[str, str]]:
    data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {name.replace("_", "-"): value for name, value in headers.items()})
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, answer.read(), dict(answer.headers)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read(), dict(error.headers)


def test_the_flag_is_taken_by_an_authenticated_request(served: Any) -> None:
    site, url = served
    ours = {"Authorization": f"Bearer {TOKEN}"}
    assert asked(f"{url}/begin", {"crawler": "one"})[0] == 401
    assert asked(f"{url}/begin", {"crawler": "one"}, Authorization="Bearer wrong")[0] == 401
    status, body, _ = asked(f"{url}/begin", {"crawler": "one", "seconds": 60}, **ours)
    assert status == 200 and json.loads(body)["granted"]
    site.announcer.step(time.time())
    manifest = site.reader.manifest()
    assert manifest.taken_by == "one" and 0 < manifest.taken_until - time.time() <= 60
    assert asked(f"{url}/begin", {"crawler": "two"}, **ours)[0] == 409
    for bad in (
        b"",
        b"[]",
        {"crawler": "a\nb"},
        {"crawler": "two", "seconds": "many"},
        {"crawler": "two", "reset": "never"},
        {"x": 1},
    ):
        assert asked(f"{url}/begin", bad, **ours)[0] == 400
    assert asked(f"{url}/begin", b" " * 5000, **ours)[0] == 413
    assert asked(f"{url}/other", b"", **ours)[0] == 404
    # A restart does not forget it.
    site.restart()
    assert site.announcer.flag.state(time.time()).by == "one"


def test_the_report_is_served_with_etags_and_nothing_else_is(served: Any) -> None:
    site, url = served
    status, body, headers = asked(f"{url}/.well-known/sanderling/manifest.jsonl")
    assert status == 200 and body == (site.reader.folder / "manifest.jsonl").read_bytes()
    assert asked(f"{url}/manifest.jsonl", If_None_Match=headers["ETag"])[0] == 304
    name = site.reader.manifest().base.name
    assert "immutable" in asked(f"{url}/{name}")[2]["Cache-Control"]
    for other in ("", "/", "/../a.html", "/a.html", "/%2e%2e/a.html", "/..//..//etc/passwd", "/announcer.db"):
        assert asked(url + other)[0] == 404
