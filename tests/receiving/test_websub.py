"""WebSub: this server subscribes to feeds that name a hub, and believes only signed messages."""

import hmac
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from urllib.parse import parse_qs, urlencode

import httpx
import pytest

from sanderling.model import Counts
from sanderling.network.reach import ANYWHERE, PUBLIC, NetworkReach
from sanderling.repository.folder import Folder
from sanderling.repository.named_addresses import NamedAddresses
from sanderling.repository.opening import open_store
from sanderling.repository.warc import Archived
from sanderling.server.requests import inbox
from sanderling.settings import Settings
from sanderling.web.receiving.subscriptions import hub_of, load
from sanderling.web.receiving.websub import Subscriber, is_signed, reach_of_hub
from sanderling.web.shelf import Shelf
from tests.conftest import Run
from tests.servers import Answer, PageServer, ThreadedServer
from tests.waiting import until
from tests.web.served import Served, running

FEED = """<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><title>news</title>
<link rel="hub" href="{hub}"/><link rel="self" href="{home}/feed.atom"/>{entries}</feed>"""
ENTRY = '<entry><link href="{url}"/><updated>{date}</updated></entry>'


class Hub(ThreadedServer):
    """Takes subscriptions; verifies them when it is told to."""

    def __init__(self) -> None:
        self.asked: list[dict[str, str]] = []
        hub = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                hub.asked.append({name: values[0] for name, values in parse_qs(body.decode()).items()})
                self.send_response(202)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        super().__init__(Handler)
        self.url = f"http://127.0.0.1:{self.port}/hub"


@pytest.fixture
def hub() -> Iterator[Hub]:
    with Hub() as made:
        yield made


@pytest.fixture
def server(hub: Hub, tmp_path: Path, sanderling: Run) -> Iterator[tuple[Served, str]]:
    with PageServer({"/robots.txt": Answer(b"", "text/plain")}) as pages:
        feed = FEED.format(hub=hub.url, home=pages.origin, entries="")
        pages.table["/feed.atom"] = Answer(feed.encode(), "application/atom+xml")
        pages.table["/"] = b'<a href="/feed.atom">feed</a>'
        ran = sanderling(
            "crawl", f"{pages.origin}/", "-d", tmp_path / "crawl", "--delay", 0, "--no-index", "--allow-private"
        )
        assert ran.code == 0, ran.err
        # The port of the server is not known before it runs, so the hub does not call the address
        # it is given.
        with running(tmp_path / "crawl", "--public-url", "https://crawler.example.org/") as served:
            yield served, pages.origin


def test_a_feed_is_subscribed_to_verified_and_heard(server: tuple[Served, str], hub: Hub, tmp_path: Path) -> None:
    served, home = server
    asked = until(lambda: hub.asked[0] if hub.asked else None)
    assert (asked["hub.mode"], asked["hub.topic"]) == ("subscribe", f"{home}/feed.atom")
    place, token = asked["hub.callback"].rpartition("/")[::2]
    assert place == "https://crawler.example.org/websub" and len(asked["hub.secret"]) > 20
    wanted = {
        "hub.mode": "subscribe",
        "hub.topic": asked["hub.topic"],
        "hub.challenge": "c-1",
        "hub.lease_seconds": "900",
    }

    def verify(token: str, **changes: str) -> httpx.Response:
        return served.http.get(f"/websub/{token}?" + urlencode({**wanted, **changes}))

    content = FEED.format(
        hub=hub.url, home=home,
        entries=ENTRY.format(url=f"{home}/news/1", date="2020-01-01T00:00:00Z")
        + ENTRY.format(url="http://other.org/", date="2020-01-01T00:00:00Z"),
    ).encode()  # fmt: skip
    signature = "sha256=" + hmac.new(asked["hub.secret"].encode(), content, "sha256").hexdigest()

    def post(token: str, body: bytes, signature: str) -> int:
        return served.http.post(f"/websub/{token}", content=body, headers={"X-Hub-Signature": signature}).status_code

    assert post(token, content, signature) == 404  # not verified yet
    assert verify("another-token").status_code == 404
    assert verify(token, **{"hub.topic": "http://other.org/feed"}).status_code == 404
    assert verify(token, **{"hub.mode": "unsubscribe"}).status_code == 404
    answer = verify(token)
    assert (answer.status_code, answer.text) == (200, "c-1")
    assert load(tmp_path / "crawl")[0].state == "active"

    assert post(token, content, "sha256=" + "0" * 64) == 202
    assert post(token, content, "") == 202
    assert not list(inbox.waiting(tmp_path / "crawl"))  # forged
    assert post(token, content, signature) == 200
    assert post(token, content, signature) == 200  # the same entries are no news
    told = [told for _, told in inbox.waiting(tmp_path / "crawl") if told is not None]
    assert [sorted(page.url for page in each.pages) for each in told] == [
        [f"{home}/feed.atom", f"{home}/news/1"],
        [f"{home}/feed.atom"],
    ]
    assert {each.source for each in told} == {"websub"}


