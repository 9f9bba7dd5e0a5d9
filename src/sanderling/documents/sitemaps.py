"""Reads what a site says about its own URLs: sitemaps and their indexes (XML, gzip or plain text),
RSS and Atom.

These files may be malformed, so they are read as a stream of tags and not as XML: memory is
bounded by one piece, nothing is ever expanded, a file that is broken in the middle gives what
stands before, and the time is linear in what is read, of which there is a most. Declared entities,
the one thing with which XML does harm, are refused.
"""

import re
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import chain
from typing import NamedTuple

from sanderling.documents.charsets import decode, wide_charset, xml_charset
from sanderling.documents.markup import plain_markup
from sanderling.header_values import moment
from sanderling.model import Kind
from sanderling.urls import LONGEST, canonical, join

# What sitemaps.org allows in one file; the bytes are those after decompression.
MOST_ENTRIES = 50_000
MOST_BYTES = 50 * 1024**2
# A gzip file may be many in a row, each of nothing.
MOST_MEMBERS = 10_000

_PIECE = 256 * 1024
_HEAD = 64 * 1024
_TAG = re.compile(
    rb"<(/?)(?:([\w.-]{1,40}):)?(urlset|sitemapindex|rss|feed|url|sitemap|item|entry|loc|link|guid|lastmod|pubDate|updated|date)"
    rb"(\s[^<>]{0,4096})?>"
)
_HREF = re.compile(rb"""\bhref\s*=\s*["']([^"'<>]{1,8192})["']""")
_BASE = re.compile(rb"""\bxml:base\s*=\s*["']([^"'<>]{1,8192})["']""")
_REL = re.compile(rb"""\brel\s*=\s*["']([^"'<>]{0,100})["']""")
_LIST = re.compile(rb"<(?:[\w.-]{1,40}:)?(?:urlset|sitemapindex|rss|feed|RDF)\b")
_ENTITIES = re.compile(rb"<!DOCTYPE[^>\[]{0,1000}\[|<!ENTITY")
_HTML = re.compile(rb"\s*<(!doctype\s+html|html|head|body|script)\b", re.IGNORECASE)
_ENTRIES = {b"url": Kind.PAGE, b"item": Kind.PAGE, b"entry": Kind.PAGE, b"sitemap": Kind.SOURCE}
_DATES = (b"lastmod", b"pubDate", b"updated", b"date")


class SitemapEntry(NamedTuple):
    """One URL as a sitemap or feed lists it; 0 where it says nothing."""

    url: str
    kind: Kind
    modified: float


class NotASitemap(ValueError):
    """The text says why."""


def read(body: bytes, charset: str | None = None, at: str = "") -> Iterator[SitemapEntry]:
    """What a file lists, in its order, at most MOST_ENTRIES; raises NotASitemap when it is
    something else.

    `charset` is what its headers say, and `at` where it was found; links of feeds may be relative
    to that.
    """
    pieces = _in_utf_8(_pieces(body), charset)
    start = next(pieces, b"").removeprefix(b"\xef\xbb\xbf").lstrip()
    if not start.startswith(b"<"):
        if b"\x00" in start[:1024]:
            raise NotASitemap("it is no text")
        entries = _lines(start, pieces)
    else:
        pieces = plain_markup(chain([start], pieces))
        start = _head(pieces)
        if _HTML.match(start):
            raise NotASitemap("it is an HTML page")
        if not _LIST.search(start, 0, _HEAD):
            raise NotASitemap("it lists nothing")
        if _ENTITIES.search(start, 0, _HEAD):
            raise NotASitemap("it declares entities")
        entries = _tags(start, pieces, at)
    for number, entry in enumerate(entries):
        if number >= MOST_ENTRIES:
            break
        yield entry


def dates(body: bytes, charset: str | None = None, at: str = "") -> dict[str, float]:
    """When the pages that a feed or sitemap lists were changed, as far as it says."""
    try:
        return {entry.url: entry.modified for entry in read(body, charset, at) if entry.modified}
    except NotASitemap:
        return {}


def _pieces(body: bytes) -> Iterator[bytes]:
    """The bytes of a file, unpacked as far as they are asked for and never more than MOST_BYTES."""
    if not body.startswith(b"\x1f\x8b"):
        for start in range(0, min(len(body), MOST_BYTES), _PIECE):
            yield body[start : start + _PIECE]
        return
    unpacker = zlib.decompressobj(wbits=31)
    total = members = start = 0
    packed = b""
    while total < MOST_BYTES and members < MOST_MEMBERS:
        if not packed:
            packed, start = body[start : start + _PIECE], start + _PIECE
        try:
            piece = unpacker.decompress(packed, _PIECE)
        except zlib.error:
            return
        if unpacker.eof:
            packed, members = unpacker.unused_data, members + 1
            unpacker = zlib.decompressobj(wbits=31)
        elif piece or packed:
            packed = unpacker.unconsumed_tail
        else:
            return
        total += len(piece)
        yield piece


