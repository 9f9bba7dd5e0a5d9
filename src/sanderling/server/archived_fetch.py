"""An exchange in an archive as the fetch that it was, for the reader of fetches."""

from collections.abc import Callable

from sanderling.client.arrival import is_temporary
from sanderling.client.fetch import Fetch
from sanderling.client.fetcher import Rendered, Request, Response
from sanderling.client.keeping import SAME_TEXT
from sanderling.client.polite_host import PoliteHost
from sanderling.errors import Damaged
from sanderling.header_values import whole_number
from sanderling.model import Stored, Task
from sanderling.repository import warc
from sanderling.repository.exchanges import ArchivedExchange
from sanderling.settings import Settings
from sanderling.urls import origin

Original = warc.Archived


def archived_fetch(
    exchange: ArchivedExchange, task: Task, settings: Settings, original: Callable[[Stored], Original],
    source: Stored | None = None,
) -> Fetch | None:  # fmt: skip
    """None for an answer that says nothing about a page: an error of the server, or a revisit
    without its original.

    `original` reads the content that a revisit found unchanged, which is at `source`, else the one
    of the last visit.
    """
    known = source or task.stored
    response = Response()
    response.started = response.since = exchange.at
    response.seconds = (whole_number(exchange.note("fetchtimems")) or 0) / 1000
    response.truncated = "warc-truncated" in exchange.fields
    response.cut_short = bool(exchange.note("cutshort"))
    head, body = _parts(exchange)
    response.status = warc.status_of(head[0]) if head else 200
    if not response.status:
        return None
    if exchange.note("bodyleftout") == SAME_TEXT:
        return None
    if is_temporary(response.status) or (exchange.is_revisit and known is None and not exchange.conversion):
        return None
    if exchange.is_revisit and known is not None and response.status != 304 and not exchange.conversion:
        try:
            body = original(known).body
        except (Damaged, OSError):
            return None
    if len(body) > max(settings.max_body, settings.max_media) and not exchange.is_ours:
        return None
    response.session = int(warc.LOGIN_FIELD in exchange.fields)
    response.lines = head
    response.chunks, response.size = [body], len(body)
    fetch = Fetch(task, PoliteHost(origin(task.url), False, settings), Request(task.url, False, settings.max_body))
    fetch.response = response
    if exchange.conversion:
        cut = "warc-truncated" in warc.fields_of(exchange.conversion)
        response.rendered = Rendered(warc.parse(exchange.conversion).body, truncated=cut)
    elif exchange.note("rendering") == "same":
        if task.stored is None:
            return None
        try:
            response.rendered = Rendered(original(task.stored).body)
        except (Damaged, OSError):
            return None
    return fetch


def _parts(exchange: ArchivedExchange) -> tuple[list[bytes], bytes]:
    """The lines of the HTTP head, none for ftp and gopher, and the body."""
    _, _, block = exchange.content.partition(b"\r\n\r\n")
    block = block[: whole_number(exchange.fields.get("content-length", "")) or 0]
    if exchange.fields["warc-type"] == "resource":
        return [], block
    if not block:  # a 304, whose head is told beside it
        told = [value for name, value in exchange.notes if name in ("httpstatusline", "httpheader")]
        return [line.encode() for line in told], b""
    head, _, body = block.partition(b"\r\n\r\n")
    if exchange.fields["warc-type"] == "response" and not exchange.is_ours:
        body = warc.parse(exchange.content).body
    return head.split(b"\r\n"), body


# Media types of what pages are made of. Other programs do not say what they asked for a URL for.
_FILES = ("image/", "font/", "audio/", "video/", "text/css", "text/javascript", "application/javascript",
          "application/x-javascript", "application/font", "application/x-font", "application/wasm",
          "application/manifest+json", "application/json", "application/vnd.apple.mpegurl")  # fmt: skip


def is_file(exchange: ArchivedExchange) -> bool:
    """Whether what another program archived is a file that pages need, and no page."""
    lines, _ = _head(exchange)
    said = next((line.partition(b":")[2] for line in lines if line[:13].lower() == b"content-type:"), b"")
    mime = said.decode("latin-1") if lines else exchange.fields.get("content-type", "")
    return mime.strip().lower().startswith(_FILES)


def _head(exchange: ArchivedExchange) -> tuple[list[bytes], bytes]:
    _, _, block = exchange.content.partition(b"\r\n\r\n")
    head, _, body = block.partition(b"\r\n\r\n")
    return (head.split(b"\r\n"), body) if head.startswith(b"HTTP/") else ([], block)
