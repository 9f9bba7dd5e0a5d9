"""Gives a document other addresses: for replay from an archive, and for copies on a disk.

The text around the addresses stays as it is. What would lead out, or run, is taken away: scripts,
automatic redirects, and policies and checksums that were made for the original addresses.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

from sanderling.documents.html import HtmlPage, readable_page
from sanderling.documents.requisites import (
    ADDRESSES,
    IMAGE_SET,
    IMPORT,
    LAZY,
    LAZY_TAGS,
    MOST_SETS,
    QUOTED,
    RELATIONS,
    SETS,
    URL,
    in_parentheses,
    unescaped,
)
from sanderling.documents.tree import Element
from sanderling.urls import WEB, join

# What a page says to its browser and not to its readers.
_OUT = ("script", "base", "noscript")
_POLICIES = {
    "content-security-policy",
    "refresh",
    "x-frame-options",
    "set-cookie",
    "content-security-policy-report-only",
}
# Relations that have a browser fetch something early, or for other windows.
_EARLY = {"preload", "modulepreload", "prefetch", "preconnect", "dns-prefetch", "manifest"}
_CHECKS = ("integrity", "crossorigin", "nonce", "ping")
# Frames whose documents are written in an attribute, one in the other.
_DEEPEST_FRAME = 3


# What a script drew on a canvas, as the browser's reader writes it down.
DRAWN = "data-sanderling-picture"


class Targets(NamedTuple):
    """Makes the new address of a page that a link leads to, and of a file that a page needs."""

    page: Callable[[str], str]
    file: Callable[[str], str]


def rewritten_page(page: HtmlPage, to: Targets, rendered: bool = False, depth: int = 0) -> str:
    """The page as HTML. Of a `rendered` page, what it says to browsers without scripts is taken
    away, too. The page is changed."""
    document = page.document
    root = document.find("base")
    base = (join(page.url, root.attr("href") or "") if root is not None else None) or page.url
    for element in document.find_all([*(_OUT if rendered else _OUT[:2])]):
        element.decompose()
    for element in document.find_all("meta"):
        if (element.attr("http-equiv") or "").lower() in _POLICIES:
            element.decompose()
    for element in document.select("[style]"):
        element.attrs["style"] = rewritten_stylesheet(element.attr("style") or "", base, to)
    for element in document.find_all("style"):
        element.set_text(rewritten_stylesheet(element.text, base, to))
    for element in document.find_all("link"):
        rels = set((element.attr("rel") or "").lower().split()) - _EARLY
        if rels.isdisjoint(RELATIONS):
            element.decompose()
        else:
            element.attrs["rel"] = " ".join(sorted(rels))
            element.attrs["href"] = _moved(element.attr("href"), base, to.file)
    for element in document.iter_elements(("a", "area")):
        element.attrs.pop("target", None)
        for name in ("href", "xlink:href"):
            if href := element.attr(name):
                element.attrs[name] = _moved(href, base, to.page)
    for element in document.find_all("form"):
        element.attrs.pop("action", None)
    for element in document.iter_elements(LAZY_TAGS):
        _put_in_place(element)
    for element in document.select(f"canvas[{DRAWN}]"):
        drawn = element.attrs.pop(DRAWN) or ""
        element.attrs["style"] = f"{element.attr('style') or ''};background:url({drawn}) 0 0/100% 100% no-repeat"
    for element in document.iter_elements((*ADDRESSES, "feImage")):
        for name in ADDRESSES[element.tag.lower()]:
            if value := element.attr(name):
                element.attrs[name] = _moved(value, base, to.file)
        if (name := SETS.get(element.tag, "")) and (listed := element.attr(name)):
            element.attrs[name] = rewritten_set(listed, base, to)
        if element.tag == "iframe" and depth < _DEEPEST_FRAME and (written := element.attr("srcdoc")):
            inner = readable_page(written, None, base)
            element.attrs["srcdoc"] = rewritten_page(inner, to, rendered, depth + 1) if inner is not None else ""
    for element in document.select(",".join(f"[{name}]" for name in _CHECKS)):
        for name in _CHECKS:
            element.attrs.pop(name, None)
    return document.html


def _put_in_place(element: Element) -> None:
    """Shows what a script would show when its place comes into view."""
    lazy = {of: value for name, of in LAZY.items() if (value := element.attr(name))}
    shown = element.attr("src") or element.attr("srcset") or "data:"
    # Beside an image that is lazy, what readers without scripts see instead stands often.
    if lazy and shown.startswith(("data:", "about:")) and not _has_substitute(element):
        element.attrs.update(lazy)


def _has_substitute(element: Element) -> bool:
    following = next((each for each in element.next_siblings if isinstance(each, Element)), None)
    return following is not None and following.tag == "noscript"


def rewritten_stylesheet(text: str, base: str, to: Targets) -> str:
    """A style sheet with other addresses."""

    def moved(found: "re.Match[str]") -> str:
        written = next(filter(None, found.groups()), "")
        address = _moved(unescaped(written), base, to.file)
        return f'url("{_quoted(address)}"' if found[0][:1] in "uU" else f'@import "{_quoted(address)}"'

    if "image-set(" in text:
        text = _with_urls(text)
    return IMPORT.sub(moved, URL.sub(moved, text)) if "url(" in text.lower() or "@import" in text.lower() else text


def rewritten_set(listed: str, base: str, to: Targets) -> str:
    """The `srcset` of an image with other addresses, in the order and with the descriptors it
    had."""
    found, at = [], 0
    while at < len(listed):
        candidate = _CANDIDATE.match(listed, at)
        if candidate is None or candidate.end() == at:
            break
        at = candidate.end()
        address, descriptor = candidate[1].rstrip(","), candidate[2] or ""
        if address:
            found.append(f"{_moved(address, base, to.file)} {descriptor.strip()}".strip())
    return ", ".join(found)


# An address up to a space, and its descriptor up to a comma, unless the address ends in one.
_CANDIDATE = re.compile(r"[\s,]*(\S+,(?=\s|$)|\S+)((?<!,)\s[^,]*)?")


def _with_urls(text: str) -> str:
    """With the strings in `image-set()` as `url()`, which has the same meaning."""
    parts: list[str] = []
    last = 0
    for number, found in enumerate(IMAGE_SET.finditer(text)):
        if number >= MOST_SETS or found.start() < last:
            break
        inside = in_parentheses(text, found.end())
        # In strings that stand in `url()` already nothing is to be done.
        named = inside if "url(" in inside.lower() else QUOTED.sub(_as_url, inside)
        parts += [text[last : found.end()], named]
        last = found.end() + len(inside)
    return "".join([*parts, text[last:]])


def _as_url(quoted: "re.Match[str]") -> str:
    return f"url({quoted[0]})" if quoted[1] or quoted[2] else quoted[0]


def _moved(written: str | None, base: str, move: Callable[[str], str]) -> str:
    """The new address of what is written in a document. A place in the same document stays, and so
    does data."""
    address = (written or "").strip()
    if not address or address[0] == "#" or address[:5].lower() == "data:":
        return address
    target = join(base, address)
    if target is None or not target.startswith(WEB):
        return "about:invalid" if address.partition(":")[0].lower() in ("javascript", "file", "blob") else address
    _, mark, fragment = address.partition("#")
    return move(target) + mark + fragment


def _quoted(address: str) -> str:
    return address.replace("\\", "%5C").replace('"', "%22").replace("\n", "")
