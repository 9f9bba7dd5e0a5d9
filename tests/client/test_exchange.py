"""The archive contains exactly the request and the response."""

import socket
from contextlib import closing

import pytest

from sanderling.client.curl_fetcher import CurlFetcher
from sanderling.client.exchange import ROBOTS, exchange_of
from sanderling.client.fetch import Fetch
from sanderling.client.fetcher import Request, Response
from sanderling.client.loop import Loop
from sanderling.client.polite_host import PoliteHost
from sanderling.settings import Settings
from tests.client.fakes import task
from tests.servers import listening

SETTINGS = Settings(user_agent="Bird/1", contact="")


@pytest.mark.parametrize("cookies", [False, True])
@pytest.mark.parametrize(
    "asked",
    [
        Request("/find?x=1", True, 100, headers=(("If-None-Match", '"7"'), ("If-Modified-Since", "then"))),
        Request("/find", True, 100, method="POST", body=b"q=sand"),
    ],
)
def test_a_request_is_kept_as_it_was_sent(asked: Request, cookies: bool) -> None:
    """With cookies libcurl says what it sends, without them it is derived."""
    heard = b""

    def serve(client: socket.socket) -> None:
        nonlocal heard
        while not heard.endswith((b"\r\n\r\n", b"q=sand")) or (asked.body and asked.body not in heard):
            heard += client.recv(65536)
        client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    settings = Settings(user_agent="Bird/1", contact="", cookies=cookies, allow_private=True)
    with (
        listening(serve) as (host, port),
        closing(Loop()) as loop,
        closing(CurlFetcher(settings, loop)) as fetcher,
    ):
        response = fetcher.start(asked._replace(url=f"http://{host}:{port}{asked.url}"))
        while not fetcher.finished():
            loop.wait(1.0)
    assert not response.error
    assert response.sent == heard


def test_the_archive_says_what_a_request_was_for() -> None:
    asked = Request("http://e.org/robots.txt", True, 100)
    fetch = Fetch(task(asked.url), PoliteHost("http://e.org", True, SETTINGS), asked)
    fetch.response = Response()
    fetch.response.status, fetch.response.lines = 200, [b"HTTP/1.1 200 OK"]
    assert b"purpose" not in exchange_of(fetch, [], b"", "text/plain").notes
    assert b"purpose: robots\r\n" in exchange_of(fetch, [], b"", "text/plain", purpose=ROBOTS).notes
