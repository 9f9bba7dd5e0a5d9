"""The files that a page needs to look as it does: style sheets, scripts, images, fonts, media,
frames, and the files that these need in turn.

Everything is found in what servers send, without running scripts.
"""

import json
import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from sanderling.documents.charsets import decode
from sanderling.documents.html import HtmlPage, readable_page

# A document that names more is a trap or an accident.
MOST_REQUISITES = 1000
# Frames whose documents are written in an attribute, one in the other.
_DEEPEST_FRAME = 3

# Links of these relations are files of the page. What is only prefetched is a file of another one.
RELATIONS = {
    "stylesheet", "icon", "apple-touch-icon", "apple-touch-icon-precomposed", "mask-icon", "manifest", "preload",
    "modulepreload",
}  # fmt: skip
_METAS = {
    "og:image", "og:image:url", "og:image:secure_url", "og:video", "og:video:url", "og:audio", "twitter:image",
    "twitter:image:src", "msapplication-tileimage",
}  # fmt: skip
# The attributes of each element that hold one address.
ADDRESSES = {
    "img": ("src",), "source": ("src",), "video": ("src", "poster"), "audio": ("src",), "track": ("src",),
    "embed": ("src",), "object": ("data",), "iframe": ("src",), "frame": ("src",), "input": ("src",),
    "script": ("src",), "body": ("background",), "table": ("background",), "td": ("background",),
    "th": ("background",), "use": ("href", "xlink:href"), "image": ("href", "xlink:href"),
    "feimage": ("href", "xlink:href"),
}  # fmt: skip
SETS = {"img": "srcset", "source": "srcset", "link": "imagesrcset"}
# Where pages keep addresses of images and frames that a script puts in place when they come into
# view, and of what attribute they become the value.
LAZY = {
    "data-src": "src", "data-lazy-src": "src", "data-original": "src", "data-srcset": "srcset",
    "data-lazy-srcset": "srcset", "data-poster": "poster",
}  # fmt: skip
LAZY_TAGS = ("img", "iframe", "source", "video", "audio", "embed")
# Backgrounds of any element, of which many write a class or a colour there.
_LAZY_BACKGROUNDS = ("data-bg", "data-background", "data-background-image", "data-background-video")
_FILE_NAME = re.compile(r"[^\s()'\"]+\.[a-z0-9]{3,5}(?:[?#]\S*)?", re.IGNORECASE)
_TAGS = (*ADDRESSES, "feImage", "link", "meta", "style")

# Each pattern reads on from where it is, so that none takes more than linear time.
_COMMENT = re.compile(r"/\*(?:.*?\*/|.*\Z)", re.DOTALL)
URL = re.compile(
    r"""url\(\s{0,20}(?:"([^"\n]*)"|'([^'\n]*)'|((?:\\[0-9a-fA-F]{1,6}\s?|\\.|[^"'()\s\\])*))""", re.IGNORECASE
)
IMPORT = re.compile(r"""@import\s{0,20}(?:"([^"\n]*)"|'([^'\n]*)')""", re.IGNORECASE)
_NAMESPACE = re.compile(r"@namespace[^;{}]*", re.IGNORECASE)
IMAGE_SET = re.compile(r"image-set\(", re.IGNORECASE)
_LONGEST_SET, MOST_SETS = 4000, 200
QUOTED = re.compile(r"""type\([^)]*\)|"([^"\n]*)"|'([^'\n]*)'""")
_ESCAPE = re.compile(r"\\([0-9a-fA-F]{1,6})\s?|\\(.)")
# Modules import by a path; what has none is the name of a package, which an import map resolves.
_MODULE = re.compile(
    r"""(?:\bfrom|\bimport|\bimport\s?\(|\bnew\s{1,5}URL\s?\()\s{0,5}(?:"(\.{0,2}/[^"\n\\]*|https?://[^"\n\\]*)"|'(\.{0,2}/[^'\n\\]*|https?://[^'\n\\]*)')"""
)


def of_page(page: HtmlPage, depth: int = 0) -> list[str]:
    """The addresses of the files of an HTML page as they are written, relative to its base; each
    once."""
    found: dict[str, None] = {}
    for element in page.document.iter_elements(_TAGS):
        tag = element.tag.lower()
        if tag == "link":
            if not RELATIONS.isdisjoint((element.attr("rel") or "").lower().split()):
                found[element.attr("href") or ""] = None
        elif tag == "meta":
            if (element.attr("property") or element.attr("name") or "").lower() in _METAS:
                found[element.attr("content") or ""] = None
        elif tag == "style":
            found |= dict.fromkeys(of_stylesheet(element.text))
        elif tag == "script" and not element.attr("src"):
            found |= dict.fromkeys(_of_inline_script((element.attr("type") or "").lower(), element.text))
        for name in ADDRESSES.get(tag, ()):
            found[element.attr(name) or ""] = None
        if (name := SETS.get(tag, "")) and (listed := element.attr(name)):
            found |= dict.fromkeys(of_srcset(listed))
        if tag in LAZY_TAGS:
            for name, of in LAZY.items():
                if value := element.attr(name):
                    found |= dict.fromkeys(of_srcset(value) if of == "srcset" else (value,))
        if tag == "iframe" and depth < _DEEPEST_FRAME and (written := element.attr("srcdoc")):
            inner = readable_page(written, None, page.url)
            found |= dict.fromkeys(of_page(inner, depth + 1) if inner is not None else ())
    for element in page.document.select("[style]"):
        style = element.attr("style") or ""
        if "url(" in style or "image-set(" in style:
            found |= dict.fromkeys(of_stylesheet(style))
    for element in page.document.select(",".join(f"[{name}]" for name in _LAZY_BACKGROUNDS)):
        values = (element.attr(name) or "" for name in _LAZY_BACKGROUNDS)
        found |= dict.fromkeys(each for each in values if _FILE_NAME.fullmatch(each))
    return _addresses(found)


