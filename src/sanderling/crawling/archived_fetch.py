"""An exchange in an archive as the fetch that it was, for the reader of fetches."""

from collections.abc import Callable

from sanderling.client.arrival import is_temporary
from sanderling.client.fetch import Fetch
from sanderling.client.fetcher import Rendered, Request, Response
from sanderling.client.keeping import SAME_TEXT
from sanderling.client.polite_host import PoliteHost
from sanderling.errors import Damaged
from sanderling.model import Stored, Task
from sanderling.repository import warc
from sanderling.repository.exchanges import ArchivedExchange
from sanderling.settings import Settings
from sanderling.urls import origin

Original = warc.Archived


def archived_fetch(
    exchange: ArchivedExchange, task: Task, settings: Settings, original: Callable[[Stored], Original]
) -> Fetch | None:
    """None for an answer that says nothing about a page: an error of the server, or a revisit
    without its original.

    `original` reads the content that a revisit found unchanged.
    """
    response = Response()
    response.started = response.since = exchange.at
    response.seconds = float(exchange.note("fetchtimems") or 0) / 1000
    response.truncated = "warc-truncated" in exchange.fields
    response.cut_short = bool(exchange.note("cutshort"))
    head, body = _parts(exchange)
    response.status = int(head[0].split(b" ")[1]) if head else 200
    if exchange.note("bodyleftout") == SAME_TEXT:
        return None
    if is_temporary(response.status) or (exchange.is_revisit and task.stored is None and not exchange.conversion):
        return None
    if exchange.is_revisit and task.stored is not None and response.status != 304 and not exchange.conversion:
        try:
            body = original(task.stored).body
        except (Damaged, OSError):
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
    block = block[: int(exchange.fields["content-length"])]
    if exchange.fields["warc-type"] == "resource":
        return [], block
    if not block:  # a 304, whose head is told beside it
        told = [value for name, value in exchange.notes if name in ("httpstatusline", "httpheader")]
        return [line.encode() for line in told], b""
    head, _, body = block.partition(b"\r\n\r\n")
    return head.split(b"\r\n"), body
