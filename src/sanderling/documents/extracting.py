"""Extractors: the user's own functions that take data from pages. How they are loaded and run."""

import contextlib
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from sanderling import plugins
from sanderling.errors import BadSetting
from sanderling.plugins import described
from sanderling.urls import join

if TYPE_CHECKING:  # a command that only checks the settings need not wait for the parser
    from sanderling.documents.tree import Document

# Limits for what one extractor returns for one page.
LARGEST = 64 * 1024
DEEPEST = 32


class ReadPage(Struct, frozen=True, kw_only=True):
    """A page as an extractor gets it."""

    url: str
    status: int = 200
    headers: dict[str, str] = {}  # of the response; names in lower case
    mime: str = ""
    language: str = ""
    title: str = ""
    text: str = ""  # the visible text
    tree: "Document | None" = None  # only for HTML
    body: bytes = b""  # decompressed

    def links(self) -> list[str]:
        """The URLs that the page links to, each once. Includes links marked nofollow."""
        from sanderling.documents.formats import kind_of
        from sanderling.documents.html import HtmlPage
        from sanderling.documents.reading import hrefs_of, is_document, media_type, read_document
        from sanderling.processes.sandboxed import ChildFailed

        base, hrefs = self.url, list[str]()
        if self.tree is not None:
            page = HtmlPage(self.tree, None, self.url)
            head = page.head(frozenset(), follow_nofollow=True)
            base, hrefs = head.base, hrefs_of(page, head, follow_nofollow=True)[0]
        else:
            mime, charset = media_type(self.headers.get("content-type", self.mime))
            with contextlib.suppress(ChildFailed):  # a document that cannot be read
                if is_document(kind := kind_of(self.body, mime)):
                    hrefs = read_document(kind, self.body, charset).links
        targets = dict.fromkeys(href.partition("#")[0] for href in hrefs)
        return list(dict.fromkeys(url for target in targets if target and (url := join(base, target))))


def read_page(url: str, status: int, headers: Iterable[tuple[str, str]], body: bytes) -> ReadPage:
    """Reads a page again, as the client read it when it was fetched."""
    from sanderling.documents.charsets import decode
    from sanderling.documents.formats import kind_of
    from sanderling.documents.html import HtmlPage
    from sanderling.documents.reading import is_document, media_type, read_document
    from sanderling.documents.unreadable import UNREADABLE

    named = {name.lower(): value for name, value in headers}
    mime, charset = media_type(named.get("content-type", ""))
    page = ReadPage(url=url, status=status, headers=named, mime=mime, body=body)
    try:
        kind = kind_of(body, mime)
        if kind == "html":
            html = HtmlPage(body, charset, url)
            return replace(page, language=html.language(), title=html.title(), text=html.text(), tree=html.document)
        if kind == "text":
            return replace(page, text=decode(body, charset))
        if is_document(kind):
            document = read_document(kind, body, charset)
            return replace(page, title=document.title, text=document.text)
    except UNREADABLE:
        pass  # a page that the parsers cannot read, as when it was fetched
    return page


class Extractor(NamedTuple):
    """A loaded extractor."""

    name: str  # its data is stored under this name
    given: str  # as the settings name it
    function: Callable[[ReadPage], Any]


class Extracted(NamedTuple):
    """The data of all extractors for a page as one JSON object, and the errors of those that
    failed."""

    data: bytes
    failed: dict[str, str]


def load(given: Iterable[str], folder: Path) -> list[Extractor]:
    """Loads extractors; relative paths start at the crawl folder. BadSetting says which one fails,
    and why."""
    found: dict[str, Extractor] = {}
    for each in plugins.load(plugins.EXTRACTORS, given, folder):
        extractor = Extractor(each.name, each.given, each.value)
        if other := found.get(extractor.name):
            raise BadSetting(
                f"the extractors {other.given!r} and {each.given!r} have the same name, and data is stored by name: "
                "rename one of the functions"
            )
        found[extractor.name] = extractor
    return list(found.values())


def extract(extractors: Iterable[Extractor], page: ReadPage) -> Extracted:
    """Runs extractors on a page. The failure of one does not affect the others."""
    parts: list[str] = []
    failed: dict[str, str] = {}
    for each in extractors:
        try:
            data = each.function(page)
            if data is not None:
                parts.append(f"{json.dumps(each.name)}: {_encoded(data)}")
        except Exception as error:  # the user's code can raise anything
            failed[each.given] = described(error)
    # Replaces lone surrogates, which cannot be stored.
    return Extracted(f"{{{', '.join(parts)}}}".encode("utf-8", "replace") if parts else b"", failed)


def _encoded(data: Any) -> str:
    if not isinstance(data, dict):
        raise TypeError(f"it returned {type(data).__name__} instead of a dict or None")
    _check(data, DEEPEST)
    text = json.dumps(data, ensure_ascii=False, allow_nan=False)
    if len(text.encode("utf-8", "replace")) > LARGEST:
        raise ValueError(f"it returned more than {LARGEST // 1024} KiB of JSON")
    return text


def _check(value: Any, levels: int) -> None:
    """Refuses valid JSON that other programs, the search index among them, cannot read."""
    if not levels:
        raise ValueError(f"it returned data nested more than {DEEPEST} levels deep")
    if isinstance(value, dict | list | tuple):
        for each in value.values() if isinstance(value, dict) else value:
            _check(each, levels - 1)
    elif isinstance(value, int) and not -(2**63) <= value < 2**64:
        raise ValueError("it returned an integer of more than 64 bits")
