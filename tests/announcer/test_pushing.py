"""IndexNow and WebSub: what is sent, to whom, and again when it was not taken."""

import json
from pathlib import Path
from urllib.parse import parse_qs

from sanderling.cli.announce import _post
from sanderling.telling.answer import DeliveryAnswer
from sanderling_announce import pushing
from sanderling_announce.pushing import PushAddress, indexnow
from tests.announcer.sites import SITE, WatchedSite
from tests.telling.endpoint import Endpoint


def test_urls_are_told_in_batches_of_ten_thousand() -> None:
    requests = indexnow(SITE, "k" * 32, f"{SITE}k.txt", [f"{SITE}{number}" for number in range(20_001)] * 2)
    sizes = [len(json.loads(request.body)["urlList"]) for request in requests]
    assert sizes == [10_000, 10_000, 1]


def test_an_engine_is_told_over_http(tmp_path: Path) -> None:
    with Endpoint(429, 200) as engine:
        site = WatchedSite(tmp_path, pushes=(PushAddress("indexnow", engine.url),))
        site.post = _post  # type: ignore[method-assign]
        site.restart()
        site.write("a.html")
        site.settle()
        assert engine.posted == []  # the base is no news
        site.write("a.html", "changed")
        site.write("b.html")
        site.settle()
        site.run_until(lambda: site.announcer.memory.pushed(engine.url) == 1)
        site.finish()
        assert [post.status for post in engine.posted] == [429, 200]
        body = json.loads(engine.posted[1].body)
    assert sorted(body["urlList"]) == [f"{SITE}a.html", f"{SITE}b.html"]
    assert body["host"] == "example.org"
    # The key stands where the engine looks for it, and is no page.
    key = Path(body["keyLocation"].removeprefix(SITE))
    assert (site.root / key).read_text() == body["key"] == key.stem
    assert "was not told: it answered 429" in site.said[-2] and "takes what it is told again" in site.said[-1]


def test_what_was_not_told_is_told_after_a_restart(tmp_path: Path, monkeypatch: object) -> None:
    address = "https://engine.example/indexnow"
    answers = [DeliveryAnswer(status=503), DeliveryAnswer(status=200)]
    site = WatchedSite(tmp_path, pushes=(PushAddress("indexnow", address),))
    told: list[bytes] = []

    def post(url: str, headers: dict[str, str], body: bytes) -> DeliveryAnswer:
        told.append(body)
        return answers.pop(0)

    site.post = post  # type: ignore[method-assign]
    site.restart()
    site.write("a.html")
    site.settle()
    site.write("a.html", "changed")
    site.settle()
    assert len(told) == 1
    site.restart()
    site.run_until(lambda: len(told) == 2)
    site.settle()
    assert told[0] == told[1]
    site.settle()
    assert len(told) == 2
    site.finish()


def test_a_hub_is_pinged_when_a_feed_changed(tmp_path: Path) -> None:
    hub = "https://hub.example/"
    site = WatchedSite(tmp_path, pushes=(PushAddress("websub", hub),), feeds=(f"{SITE}feed.xml",))
    site.write("feed.xml", "<rss/>")
    site.write("a.html")
    site.settle()
    site.write("a.html", "changed")
    site.settle()
    assert site.posted == []
    site.write("feed.xml", "<rss><item/></rss>")
    site.settle()
    site.finish()
    ((url, _, body),) = site.posted
    assert url == hub
    assert parse_qs(body.decode()) == {"hub.mode": ["publish"], "hub.url": [f"{SITE}feed.xml"]}


def test_what_is_refused_for_good_is_not_sent_again() -> None:
    said: list[str] = []
    push = pushing.Push(
        PushAddress("indexnow", "https://e.example/"), lambda *_: DeliveryAnswer(status=422), said.append, lambda: None
    )
    push.send(3, [pushing.PushRequest({}, b"")])
    assert push._thread
    push._thread.join()
    assert push.outcome(0.0) == 3
    assert "refuses" in said[0]
