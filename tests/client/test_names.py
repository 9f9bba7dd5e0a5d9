"""Names are looked up ahead and kept for their time to live."""

import socket
import struct
import threading
from collections import Counter
from contextlib import closing

import pytest

from sanderling.client import names
from sanderling.client.curl_fetcher import CurlFetcher
from sanderling.client.fetcher import Request, Response
from sanderling.client.loop import Loop
from sanderling.network import dns
from sanderling.settings import Settings
from tests.servers import PageServer
from tests.waiting import until

NAME = "moving.example"


def answered(question: bytes, *records: tuple[int, int, bytes], code: int = 0) -> bytes:
    """A message of a name server; each record is a type, a time to live and its content."""
    head = question[:2] + struct.pack("!HHHHH", 0x8180 | code, 1, len(records), 0, 0)
    return head + question[12:] + b"".join(
        b"\xc0\x0c" + struct.pack("!HHIH", kind, 1, life, len(content)) + content for kind, life, content in records
    )  # fmt: skip


def test_the_time_to_live_is_the_shortest_on_the_way_to_an_address() -> None:
    asked = dns.question(NAME, 7)
    chain = answered(asked, (5, 60, b"\xc0\x0c"), (1, 300, bytes(4)), (16, 1, b"\x01x"))
    assert dns.shortest_life(chain, 7) == 60
    assert dns.shortest_life(chain, 8) is None  # an answer to another question
    assert dns.shortest_life(answered(asked, (1, 9, bytes(4)), code=3), 7) is None
    assert dns.shortest_life(answered(asked), 7) is None
    for cut in range(len(chain)):
        dns.shortest_life(chain[:cut], 7)  # raises nothing


@pytest.mark.parametrize("name", ["", "a" * 64 + ".example", "a..b"])
def test_what_is_no_name_is_not_asked_for(name: str) -> None:
    with pytest.raises(ValueError, match="no name"):
        dns.question(name, 1)
    assert dns.time_to_live(name, "127.0.0.1") is None


def test_a_name_server_is_asked() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))

        def serve() -> None:
            question, caller = server.recvfrom(512)
            server.sendto(answered(question, (1, 77, bytes(4))), caller)

        thread = threading.Thread(target=serve)
        thread.start()
        assert dns.time_to_live(NAME, "127.0.0.1", server.getsockname()[1]) == 77
        thread.join()


def test_the_name_server_of_this_machine() -> None:
    assert dns.name_server("# a comment\nsearch example.org\nnameserver 10.0.0.2\nnameserver 10.0.0.3\n") == "10.0.0.2"
    assert dns.name_server("") == dns.name_server("nameserver\n") == ""


def test_a_name_is_looked_up_before_its_first_request_and_again_when_it_may_have_moved(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lookups: Counter[str] = Counter()
    place = ["127.0.0.1"]

    def look_up(name: str) -> list[str]:
        lookups[name] += 1
        return list(place)

    monkeypatch.setattr(names, "addresses_of", look_up)
    monkeypatch.setattr(dns, "name_server", lambda text: "127.0.0.1")
    monkeypatch.setattr(dns, "time_to_live", lambda name, server: 3600.0)
    page = {"/": b"here"}
    with (
        PageServer(page) as here,
        PageServer({"/": b"there"}, where=("127.0.0.2", here.port)) as there,
        closing(Loop()) as loop,
        closing(CurlFetcher(Settings(allow_private=True), loop)) as fetcher,
    ):
        assert there.port == here.port and fetcher._names is not None
        origin = f"http://{NAME}:{here.port}"
        fetcher.expect(origin)
        fetcher.expect("http://127.0.0.1")  # needs no look-up
        until(lambda: loop.wait(0.1) or fetcher._names.known(NAME))

        def answer() -> Response:
            response = fetcher.start(Request(origin + "/", False, 1000, headers=(("Connection", "close"),)))
            until(lambda: loop.wait(0.1) or response in fetcher.finished())
            return response

        assert [answer().body for _ in range(3)] == [b"here"] * 3  # no resolver knows the name
        assert lookups == {NAME: 1}
        place[0] = "127.0.0.2"
        fetcher._names._answers[NAME] = (0.0, ["127.0.0.1"])  # its time is over
        until(lambda: fetcher.expect(origin) or loop.wait(0.1) or fetcher._names.known(NAME))
        first = answer()
        assert first.body == b"there" and first.connected > 0
        assert 0 <= first.looked_up < first.seconds


@pytest.mark.parametrize("kind", ["http", "socks5"])
@pytest.mark.parametrize("late", [["10.0.0.7"], ["93.184.216.34"]])
def test_nothing_is_sent_through_a_proxy_before_its_name_is_known(
    kind: str, late: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever owns a name also decides how long its name server takes."""
    answers = threading.Event()
    monkeypatch.setattr(names, "addresses_of", lambda name: late if answers.wait(60) else [])
    monkeypatch.setattr(names, "PATIENCE", 0.05)
    with (
        PageServer({}) as server,
        closing(Loop()) as loop,
        closing(CurlFetcher(Settings(proxy=server.origin.replace("http", kind)), loop)) as fetcher,
    ):
        over: list[Response] = []
        first = fetcher.start(Request(f"http://{NAME}/", False, 1000))
        until(lambda: loop.wait(0.1) or over.extend(fetcher.finished()) or over)
        assert over == [first] and first.error == "unresolved" and not first.hopeless
        answers.set()
        assert fetcher._names is not None
        until(lambda: loop.wait(0.1) or fetcher._names.known(NAME))
        assert fetcher._names.known(NAME) == late  # for the next try
        assert not server.asked
