"""POST requests as URLs: what is sent stands in the fragment, as in `#*application/json:%7B%7D`.

So each request has an identity of its own, and everything that keeps a page by its URL keeps the
answer of such a request.
"""

from typing import NamedTuple
from urllib.parse import quote, unquote_to_bytes

from sanderling.urls.fragments import document_of, fragment_of

_MARK = "*"


class Posted(NamedTuple):
    """What a POST request sends."""

    mime: str
    body: bytes


def posting(url: str, mime: str, body: bytes) -> str:
    """The URL of a POST request to a canonical URL."""
    return f"{document_of(url)}#{_MARK}{mime}:{quote(body, safe='')}"


def posted(url: str) -> Posted | None:
    """What the request of a URL sends; None for a GET."""
    if "#*" not in url:
        return None
    fragment = fragment_of(url)
    mime, colon, body = fragment.removeprefix(_MARK).partition(":")
    if not fragment.startswith(_MARK) or not colon:
        return None
    return Posted(mime, unquote_to_bytes(body))