def _in_utf_8(pieces: Iterator[bytes], charset: str | None) -> Iterator[bytes]:
    """The same text in UTF-8. Others are rare enough to be read whole."""
    first = next(pieces, b"")
    said = wide_charset(first, charset) or xml_charset(first)
    if said is None or said.lower() in ("utf-8", "utf8", "us-ascii"):
        return chain([first], pieces)
    return iter([decode(b"".join((first, *pieces)), said).encode("utf-8", "replace")])


def _head(pieces: Iterator[bytes]) -> bytes:
    """As many pieces as tell what a file is."""
    taken, size = [], 0
    while size < _HEAD and (piece := next(pieces, None)) is not None:
        taken.append(piece)
        size += len(piece)
    return b"".join(taken)


def _lines(first: bytes, pieces: Iterator[bytes]) -> Iterator[SitemapEntry]:
    rest = first
    while True:
        *lines, rest = rest.split(b"\n")
        for line in lines:
            url = _url(line)
            if url:
                yield SitemapEntry(url, Kind.PAGE, 0.0)
        piece = next(pieces, None)
        if piece is None:
            break
        rest = rest[-LONGEST:] + piece
    url = _url(rest)
    if url:
        yield SitemapEntry(url, Kind.PAGE, 0.0)


def _tags(first: bytes, pieces: Iterator[bytes], at: str) -> Iterator[SitemapEntry]:
    """One entry after the other, from a window that moves over the pieces."""
    window = first
    # The entry that is being read: its kind, its namespace and what it says.
    kind: Kind | None = None
    space, url, modified, base = b"", "", 0.0, at
    last = False
    while not last:
        piece = next(pieces, None)
        last = piece is None
        # A tag and its text are read when all of it is there.
        safe = len(window) if last else max(0, len(window) - 2 * LONGEST)
        done = 0
        for tag in _TAG.finditer(window):
            if tag.start() >= safe:
                break
            done = tag.end()
            closing, prefix, name, attributes = tag[1], tag[2] or b"", tag[3], tag[4] or b""
            if name == b"feed":
                at = _base(attributes, at)
            elif name in _ENTRIES:
                if closing:
                    if kind is not None and url and prefix == space:
                        yield SitemapEntry(url, kind, modified)
                    kind = None
                else:
                    kind, space, url, modified = _ENTRIES[name], prefix, "", 0.0
                    base = _base(attributes, at)
            elif kind is None or closing:
                continue
            elif name == b"loc" and prefix == space:
                url = url or _url(_text(window, tag.end())) or ""
            elif name == b"link" and prefix in (space, b"atom"):
                href = _HREF.search(attributes)
                rel = _REL.search(attributes)
                if rel is None or rel[1] == b"alternate":
                    said = href[1] if href else _text(window, tag.end())
                    url = url or _url(said, _base(attributes, base)) or ""
            elif name == b"guid" and b"false" not in attributes:
                url = url or _url(_text(window, tag.end())) or ""
            elif name in _DATES:
                modified = max(modified, _when(_text(window, tag.end(), 100)))
        window = window[max(done, safe) :] + (piece or b"")


def _text(window: bytes, start: int, most: int = LONGEST) -> bytes:
    """The text behind a tag, up to the next one."""
    end = window.find(b"<", start, start + most)
    return window[start:end] if end >= 0 else b""


def _base(attributes: bytes, outer: str) -> str:
    """What the links in an element are relative to."""
    found = _BASE.search(attributes) if b"xml:base" in attributes else None
    return (_url(found[1], outer) or outer) if found else outer


_ENTITY = re.compile(rb"&(?:#(\d{1,7})|#x([0-9A-Fa-f]{1,6})|(lt|gt|quot|apos|amp));")
_NAMED = {b"lt": b"<", b"gt": b">", b"quot": b'"', b"apos": b"'", b"amp": b"&"}


def _meant(entity: re.Match[bytes]) -> bytes:
    decimal, hexadecimal, name = entity.groups()
    if name:
        return _NAMED[name]
    code = int(decimal) if decimal else int(hexadecimal, 16)
    return chr(code).encode("utf-8", "replace") if code < 0x110000 else entity[0]


def _url(text: bytes, base: str = "") -> str | None:
    text = text.strip()
    if b"&" in text:
        text = _ENTITY.sub(_meant, text)
    if len(text) > LONGEST or not text:
        return None
    if text[:8].lower().startswith((b"http://", b"https://")):
        return canonical(text.decode("utf-8", "replace"))
    return join(base, text.decode("utf-8", "replace")) if base else None


def _when(text: bytes) -> float:
    """Seconds since 1970 of a date by W3C or RFC 822; 0 for none."""
    said = text.decode("ascii", "replace").strip()
    try:
        at = datetime.fromisoformat(f"{said}-01" if re.fullmatch(r"\d{4}-\d\d", said) else said)
    except ValueError:
        return max(0.0, moment(said) or 0.0)
    try:
        return max(0.0, (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp())
    except (ValueError, OverflowError, OSError):
        return 0.0
