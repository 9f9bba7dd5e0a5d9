"""Documents by what they contain, not by what they are called: HTML, XML, plain text, documents of
office programs, or just bytes."""

import re
from collections.abc import Iterable
from functools import cache
from html import unescape
from itertools import islice
from typing import NamedTuple
from urllib.parse import urljoin

from sanderling import plugins
from sanderling.documents import sitemaps
from sanderling.documents.charsets import decode, wide_charset, xml_charset
from sanderling.documents.markup import plain_markup
from sanderling.documents.office.signatures import MAGIC, office_kind
from sanderling.documents.tree import Element, HTMLParseError, parse_xml
from sanderling.documents.visible import NestedText

_MEDIA = ("image/", "audio/", "video/", "font/")
_HTML_TYPES = {"text/html", "application/xhtml+xml"}
# Our names for what FTP and Gopher servers say without a media type; `menus.py` reads them.
FTP_LISTING, GOPHER_MENU = "text/x-ftp-listing", "text/x-gopher-menu"
_TEXT_TYPES = {"application/json", "application/javascript", "application/x-javascript", ""}
_BINARY_MAGIC = (
    b"\x89PNG", b"GIF8", b"\xff\xd8\xff", b"RIFF", b"\x1f\x8b", b"PK\x03\x04", b"\x7fELF", b"OggS", b"ID3",
    b"\x00\x00\x01\x00", b"Rar!", b"7z\xbc\xaf", b"BZh", b"\xfd7zXZ", b"wOFF", b"wOF2", b"\x00asm",
)  # fmt: skip
_HTML_START = re.compile(
    rb"(?>\s+|<!--.{0,2000}?-->|<\?xml[^>]{0,200}>)*+<(?:!doctype\s+html|html|head|body|title|meta|script|style|h1|p|div|table|a|frameset)\b",
    re.IGNORECASE | re.DOTALL,
)

# How far up xml:base is looked for.
_MOST_BASES = 20
_ABSOLUTE = re.compile("https?://", re.IGNORECASE)
_TAG = re.compile("<[^<>]*>")

_NO_CONTROLS = b"\x00" + bytes(range(9, 14)) + bytes(range(27, 256))


class Text(NamedTuple):
    """What a document other than HTML says."""

    text: str
    links: list[str]
    title: str


def kind_of(body: bytes, mime: str, charset: str | None = None) -> str:
    """What the bytes are: `html`, `xml`, `text`, `bytes`, a listing or a menu, or a format of
    `office/readers.py`. The declared type only decides between kinds of text, and names a format
    that an installed package reads."""
    kind = _known_kind(body, mime, charset)
    if kind == "bytes" and mime and not mime.startswith(_MEDIA) and mime in _read_by_plugins():
        return mime
    return kind


@cache
def _read_by_plugins() -> frozenset[str]:
    """Media types for which installed packages have readers. Looked up when a process meets the
    first document of which we know nothing else."""
    return frozenset(plugins.offers(plugins.DOCUMENT_FORMATS))


def _known_kind(body: bytes, mime: str, charset: str | None) -> str:
    start = body[:4096]
    if start.startswith(MAGIC) and (format := office_kind(body)):
        return format
    if start.startswith(_BINARY_MAGIC):
        return "bytes"
    if wide := wide_charset(start, charset):
        start = start.decode(wide, "replace").encode()
    elif b"\x00" in start and mime not in _HTML_TYPES:
        return "bytes"
    if mime in _HTML_TYPES:
        return "html" if _looks_like_text(start) else "bytes"
    head = start.removeprefix(b"\xef\xbb\xbf")  # UTF-16 has become UTF-8, its mark as well
    if _HTML_START.match(head) and mime in (
        "",
        "text/plain",
        "application/octet-stream",
        "text/xml",
        "application/xml",
    ):
        return "text" if mime == "text/plain" else "html"
    if mime.endswith(("/xml", "+xml")) or head.lstrip().startswith(b"<?xml"):
        return "html" if _HTML_START.match(head) else "xml"
    if _HTML_START.match(head) and not mime.startswith("text/"):
        return "html"
    if mime in (FTP_LISTING, GOPHER_MENU) and _looks_like_text(start):
        return mime
    if mime.startswith("text/") or mime.endswith("+json") or mime in _TEXT_TYPES:
        return "text" if _looks_like_text(start) else "bytes"
    return "bytes"


def _looks_like_text(start: bytes) -> bool:
    start = start[:1024]
    return len(start.translate(None, _NO_CONTROLS)) * 20 <= len(start)


def read_xml(body: bytes, charset: str | None) -> Text:
    """Text of an XML document and the addresses in its links, feeds included."""
    charset = wide_charset(body, charset) or charset or xml_charset(body)
    markup = _without_cdata(decode(body, charset).lstrip())
    try:
        document = parse_xml(markup)
    except (HTMLParseError, ValueError, RecursionError):
        return _read_broken(body, charset, markup)
    based = "xml:base" in markup
    links, texts = [], NestedText()
    for element in document.iter_elements():
        tag = element.tag.rpartition(":")[2]
        href = element.attr("href") or element.attr("xlink:href")
        if not href and (tag in ("link", "loc") or (tag == "guid" and element.attr("isPermaLink") != "false")):
            href = texts.of(element).strip()
            if tag == "guid" and not _ABSOLUTE.match(href):
                href = ""
        if href:
            links.append(_from_base(element, href) if based else href)
        if len(links) > 50_000:
            break
    title = document.find("title")
    return Text(
        _in_lines(document.strings),
        links,
        " ".join(title.text.split())[:500] if title is not None else "",
    )


def _from_base(element: Element, href: str) -> str:
    """A link relative to the document, where elements around it say what it is relative to."""
    for around in (element, *islice(element.ancestors, _MOST_BASES)):
        base = around.attr("xml:base") if isinstance(around, Element) else None
        if base:
            try:
                href = urljoin(base, href)
            except ValueError:
                break
    return href


def _without_cdata(markup: str) -> str:
    """The same document without CDATA sections: the parser keeps what they say apart from its
    text."""
    if "<![CDATA[" not in markup:
        return markup
    return b"".join(plain_markup([markup.encode("utf-8", "replace")])).decode("utf-8", "replace")


def _read_broken(body: bytes, charset: str | None, markup: str) -> Text:
    """A feed that is not well-formed, as many are: what it lists, and what stands between its
    tags."""
    try:
        links = [entry.url for entry in sitemaps.read(body, charset)]
    except sitemaps.NotASitemap:
        return Text("", [], "")
    return Text(_in_lines(map(unescape, _TAG.split(markup))), links, "")


def _in_lines(texts: Iterable[str]) -> str:
    """What each element says on a line of its own, which is a paragraph when versions are
    compared."""
    return "\n".join(filter(None, (" ".join(text.split()) for text in texts)))
