"""Requests through libcurl, whose handles are used again and again."""

import warnings
from contextlib import closing
from http.server import BaseHTTPRequestHandler

import pytest

from sanderling.client.curl_fetcher import CurlFetcher
from sanderling.client.fetcher import Request, Response
from sanderling.client.loop import Loop
from sanderling.settings import Settings
from tests.servers import PageServer, ThreadedServer
from tests.waiting import until

ANYWHERE = Settings(allow_private=True)
FORM = (("Content-Type", "application/x-www-form-urlencoded"),)


def answer(fetcher: CurlFetcher, loop: Loop, request: Request) -> Response:
    response = fetcher.start(request)
    assert until(lambda: loop.wait(0.1) or fetcher.finished()) == [response]
    return response


def test_a_handle_that_sent_a_form_is_as_good_as_new() -> None:
    received: list[tuple[str, str | None, bytes]] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            received.append((self.command, self.headers.get("Content-Type"), body))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        do_POST = do_GET

        def log_message(self, *_: object) -> None:
            pass

    with ThreadedServer(Handler) as server, closing(Loop()) as loop, closing(CurlFetcher(ANYWHERE, loop)) as fetcher:
        plain = Request(f"http://127.0.0.1:{server.port}/", True, 1000, private=("127.0.0.1",))
        form = plain._replace(method="POST", headers=FORM, body=b"q=sand")
        for request in (plain, form, form._replace(body=b""), plain):
            assert answer(fetcher, loop, request).status == 200
        assert len(fetcher._idle[False]) == 1
    assert received == [
        ("GET", None, b""),
        ("POST", FORM[0][1], b"q=sand"),
        ("POST", FORM[0][1], b""),
        ("GET", None, b""),
    ]


def test_a_response_stays_what_it_is_when_its_handle_goes_on() -> None:
    with (
        PageServer({"/a": b"a" * 500, "/b": b"b"}) as server,
        closing(Loop()) as loop,
        closing(CurlFetcher(ANYWHERE, loop)) as fetcher,
    ):
        first = answer(fetcher, loop, Request(f"{server.origin}/a", True, 400, private=("127.0.0.1",)))
        kept = (first.body, first.truncated, first.headers(), first.status)
        second = answer(fetcher, loop, Request(f"{server.origin}/b", True, 400, private=("127.0.0.1",)))
    assert (first.body, first.truncated, first.headers(), first.status) == kept
    assert (first.body, first.truncated, second.body, second.truncated) == (b"a" * 400, True, b"b", False)


def test_two_fetchers_share_a_loop() -> None:
    with (
        PageServer({"/": b"page"}) as server,
        closing(Loop()) as loop,
        closing(CurlFetcher(ANYWHERE, loop)) as one,
        closing(CurlFetcher(ANYWHERE, loop)) as other,
    ):
        request = Request(f"{server.origin}/", True, 100, private=("127.0.0.1",))
        waiting = {one.start(request), other.start(request)}
        over: set[Response] = set()
        until(lambda: loop.wait(0.1) or over.update(one.finished() + other.finished()) or over == waiting)
    assert [response.body for response in over] == [b"page", b"page"]


def test_a_connection_that_is_not_allowed_now_sends_nothing() -> None:
    with (
        PageServer({"/": b"page"}) as server,
        closing(Loop()) as loop,
        closing(CurlFetcher(Settings(by_address=True), loop)) as fetcher,
    ):
        asked: list[str] = []
        request = Request(f"{server.origin}/", True, 100, private=("127.0.0.1",))
        response = fetcher.start(request, lambda address: bool(asked.append(address)))
        assert until(lambda: loop.wait(0.1) or fetcher.finished()) == [response]
        assert (asked, server.asked) == (["127.0.0.1"], [])
        assert response.error and not response.hopeless


def test_sockets_that_are_checked_are_not_left_open(recwarn: pytest.WarningsRecorder) -> None:
    """libcurl takes a duplicate of the socket that we open for it."""
    with (
        PageServer({"/": b"here"}) as server,
        closing(Loop()) as loop,
        closing(CurlFetcher(Settings(), loop)) as fetcher,
    ):
        request = Request(server.origin + "/", True, 1000, private=("127.0.0.1",))
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            assert answer(fetcher, loop, request).body == b"here"
    assert [str(each.message) for each in recwarn if each.category is ResourceWarning] == []
