"""Extractors: the user's own functions that take data from pages. How they are loaded and run."""

import contextlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, overload
from urllib.parse import urlencode

from msgspec import Struct
from msgspec.structs import replace

from sanderling import plugins
from sanderling.documents.items import Items
from sanderling.errors import BadSetting
from sanderling.plugins import described
from sanderling.processes.time_limit import time_limit
from sanderling.urls import LONGEST, join, posting
from sanderling.urls.patterns import pattern

if TYPE_CHECKING:  # a command that only checks the settings need not wait for the parser
    from sanderling.documents.tree import Document

# Seconds of a processor that one extractor may take for one page.
LONGEST_RUN = 10.0
# URLs that one extractor may follow from one page.
MOST_FOLLOWED = 10_000


class Follow(Struct, frozen=True):
    """A URL that the crawl should visit, from `ReadPage.follow`."""

    url: str


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

    def follow(self, url: str, *, data: Mapping[str, Any] | None = None, json: Any = None) -> Follow:
        """What an extractor yields to have a URL visited, which may be relative to the page. With
        `data` it is a POST of a form, with `json` a POST of JSON."""
        target = join(self.url, url.strip())
        if target is None:
            raise ValueError(f"{url[:100]!r} is not a URL that can be followed")
        if data is not None and json is not None:
            raise ValueError("a request has data or json, not both")
        if data is not None:
            sent = urlencode(dict(data), doseq=True).encode()
            target = posting(target, "application/x-www-form-urlencoded", sent)
        elif json is not None:
            target = posting(target, "application/json", _json(json))
        if len(target) > LONGEST:
            raise ValueError(f"the request to {url[:100]!r} is longer than {LONGEST} characters")
        return Follow(target)

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
    from sanderling.documents.menus import implied_type
    from sanderling.documents.reading import is_document, media_type, read_document
    from sanderling.documents.unreadable import UNREADABLE

    named = {name.lower(): value for name, value in headers}
    mime, charset = media_type(named.get("content-type", "") or implied_type(url))
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


class Rules(NamedTuple):
    """What the decorator says of an extractor."""

    matches: Callable[[str], bool]
    kind: type | None
    key: tuple[str, ...]


_RULES = "_sanderling_rules"
_PLAIN = Rules(lambda url: True, None, ())


_Function = TypeVar("_Function", bound=Callable[[ReadPage], Any])


@overload
def extractor(function: _Function, /) -> _Function: ...


@overload
def extractor(
    *urls: str, item: type | None = None, key: str | Iterable[str] = ()
) -> Callable[[_Function], _Function]: ...


def extractor(*urls: Any, item: type | None = None, key: str | Iterable[str] = ()) -> Any:
    """Says which pages an extractor is for, and what its items are.

    It is for pages whose URL matches one of the patterns (RE2 syntax), or for all without any.
    Items have to fit the type `item`: a dataclass, a msgspec Struct, a TypedDict or a pydantic
    model. Items with the same values of `key` are one.
    """
    if len(urls) == 1 and callable(urls[0]):
        return extractor()(urls[0])
    patterns = [pattern(each) for each in urls]
    rules = Rules(
        (lambda url: any(each.search(url) for each in patterns)) if patterns else _PLAIN.matches,
        item, (key,) if isinstance(key, str) else tuple(key),
    )  # fmt: skip

    def decorate(function: Callable[[ReadPage], Any]) -> Callable[[ReadPage], Any]:
        setattr(function, _RULES, rules)
        return function

    return decorate


class Extractor(NamedTuple):
    """A loaded extractor."""

    name: str  # its data is stored under this name
    given: str  # as the settings name it
    function: Callable[[ReadPage], Any]

    @property
    def rules(self) -> Rules:
        found: Rules = getattr(self.function, _RULES, _PLAIN)
        return found


class Extracted(NamedTuple):
    """The data of all extractors for a page as one JSON object, the errors of those that failed,
    and the URLs that they follow."""

    data: bytes
    failed: dict[str, str]
    followed: list[str] = []  # noqa: RUF012 (never changed)


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
    data: dict[str, Any] = {}
    failed: dict[str, str] = {}
    followed: dict[str, None] = {}
    for each in extractors:
        if each.rules.matches(page.url):
            found, urls, error = run(each, page)
            if found is not None:
                data[each.name] = found
            if error is not None:
                failed[each.given] = described(error)
            followed |= dict.fromkeys(urls)
    encoded = json.dumps(data, ensure_ascii=False).encode("utf-8", "replace") if data else b""
    return Extracted(encoded, failed, [*followed])


class Run(NamedTuple):
    """What one extractor made of a page."""

    data: Any  # its item, or a list of items if it makes several; None if there are none
    followed: list[str]
    error: BaseException | None  # the first; items before and after one that is wrong are kept


def run(extractor: Extractor, page: ReadPage) -> Run:
    """Runs one extractor on a page."""
    items = Items(extractor.rules.kind, extractor.rules.key)
    followed: dict[str, None] = {}
    error: BaseException | None = None
    several = False
    try:
        with time_limit(LONGEST_RUN):
            returned = extractor.function(page)
            several = isinstance(returned, list | tuple | Iterator)
            for each in returned if several else (returned,):
                if isinstance(each, Follow):
                    followed[each.url] = None
                    if len(followed) > MOST_FOLLOWED:
                        raise ValueError(f"it follows more than {MOST_FOLLOWED:,} URLs")
                elif each is not None:
                    wrong = _taken(items, each)
                    error = error or wrong
    except Exception as raised:  # the user's code can raise anything
        return Run(None, [*followed], raised)
    found = items.found if several else next(iter(items.found), None)
    return Run(found or None if several else found, [*followed], error)


def _taken(items: Items, item: Any) -> Exception | None:
    try:
        items.take(item)
    except Exception as error:  # also what a type of the user raises
        if items.full:
            raise
        return error
    return None


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()
