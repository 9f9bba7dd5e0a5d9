"""A response with what its headers say, and what a client makes of it before it is archived."""

from collections.abc import Callable
from typing import NamedTuple

from sanderling.client.fetch import Fetch
from sanderling.client.fetcher import Response
from sanderling.documents.menus import implied_type
from sanderling.documents.reading import media_type
from sanderling.model import Exchange, Visit

# Makes the fingerprint of a page from its text and its packed links.
Condense = Callable[[str, bytes], bytes]

REDIRECTS = (301, 302, 303, 307, 308)
PERMANENT = (301, 308)


class Arrival(NamedTuple):
    """A response that came. Of a rendered page, the body is what the browser made of it."""

    fetch: Fetch
    headers: list[tuple[bytes, bytes]]
    known: dict[bytes, str]  # the headers by name, in small letters
    body: bytes
    mime: str
    charset: str | None


class ParsedVisit(NamedTuple):
    """A visit before its text is sketched and its response is archived."""

    visit: Visit
    url: str
    words: str | None = None
    exchange: Exchange | None = None
    condense: Condense | None = None


def arrival_of(fetch: Fetch) -> Arrival:
    response = fetch.response
    headers = response.headers()
    known = {name.lower(): value.decode("utf-8", "replace") for name, value in headers}
    if not is_lasting(known.get(b"last-modified", ""), known.get(b"date", "")):
        known.pop(b"last-modified", None)
    rendered = response.rendered
    if response.not_rendered:  # its next visit needs the document, to render it
        known.pop(b"etag", None)
        known.pop(b"last-modified", None)
    if rendered is None:
        said = known.get(b"content-type", "") or implied_type(fetch.task.url)
        return Arrival(fetch, headers, known, response.body, *media_type(said))
    # What was rendered has no validators: another DOM may come from the same document.
    known.pop(b"last-modified", None)
    known[b"etag"] = rendered.made_from
    return Arrival(fetch, headers, known, rendered.html, "text/html", "utf-8")


def is_lasting(modified: str, date: str) -> bool:
    """Whether a Last-Modified date can tell this content from later content. It counts whole
    seconds: what was modified in the second of the response may be modified in it once more, and
    the answer to If-Modified-Since would be 304 for ever (RFC 9110, 8.8.2.2)."""
    return modified != date


def is_success(status: int) -> bool:
    return 200 <= status < 300


def has_page(response: Response) -> bool:
    """Whether a response is a page: by its status, or because a browser shows one for it."""
    return is_success(response.status) or response.rendered is not None


def status_of(response: Response) -> int:
    """The status of a page. One that a browser shows for a 404 is there; the archive keeps what the
    server said."""
    return 200 if response.status == 404 and response.rendered is not None else response.status


def is_temporary(status: int) -> bool:
    """Whether a status says that another try may bring the page."""
    return status in (408, 429) or status >= 500
