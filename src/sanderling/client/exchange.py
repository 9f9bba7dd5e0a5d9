"""A request and its response as they are archived."""

from sanderling.client.fetch import Fetch
from sanderling.model import Exchange
from sanderling.network import agent
from sanderling.settings import Settings
from sanderling.urls import origin

# These describe the bytes on the wire, not the decompressed body that is stored.
_OF_THE_WIRE = (b"content-encoding", b"transfer-encoding", b"content-length")


def common_headers(settings: Settings) -> bytes:
    """The end of every request: the headers that all requests have."""
    return f"User-Agent: {agent(settings)}\r\nAccept: text/html,application/xhtml+xml,*/*;q=0.8\r\n\r\n".encode()


def exchange_of(
    fetch: Fetch, common: bytes, headers: list[tuple[bytes, bytes]], body: bytes, mime: str, revisit: str = ""
) -> Exchange:
    request, response, url = fetch.request, fetch.response, fetch.request.url
    sent = head = b""
    if response.lines:
        home = origin(url)
        path = url[len(home) :].encode() or b"/"
        host = home.partition("://")[2].encode()
        own = "".join(f"{name}: {value}\r\n" for name, value in request.headers).encode()
        method = request.method.encode()
        sent = b"%b %b HTTP/1.1\r\nHost: %b\r\n%b%b%b" % (method, path, host, own, common, request.body)
        head = _archived_head(response.status, response.lines[0], headers, len(body))
    return Exchange(
        url, response.started, sent, head, body, mime, response.address, response.truncated, response.protocol,
        b"fetchTimeMs: %d\r\nhopsFromSeed: %d\r\n" % (response.seconds * 1000, fetch.task.depth), revisit,
    )  # fmt: skip


def _archived_head(status: int, status_line: bytes, headers: list[tuple[bytes, bytes]], size: int) -> bytes:
    """The HTTP head to store with a body that is no longer chunked or compressed.

    Headers that do not describe the stored bytes are kept under another name, as other web archives do.
    """
    phrase = b"".join(status_line.split(None, 2)[2:]).strip()
    lines = [b"HTTP/1.1 %d %b\r\n" % (status, phrase)]
    for name, value in headers:
        if name.lower() in _OF_THE_WIRE:
            name = b"X-Archive-Orig-" + name
        lines.append(b"%b: %b\r\n" % (name, value))
    lines.append(b"Content-Length: %d\r\n\r\n" % size)
    return b"".join(lines)
