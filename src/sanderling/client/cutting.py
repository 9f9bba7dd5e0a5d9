"""Ends the transfer of a page when its beginning shows that it is not on the topic of the crawl.

The beginning of a body is judged after 16 KiB, and again each time it has doubled, until there is
enough text. It ends with a whole tag. So it is the same however the bytes arrive, and a later visit
recognises it by its digest: a page that begins as it did is cut again and counts as unchanged. Any
other page that is visited again is loaded whole. Otherwise the cut would look like a change.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from xxhash import xxh3_128_digest

from sanderling.client.fetcher import Request
from sanderling.documents.html import HtmlPage
from sanderling.documents.reading import media_type
from sanderling.documents.unreadable import UNREADABLE
from sanderling.header_values import whole_number

if TYPE_CHECKING:  # loaded only by crawls with a topic
    from sanderling.topics.judging import Judge

FIRST, LAST = 16 * 1024, 256 * 1024
# Characters of text without which nothing is said about a page.
ENOUGH = 1000
# A page with less than this share of `relatedness` is hopeless. A topic of words gives 0.1 to pages
# without any of them.
HOPELESS = 0.25
# A compressed body becomes about this many times as long.
_UNPACKED = 4
_HTML = ("text/html", "application/xhtml+xml")


class Cutter:
    """Judges the beginnings of pages. `mark` is told which page is parsed, as by the reader."""

    def __init__(self, judge: "Judge", relatedness: float, mark: Callable[[int], None]) -> None:
        self._judge = judge
        self._least = HOPELESS * relatedness
        self._mark = mark

    def first_look(self, request: Request) -> int:
        """After how many bytes a body is looked at first; 0 for one that is no page."""
        return FIRST if request.renderable and "#" not in request.url else 0

    def next_look(self, at: int) -> int:
        return 2 * at if at < LAST else 0

    def kept(self, request: Request, lines: Sequence[bytes], body: bytes) -> bytes:
        """What is kept of a page that is cut here; nothing if it is to be loaded further."""
        said = _head(lines)
        mime, charset = media_type(said.get(b"content-type", b"").decode("latin-1"))
        if said.get(b":status") != b"200" or mime not in _HTML or _nearly_here(said):
            return b""
        kept = beginning(body, len(body))
        if request.digest and xxh3_128_digest(kept) != request.digest:
            return b""
        self._mark(request.id)
        try:
            page = HtmlPage(kept, charset, request.url)
            title, (text, linked) = page.title(), page.text_and_links(spent=True)
        except UNREADABLE:
            return b""
        finally:
            self._mark(0)
        hopeless = len(text) >= ENOUGH and self._judge.page(title, text, linked) < self._least
        return kept if hopeless else b""


def looks(length: int) -> Iterator[int]:
    """After how many bytes a body of this length is looked at."""
    at = FIRST
    while at <= min(length, LAST):
        yield at
        at *= 2


def beginning(body: bytes, length: int) -> bytes:
    """As much of the first bytes as ends with a tag."""
    return body[: body.rfind(b">", 0, length) + 1] or body[:length]


def completes(body: bytes, digest: bytes) -> bool:
    """Whether a page is the one that was cut short when this digest was made of it."""
    return any(xxh3_128_digest(beginning(body, length)) == digest for length in looks(len(body)))


def _head(lines: Sequence[bytes]) -> dict[bytes, bytes]:
    """The headers of the last head among the lines, and its status as `:status`."""
    found: dict[bytes, bytes] = {}
    for line in lines:
        if line.startswith(b"HTTP/"):
            found = {b":status": line.split(b" ", 2)[1].strip()}
        else:
            name, _, value = line.partition(b":")
            found[name.strip().lower()] = value.strip()
    return found


def _nearly_here(said: dict[bytes, bytes]) -> bool:
    """Whether the rest is so short that a new connection, which a cut makes necessary, would cost
    more."""
    length = whole_number(said.get(b"content-length", b""))
    packed = said.get(b"content-encoding", b"identity").lower() != b"identity"
    return length is not None and length * (_UNPACKED if packed else 1) < 2 * FIRST
