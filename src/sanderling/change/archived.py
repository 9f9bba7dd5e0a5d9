"""Takes fingerprints and excerpts of archived pages in a child process with limits. Run as a
module, this file is that child.

The server compares pages in its own loop. A page that takes a parser minutes or gigabytes must not
hold up all clients, so the server itself parses none.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Final

import msgspec

from sanderling.change import ChangeRules, focus
from sanderling.change.excerpt import excerpt
from sanderling.change.judging import Fingerprinter, chooser, fingerprinter
from sanderling.documents.parser_choice import choose
from sanderling.documents.tree import Document
from sanderling.processes.sandboxed import ChildFailed, SandboxedChild, serve
from sanderling.settings import Settings

# A page of 8 MB with 360,000 tags takes 2 s and 200 MiB.
MEMORY: Final = 1 << 30
SECONDS: Final = 4.0
# What pages that could not be read may cost a site. Its other pages are compared from their next
# version on.
MOST_LOST: Final = 10.0


class ArchivedDocument(msgspec.Struct, frozen=True, array_like=True):
    """A document, with what its server said of it."""

    url: str
    body: bytes
    content_type: str
    robots_tags: Sequence[str]


class _Request(msgspec.Struct, frozen=True, array_like=True):
    settings: bytes
    document: ArchivedDocument
    newer: ArchivedDocument | None = None  # for an excerpt of what changed
    volatile: Sequence[int] = ()


class ArchivedReader:
    """Reads archived pages the way it is done now, by the settings of a crawl."""

    def __init__(self, settings: Settings, seconds: float = SECONDS, memory: int = MEMORY) -> None:
        plain = msgspec.structs.replace(settings, login=(), webhook=(), take_at=())  # the secrets are not needed there
        self._settings = msgspec.msgpack.encode(plain)
        self._child = SandboxedChild("take-fingerprint", memory, seconds)
        self._lost: defaultdict[str, float] = defaultdict(float)  # seconds, by site

    def close(self) -> None:
        self._child.close()

    def fingerprint(self, site: str, document: ArchivedDocument) -> bytes:
        """The fingerprint of a page of a site; empty for one that cannot be read within the
        limits."""
        return self._ask(site, _Request(self._settings, document))

    def excerpt(self, site: str, older: ArchivedDocument, newer: ArchivedDocument, volatile: Iterable[int] = ()) -> str:
        """What differs between two versions in a few words; empty where that cannot be said."""
        return self._ask(site, _Request(self._settings, older, newer, tuple(volatile))).decode()

    def _ask(self, site: str, request: _Request) -> bytes:
        if self._lost[site] > MOST_LOST:
            return b""
        began = time.monotonic()
        try:
            return self._child.ask(msgspec.msgpack.encode(request))
        except ChildFailed:
            self._lost[site] += time.monotonic() - began
            return b""


@lru_cache(1)
def _settings(encoded: bytes) -> Settings:
    return msgspec.msgpack.decode(encoded, type=Settings)


@lru_cache(1)
def _readers(encoded: bytes) -> tuple[Fingerprinter, Callable[[str], ChangeRules | None]]:
    rules = _settings(encoded).rules
    return fingerprinter(rules), chooser(rules)


def _answer(request: bytes) -> bytes:
    asked = msgspec.msgpack.decode(request, type=_Request)
    choose(_settings(asked.settings).html_parser)
    document = _parsed(asked.document)
    newer = _parsed(asked.newer) if asked.newer is not None else None
    if document is None:
        return b""
    if asked.newer is None:
        return _fingerprint(asked, document)
    return _excerpt(asked, document, newer) if newer is not None else b""


def _parsed(document: ArchivedDocument) -> Document | None:
    from sanderling.documents.reading import document_of

    return document_of(document.url, document.body, document.content_type)


def _fingerprint(asked: _Request, document: Document) -> bytes:
    from sanderling.documents.reading import links_of
    from sanderling.documents.visible import visible_text

    url = asked.document.url
    links = links_of(document, url, asked.document.robots_tags, _settings(asked.settings))
    return _readers(asked.settings)[0](document, url)(visible_text(document), links)


def _excerpt(asked: _Request, older: Document, newer: Document) -> bytes:
    rules = _readers(asked.settings)[1](asked.document.url)
    before, after = (focus(each, rules) if rules else each for each in (older, newer))
    return excerpt(before, after, frozenset(asked.volatile)).encode("utf-8", "replace")


if __name__ == "__main__":
    from sanderling.documents import reading, visible  # noqa: F401  before the limits count

    serve(_answer)
