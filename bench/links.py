"""Links of a page and the canonical form of a URL, with the standard library only.

The crawler uses other libraries for both. So two independent implementations of the same standards
are compared, and a mistake in one of them is found.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser
from urllib.parse import quote, unquote, urljoin, urlsplit

PAGE_RELATIONS = {"next", "canonical", "alternate"}
_CONTROL_OR_SPACE = "".join(map(chr, range(0x21)))
_TAB_OR_NEWLINE = re.compile(r"[\t\n\r]")
_ESCAPE = re.compile("%[0-9A-Fa-f]{2}")
_CHARSET = re.compile(rb"""<meta[^>]+charset\s*=\s*["']?\s*([\w-]+)""", re.IGNORECASE)
# Characters that the URL Standard does not escape. quote() adds letters, digits and _.-~ and
# escapes the rest as UTF-8.
_PATH_KEEPS = "%/!$&'()*+,:;=@[]|\\"
_QUERY_KEEPS = "%/?!$&()*+,:;=@[]^`{|}\\"


class _LinkParser(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.base: str | None = None
        self.targets: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("a", "area", "link", "frame", "iframe", "base"):
            return
        # If an attribute is repeated, the first one counts.
        values = dict(reversed(attrs))
        target = values.get("src" if tag in ("frame", "iframe") else "href")
        if target is None:
            return
        if tag == "base":
            self.base = self.base if self.base is not None else target
        elif tag != "link" or _names_a_page(values.get("rel")):
            self.targets.append(target)


def _names_a_page(rel: str | None) -> bool:
    relations = set((rel or "").lower().split())
    return bool(relations & PAGE_RELATIONS) and "stylesheet" not in relations


def links(body: bytes, url: str) -> set[str]:
    """Canonical http and https URLs of the links on a page."""
    parser = _LinkParser()
    parser.feed(_decode(body))
    parser.close()
    base = canonical(url, parser.base) if parser.base is not None else url
    found = {canonical(base or url, target) for target in set(parser.targets)}
    return {link for link in found if link is not None}


def canonical(base: str, reference: str) -> str | None:
    """The WHATWG form of `reference` relative to `base`, without its fragment. None if it is not
    http(s)."""
    reference = _TAB_OR_NEWLINE.sub("", reference.strip(_CONTROL_OR_SPACE)).partition("#")[0]
    before_query, mark, query = reference.partition("?")
    try:
        parts = urlsplit(urljoin(base, before_query.replace("\\", "/") + mark + query))
        port = parts.port
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return None
    host = parts.hostname if port in (None, {"http": 80, "https": 443}[parts.scheme]) else f"{parts.hostname}:{port}"
    path = quote(_without_dots(parts.path), safe=_PATH_KEEPS)
    # For urljoin, urlsplit and the crawler, an empty query is no query. The query of the reference
    # replaces that of the base even if it is empty.
    search = query if mark else parts.query
    ending = f"?{quote(search, safe=_QUERY_KEEPS)}" if search else ""
    return f"{parts.scheme}://{host}{_ESCAPE.sub(_one_way, path + ending)}"


def _one_way(escape: re.Match[str]) -> str:
    """RFC 3986, 6.2.2: escapes in upper case, and no unnecessary escapes."""
    plain = unquote(escape[0])
    return plain if plain.isascii() and (plain.isalnum() or plain in "-._~") else escape[0].upper()


def _without_dots(path: str) -> str:
    kept: list[str] = []
    segments = path.split("/")[1:]
    for position, segment in enumerate(segments, start=1):
        plain = segment.lower().replace("%2e", ".")
        if plain == "..":
            del kept[-1:]
        elif plain != ".":
            kept.append(segment)
        if plain in (".", "..") and position == len(segments):
            kept.append("")
    return "/" + "/".join(kept)


def _decode(body: bytes) -> str:
    declared = _CHARSET.search(body, 0, 1024)
    try:
        return body.decode(declared[1].decode() if declared else "utf-8", errors="replace")
    except LookupError:
        return body.decode("latin-1")