def test_signatures() -> None:
    body = b"content"
    for method in ("sha1", "sha256", "sha384", "sha512"):
        assert is_signed(body, f"{method}=" + hmac.new(b"secret", body, method).hexdigest(), "secret")
    assert not is_signed(body, "md5=" + hmac.new(b"secret", body, "md5").hexdigest(), "secret")
    assert not is_signed(body, "sha256=", "secret") and not is_signed(body, "", "secret")


def test_where_a_hub_is_named() -> None:
    def named(body: str = "", *headers: tuple[str, str]) -> tuple[str, str] | None:
        return hub_of(Archived("http://e.org/f", "", 200, list(headers), body.encode()), "http://e.org/f")

    assert named() is None
    assert named('<link rel="hub" href="https://hub.org/"/>') == ("http://e.org/f", "https://hub.org/")
    assert named('<atom:link href="/h?a=1&amp;b=2" rel="hub" />') == ("http://e.org/f", "http://e.org/h?a=1&b=2")
    assert named("", ("Link", '<https://hub.org/>; rel="hub", <http://e.org/feed>; rel=self')) == (
        "http://e.org/feed", "https://hub.org/",
    )  # fmt: skip
    assert named('<link rel="hub" href="javascript:x"/>') is None


def test_no_feed_speaks_for_another_site() -> None:
    body = b'<link rel="hub" href="https://hub.org/"/><link rel="self" href="https://other.org/feed"/>'
    assert hub_of(Archived("http://e.org/f", "", 200, [], body), "http://e.org/f") == (
        "http://e.org/f", "https://hub.org/",
    )  # fmt: skip


class _NamedStore:
    """A store in which the user named two seeds of a private network."""

    def seeds(self) -> list[str]:
        return ["http://inside.example/", "http://10.1.1.1:8080/"]

    def noted(self, key: str) -> str:
        return '{"inside.example": ["10.0.0.7"], "10.1.1.1": ["10.1.1.1"]}'

    def note(self, key: str, value: str) -> None: ...

    def counts(self) -> Counts: ...  # type: ignore[empty-body]


@pytest.mark.parametrize(
    ("hub", "allowed"),
    [
        ("http://inside.example/hub", ("10.0.0.7",)),  # as the crawl itself may go there
        ("http://inside.example:6379/", ()),
        ("https://inside.example/hub", ()),
        ("http://10.1.1.1:8080/admin", ()),  # a seed, but not that of the feed
        ("http://169.254.169.254/latest", ()),
        ("http://192.168.1.1/", ()),
        ("https://hub.org/", ()),
    ],
)
def test_where_a_hub_may_be(hub: str, allowed: tuple[str, ...]) -> None:
    feed = "http://inside.example/feed.atom"
    assert reach_of_hub(NamedAddresses(_NamedStore(), Settings()), feed, hub) == NetworkReach(addresses=allowed)
    assert reach_of_hub(NamedAddresses(_NamedStore(), Settings(private_seeds=False)), feed, hub) == PUBLIC
    assert reach_of_hub(NamedAddresses(_NamedStore(), Settings(allow_private=True)), feed, hub) == ANYWHERE


def test_another_hub_gets_another_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, list[str]]] = []

    def ask(url: str, *, body: bytes, **_: object) -> None:
        asked.append(parse_qs(body.decode()))

    named = [("http://e.org/feed", "http://first.org/")]
    monkeypatch.setattr("sanderling.web.receiving.websub.ask", ask)
    monkeypatch.setattr("sanderling.web.receiving.subscriptions.feeds", lambda folder, store: named)
    open_store(Folder(tmp_path), readonly=False).close()
    subscriber = Subscriber(Shelf([tmp_path]), "agent", "https://crawler.example.org/")
    subscriber.subscribe_all()
    subscriber.subscribe_all()
    first = load(tmp_path)[0]
    named[:] = [("http://e.org/feed", "http://second.org/")]
    subscriber.subscribe_all()
    (second,) = load(tmp_path)
    subscriber.keep(Folder(tmp_path), first)  # a late answer of the old hub changes nothing
    assert load(tmp_path) == [second] and second.hub == "http://second.org/"
    assert first.secret != second.secret and first.token != second.token
    assert [each["hub.secret"] for each in asked] == [[first.secret], [second.secret]]
