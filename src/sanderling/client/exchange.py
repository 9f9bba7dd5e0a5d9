"""A request and its response as they are archived."""

from sanderling.client.fetch import Fetch
from sanderling.client.fetcher import Rendered
from sanderling.model import Conversion, Exchange

# Why something that is no page was asked for, as the archive says it.
ROBOTS, SITEMAP, SUBRESOURCE, ANSWER, REQUISITE = "robots", "sitemap", "subresource", "form", "requisite"

# These describe the bytes on the wire, not the decompressed body that is stored.
_OF_THE_WIRE = (b"content-encoding", b"transfer-encoding", b"content-length")


def exchange_of(
    fetch: Fetch, headers: list[tuple[bytes, bytes]], body: bytes, mime: str, revisit: str = "", purpose: str = ""
) -> Exchange:
    """`purpose` says what a request was for that is not for a page."""
    response, head = fetch.response, b""
    if response.lines:
        head = _archived_head(response.status, response.lines[0], headers, len(body))
    notes = b"fetchTimeMs: %d\r\nhopsFromSeed: %d\r\n" % (response.seconds * 1000, fetch.task.depth)
    if response.cut_short:
        notes += b"cutShort: off-topic\r\n"
    if purpose:
        notes += b"purpose: %b\r\n" % purpose.encode()
    return Exchange(
        fetch.request.url, response.started, response.sent, head, body, mime, response.address, response.truncated,
        response.protocol, notes, revisit, fetch.task.stored if revisit else None, login=bool(response.session),
        is_file=purpose in (REQUISITE, SUBRESOURCE) and fetch.request.method == "GET",
    )  # fmt: skip


def rendered_exchange(
    fetch: Fetch, headers: list[tuple[bytes, bytes]], rendered: Rendered, unchanged: bool
) -> Exchange:
    """The exchange of a page that was rendered: its document, and the DOM unless that is the one of
    the last visit."""
    response = fetch.response
    mime = response.value_of(b"content-type").partition(";")[0].strip().lower()
    # A state that was found behind its page was not asked for: its document is the one of the page.
    exchange = exchange_of(fetch, headers, response.body, mime, "same" if not response.sent else "")
    exchange = exchange._replace(original=None)  # the record of the last visit has a DOM, and no document
    if unchanged:
        return exchange._replace(notes=exchange.notes + b"rendering: same\r\n")
    notes = b"".join(b"%b: %b\r\n" % (name.encode(), value.encode()) for name, value in rendered.notes)
    robots = tuple(value for name, value in headers if name.lower() == b"x-robots-tag")
    made = Conversion(rendered.html, notes, rendered.truncated, robots, rendered.screenshot)
    return exchange._replace(conversion=made)


def _archived_head(status: int, status_line: bytes, headers: list[tuple[bytes, bytes]], size: int) -> bytes:
    """The HTTP head to store with a body that is no longer chunked or compressed.

    Headers that do not describe the stored bytes are kept under another name, as other web archives
    do.
    """
    phrase = b"".join(status_line.split(None, 2)[2:]).strip()
    lines = [b"HTTP/1.1 %d %b\r\n" % (status, phrase)]
    for name, value in headers:
        if name.lower() in _OF_THE_WIRE:
            name = b"X-Archive-Orig-" + name
        lines.append(b"%b: %b\r\n" % (name, value))
    lines.append(b"Content-Length: %d\r\n\r\n" % size)
    return b"".join(lines)
