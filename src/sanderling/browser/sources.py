"""What a rendered page was made from: its document and the answers that its scripts got.

While all of these are the same, the page is the same, and a revisit need not render it. What a page
was made from is stored where other pages have their ETag, because it serves the same purpose: like
an ETag it is left out of some visits, so that a host whose pages change in other ways is found out
(`freshness/trust.py`).
"""

import base64
import zlib
from typing import NamedTuple

import msgspec
from xxhash import xxh3_64_digest

from sanderling.client.arrival import is_lasting
from sanderling.client.fetch import MADE_FROM
from sanderling.client.fetcher import Request, Response

# More than this is not worth storing for a page.
MOST_SOURCES, LONGEST = 100, 16_000
# Kinds of files that change what a page says. Those that many pages share are checked once for all
# of them.
DATA, SHARED = ("XHR", "Fetch", "Document"), ("Script",)


class PageSource(NamedTuple):
    """One answer that a page was made from."""

    url: str
    digest: bytes  # of its status and body
    etag: str = ""
    modified: str = ""
    shared: bool = False
    headers: tuple[tuple[str, str], ...] = ()  # with which it was asked for


class MadeFrom(NamedTuple):
    """All that a page was made from."""

    document: bytes  # its digest
    sources: tuple[PageSource, ...]


def digest_of(response: Response) -> bytes:
    return xxh3_64_digest(b"%d %b" % (response.status, response.body))


def source_of(request: Request, kind: str, response: Response) -> PageSource | None:
    """The answer as a source of the page; None for what does not change what the page says."""
    if kind not in DATA and kind not in SHARED:
        return None
    etag, modified = response.value_of(b"etag"), response.value_of(b"last-modified")
    if not is_lasting(modified, response.value_of(b"date")):
        modified = ""
    headers = tuple(each for each in request.headers if each[0].lower() != "referer")
    return PageSource(request.url, digest_of(response), etag, modified, kind in SHARED, headers)


def conditions(source: PageSource) -> tuple[tuple[str, str], ...]:
    """The headers that ask for the same again, and only if it is another answer."""
    said = (("If-None-Match", source.etag), ("If-Modified-Since", source.modified))
    return (*source.headers, *((k, v) for k, v in said if v and v.isprintable() and v.isascii()))


def is_same(source: PageSource, response: Response) -> bool:
    return not response.error and (response.status == 304 or digest_of(response) == source.digest)


def encode(made: MadeFrom) -> str:
    """As it is stored; empty if it is too long."""
    if len(made.sources) > MOST_SOURCES:
        return ""
    text = MADE_FROM + base64.b64encode(zlib.compress(msgspec.msgpack.encode(made))).decode("ascii")
    return text if len(text) <= LONGEST else ""


def decode(text: str) -> MadeFrom | None:
    """What was stored; None if it is nothing of that kind."""
    try:
        packed = base64.b64decode(text.removeprefix(MADE_FROM), validate=True)
        return msgspec.msgpack.decode(zlib.decompress(packed), type=MadeFrom)
    except (ValueError, zlib.error, msgspec.DecodeError):
        return None