def of_stylesheet(text: str) -> list[str]:
    """What a style sheet imports and draws, in the order it is written."""
    if "/*" in text:
        text = _COMMENT.sub(" ", text)
    if "@namespace" in text:
        text = _NAMESPACE.sub("", text)
    found = [next(filter(None, groups), "") for groups in [*IMPORT.findall(text), *URL.findall(text)]]
    for each in islice(IMAGE_SET.finditer(text), MOST_SETS):
        found += [one or other for one, other in QUOTED.findall(in_parentheses(text, each.end()))]
    return _addresses(dict.fromkeys(map(unescaped, found)))


def of_script(text: str) -> list[str]:
    """The modules that a script imports by a path."""
    if "import" not in text and "export" not in text:
        return []
    return _addresses(dict.fromkeys(one or other for one, other in _MODULE.findall(text)))


def of_manifest(text: str) -> list[str]:
    """The icons and pictures of a web app manifest."""
    try:
        manifest = json.loads(text)
    except (ValueError, RecursionError):
        return []
    return _addresses(dict.fromkeys(_sources(manifest)))


def of_playlist(text: str) -> list[str]:
    """The parts of an HLS playlist."""
    return _addresses(dict.fromkeys(line for line in map(str.strip, text.splitlines()) if line[:1] not in ("", "#")))


def of_srcset(listed: str) -> list[str]:
    """The images of all densities and widths, as the HTML standard splits them."""
    found: list[str] = []
    at = 0
    while at < len(listed) and len(found) < MOST_REQUISITES:
        while at < len(listed) and (listed[at].isspace() or listed[at] == ","):
            at += 1
        start = at
        while at < len(listed) and not listed[at].isspace():
            at += 1
        address = listed[start:at]
        if address.endswith(","):
            address = address.rstrip(",")
        else:  # up to the comma behind its descriptor
            at = listed.find(",", at) if "," in listed[at:] else len(listed)
        if address:
            found.append(address)
    return found


def requisites_of(url: str, body: bytes, mime: str, charset: str | None) -> list[str]:
    """The files that a file needs, as they are written in it."""
    if read := _READERS.get(mime):
        return read(decode(body, charset))
    if mime in ("text/html", "application/xhtml+xml", "image/svg+xml"):
        return of_page(HtmlPage(body, charset, url))
    return of_manifest(decode(body, charset)) if url.partition("?")[0].endswith(".webmanifest") else []


_READERS: dict[str, Callable[[str], list[str]]] = {
    "text/css": of_stylesheet,
    **dict.fromkeys(("text/javascript", "application/javascript", "application/x-javascript"), of_script),
    "application/manifest+json": of_manifest,
    **dict.fromkeys(("application/vnd.apple.mpegurl", "application/x-mpegurl", "audio/mpegurl"), of_playlist),
}


def _of_inline_script(kind: str, text: str) -> list[str]:
    if kind == "importmap":
        try:
            imports = json.loads(text).get("imports", {})
        except (ValueError, RecursionError, AttributeError):
            return []
        return [each for each in imports.values() if isinstance(each, str)] if isinstance(imports, dict) else []
    return of_script(text) if kind == "module" else []


def _sources(manifest: Any, depth: int = 0) -> Iterator[str]:
    """The `src` of whatever lists pictures: icons, screenshots, icons of shortcuts."""
    if depth > 5:
        return
    if isinstance(manifest, dict):
        for name, value in manifest.items():
            if name == "src" and isinstance(value, str):
                yield value
            else:
                yield from _sources(value, depth + 1)
    elif isinstance(manifest, list):
        for each in manifest[:MOST_REQUISITES]:
            yield from _sources(each, depth + 1)


def in_parentheses(text: str, start: int) -> str:
    """What stands from a place up to the parenthesis that closes there."""
    depth = 1
    for at in range(start, min(len(text), start + _LONGEST_SET)):
        depth += (text[at] == "(") - (text[at] == ")")
        if not depth:
            return text[start:at]
    return ""


def unescaped(written: str) -> str:
    """An address in a style sheet without escapes."""
    return _ESCAPE.sub(_character, written) if "\\" in written else written


def _character(escape: "re.Match[str]") -> str:
    number, character = escape.groups()
    if not number:
        return character or ""
    code = int(number, 16)
    return chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd"


def _addresses(written: dict[str, None]) -> list[str]:
    """Those that lead anywhere: no data in the address itself, no place in the same document."""
    found = [each.strip() for each in written]
    return [each for each in found if each and each[0] != "#" and each[:5].lower() != "data:"][:MOST_REQUISITES]
