"""A document read as it was when it was fetched: its text, its tree and where it leads."""

from collections.abc import Sequence

from sanderling.documents import foreign, menus, sitemaps
from sanderling.documents.charsets import decode
from sanderling.documents.flat import FlatPage
from sanderling.documents.formats import FTP_LISTING, GOPHER_MENU, Text, kind_of, read_xml
from sanderling.documents.html import Head, HtmlPage, directives
from sanderling.documents.links import LinkTable, in_charset, unpacked
from sanderling.documents.tree import Document, escape, parse
from sanderling.model import Found, Kind
from sanderling.network import names
from sanderling.processes.sandboxed import ChildFailed
from sanderling.settings import Settings
from sanderling.urls import identity


def media_type(header: str) -> tuple[str, str | None]:
    mime, _, parameters = header.partition(";")
    charset = None
    low = parameters.lower()
    start = low.find("charset=")
    if start >= 0:
        charset = parameters[start + 8 :].partition(";")[0].strip().strip("\"'") or None
    return mime.strip().lower()[:100], charset[:40] if charset else None


def as_document(text: str) -> Document:
    """Plain text as a page of it, its lines kept: each is a paragraph."""
    return parse("<pre>\n" + escape(text, quote=False))


def html_of(url: str, body: bytes, content_type: str) -> Document | None:
    """A parsed HTML page; None for other documents."""
    mime, charset = media_type(content_type)
    return HtmlPage(body, charset, url).document if kind_of(body, mime, charset) == "html" else None


def document_of(url: str, body: bytes, content_type: str) -> Document | None:
    """A document parsed as it was when it was fetched; None for one that says nothing."""
    mime, charset = media_type(content_type)
    kind = kind_of(body, mime, charset)
    if kind == "html":
        return HtmlPage(body, charset, url).document
    if kind == "text":
        return as_document(decode(body, charset))
    text = _text_of(kind, body, charset)
    return as_document(text) if text is not None else None


def links_of(document: Document, url: str, robots_tags: Sequence[str], settings: Settings) -> bytes:
    """The links of an archived page, as its visit reported them."""
    page, known_as = HtmlPage(document, None, url), names(settings)
    follow_nofollow = settings.follow_nofollow or settings.ignore_robots
    head = page.head(known_as, follow_nofollow)
    if (head.nofollow or directives(robots_tags, known_as)[0]) and not settings.ignore_robots:
        return b""
    return LinkTable().resolve(head.base, hrefs_of(page, head, follow_nofollow)[0])[0]


def hrefs_of(page: HtmlPage | FlatPage, head: Head, follow_nofollow: bool) -> tuple[list[str], dict[str, str]]:
    """Where a page leads, as browsers would ask for it; and what they spell in another way than the
    page."""
    hrefs = page.hrefs(follow_nofollow) + head.hrefs
    if head.refresh:
        hrefs.append(head.refresh)
    spelled = in_charset(hrefs, page.charset)
    return ([spelled.get(href, href) for href in hrefs] if spelled else hrefs), spelled


def visible_text(url: str, body: bytes, content_type: str) -> str:
    """The text that a reader of a document sees."""
    mime, charset = media_type(content_type)
    kind = kind_of(body, mime, charset)
    if kind == "html":
        return HtmlPage(body, charset, url).text()
    if kind == "text":
        return decode(body, charset)
    return _text_of(kind, body, charset) or ""


def _text_of(kind: str, body: bytes, charset: str | None) -> str | None:
    """What a document other than HTML says; None for one that says nothing or cannot be read."""
    try:
        return read_document(kind, body, charset).text if is_document(kind) else None
    except ChildFailed:
        return None


def is_document(kind: str) -> bool:
    """Whether there is something to read in a document of a `kind_of`, beside its characters."""
    return kind not in ("html", "text", "bytes")


def read_document(kind: str, body: bytes, charset: str | None) -> Text:
    if kind in (FTP_LISTING, GOPHER_MENU):
        return menus.read(kind, body, charset)
    return read_xml(body, charset) if kind == "xml" else foreign.read(kind, body)


def dated(url: str, body: bytes, charset: str | None, links: bytes) -> list[Found]:
    """The entries of a feed that say when they were changed."""
    linked = set(unpacked(links))
    entries = ((identity(entry), entry, at) for entry, at in sitemaps.dates(body, charset, url).items())
    return [Found(id, entry, "", Kind.PAGE, modified) for id, entry, modified in entries if id in linked]
