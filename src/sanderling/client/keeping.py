"""Which bodies are kept: the filter before an archive is sent or stored. What is left out stays recorded."""

import hashlib

from sanderling.model import Exchange
from sanderling.settings import Settings
from sanderling.urls.patterns import pattern


class BodyFilter:
    """The user's rules, by media type and by URL."""

    def __init__(self, settings: Settings) -> None:
        self._types = tuple(each.lower() for each in settings.body_types)
        self._urls = [pattern(each) for each in settings.body_urls]

    def objection(self, url: str, mime: str) -> str:
        """Why a body is not kept; empty when it is."""
        if self._types and not mime.startswith(self._types):
            return f"type {mime or 'unknown'}"
        if self._urls and not any(each.search(url) for each in self._urls):
            return "no pattern of body_urls matches"
        return ""


def body_filter(settings: Settings) -> BodyFilter | None:
    return BodyFilter(settings) if settings.body_types or settings.body_urls else None


def without_body(exchange: Exchange, why: str) -> Exchange:
    """An exchange whose body is left out, with what it was."""
    digest = hashlib.sha1(exchange.body).hexdigest()
    notes = b"bodySize: %d\r\nbodyDigest: sha1:%b\r\nbodyLeftOut: %b\r\n" % (
        len(exchange.body), digest.encode(), why.encode("ascii", "replace"),
    )  # fmt: skip
    return exchange._replace(body=b"", truncated=True, conversion=None, notes=exchange.notes + notes)
