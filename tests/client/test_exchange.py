"""The archive contains exactly the request and the response."""

from sanderling.client.exchange import common_headers, exchange_of
from sanderling.client.fetch import Fetch
from sanderling.client.fetcher import Request, Response
from sanderling.client.polite_host import PoliteHost
from sanderling.settings import Settings
from tests.client.fakes import task

SETTINGS = Settings(user_agent="Bird/1", contact="")
URL = "http://e.org/find?x=1"


def sent(request: Request) -> bytes:
    fetch = Fetch(task(request.url), PoliteHost("http://e.org", True, SETTINGS), request)
    fetch.response = Response()
    fetch.response.status, fetch.response.lines = 200, [b"HTTP/1.1 200 OK"]
    return exchange_of(fetch, common_headers(SETTINGS), [], b"", "text/html").request


def test_a_page_with_its_conditions() -> None:
    said = sent(Request(URL, True, 100, headers=(("If-None-Match", '"7"'),)))
    head = b'GET /find?x=1 HTTP/1.1\r\nHost: e.org\r\nIf-None-Match: "7"\r\nUser-Agent: Bird/1\r\n'
    assert said == head + b"Accept: text/html,application/xhtml+xml,*/*;q=0.8\r\n\r\n"


def test_a_form_with_its_body() -> None:
    said = sent(Request(URL, True, 100, method="POST", body=b"q=sand"))
    assert said.startswith(b"POST /find?x=1 HTTP/1.1\r\n") and said.endswith(b"\r\n\r\nq=sand")
