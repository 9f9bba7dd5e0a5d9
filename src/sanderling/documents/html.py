"""Reads an HTML page: one parse, then only what is asked for."""

from collections.abc import Callable, Iterable, Set
from typing import NamedTuple, Protocol, cast

from sanderling.documents.charsets import xml_charset
from sanderling.documents.tree import Document, Element, Namespace, XPath, parse
from sanderling.documents.unreadable import UNREADABLE
from sanderling.documents.visible import NestedText, Span, text_and_links, visible_text
from sanderling.urls import join

# A deeper tree or a longer page than any reader would scroll; libraries are asked only for what
# stays within.
TITLE_LENGTH, LANGUAGE_LENGTH, ANCHOR_LENGTH = 500, 35, 200

_LINK_RELS = {"next", "prev", "canonical", "alternate"}
# Alternates that are pages or name pages. The others are machine formats of a page that is known:
# JSON, oEmbed, exports. They were more than half of all requests at WordPress.
_ALTERNATE = {"alternate"}
_PAGE_TYPES = {"", "text/html", "application/xhtml+xml", "application/rss+xml", "application/atom+xml"}
_BESIDE_ANCHORS = ("area", "frame", "iframe", "link", "base", "meta")

# All in one call: to ask each element for its attribute takes two thirds longer.
_HREFS = XPath("//a/@href")
# From this many on, a table of all anchors is cheaper than looking each up.
_MANY = 20
# Characters around a link that are about it, and as many as are read for all links of a page.
LONGEST_AROUND, MOST_AROUND = 400, 256 * 1024


class Head(NamedTuple):
    """What a page says about itself, and the links beside its anchors."""

    base: str
    hrefs: list[str]
    nofollow: bool
    noindex: bool
    refresh: str | None
    canonical: str


class Attributed(Protocol):
    """A tag with its attributes."""

    @property
    def tag(self) -> str: ...

    def attr(self, name: str, /) -> str | None: ...


def head_of(
    url: str,
    elements: Iterable[Attributed],
    refresh: Callable[[str], str | None],
    names: Set[str],
    follow_nofollow: bool,
) -> Head:
    """What elements beside the anchors say; `refresh` tells where the page leads by itself, if it
    does."""
    base, hrefs, directives, refreshes, canonical = url, [], "", False, ""
    for element in elements:
        tag = element.tag
        if tag == "link":
            rel = (element.attr("rel") or "").lower()
            rels = _LINK_RELS.intersection(rel.split())
            if rels and "stylesheet" not in rel and (rels != _ALTERNATE or _leads_to_pages(element)):
                hrefs.append(element.attr("href") or "")
                if not canonical and "canonical" in rels:
                    canonical = hrefs[-1]
        elif tag == "meta":
            if (name := (element.attr("name") or "").lower()) == "robots" or name in names:
                directives += "," + (element.attr("content") or "").lower()
            elif (element.attr("http-equiv") or "").lower() == "refresh":
                refreshes = True
        elif tag == "base":
            if base is url and element.attr("href"):
                base = join(url, element.attr("href") or "") or base
        elif tag != "area":
            hrefs.append(element.attr("src") or "")
        elif follow_nofollow or not _says_nofollow(element):
            hrefs.append(element.attr("href") or "")
    words = {word.strip() for word in directives.split(",")}
    leads = refresh(base) if refreshes else None
    return Head(base, hrefs, not words.isdisjoint(_NOFOLLOW), not words.isdisjoint(_NOINDEX), leads, canonical)


class HtmlPage:
    """A parsed page at a URL."""

    def __init__(self, body: bytes | str | Document, charset: str | None, url: str) -> None:
        self.url = url
        self.document = body if isinstance(body, Document) else self._parse(body, charset)
        self.charset = (self.document.encoding or charset or "utf-8").lower()

    @staticmethod
    def _parse(body: bytes | str, charset: str | None) -> Document:
        # WHATWG order: byte-order mark, the header's charset, the meta tag, the XML declaration,
        # then detection.
        try:
            return parse(body, charset, xml_charset(body) if isinstance(body, bytes) else None)
        except LookupError:  # an unknown charset
            return parse(body)

    def title(self) -> str:
        """The page's own; drawings in it may have titles, too."""
        element = self.document.find("title")
        if element is not None and element.namespace is not Namespace.HTML:
            element = next((e for e in self.document.find_all("title") if e.namespace is Namespace.HTML), None)
        return one_line(element.text, TITLE_LENGTH) if element is not None else ""

    def language(self) -> str:
        root = self.document.root
        return ((root.attr("lang") or root.attr("xml:lang") or "") if root is not None else "")[:LANGUAGE_LENGTH]

    def text(self, spent: bool = False) -> str:
        """The visible text, a block a line; in less time when it is the last thing that is asked
        for."""
        return visible_text(self.document, spent)

    def text_and_links(self, spent: bool = False) -> tuple[str, list[Span]]:
        """The same, and where links stand in it."""
        return text_and_links(self.document, spent)

    def head(self, names: Set[str], follow_nofollow: bool = False) -> Head:
        """Base, link elements, frames, image maps and the directives for all robots and for those
        of these names."""
        return head_of(self.url, self.document.iter_elements(_BESIDE_ANCHORS), self._refresh, names, follow_nofollow)

    def _refresh(self, base: str) -> str | None:
        found = self.document.meta_refresh(base)
        return found[1] if found else None

    def hrefs(self, follow_nofollow: bool) -> list[str]:
        """Where the anchors lead, in their order."""
        if follow_nofollow or self.document.select_one('a[rel~="nofollow" i]') is None:
            return cast(list[str], _HREFS(self.document))
        anchors = [(e.attr("href"), e) for e in self.document.find_all("a")]
        return [href for href, e in anchors if href is not None and not _says_nofollow(e)]

    def anchor_texts(self, hrefs: list[str]) -> list[str]:
        """For each href the text of the first anchor that has it."""
        texts = NestedText()
        return [_anchor_text(anchor, texts) for anchor in self._anchors(hrefs)]

    def anchor_surroundings(self, hrefs: list[str]) -> list[tuple[str, str]]:
        """The same with the text of the element that each anchor stands in, if it is short enough
        to be about the anchor."""
        texts, around = NestedText(), NestedText(MOST_AROUND)
        found = []
        for anchor in self._anchors(hrefs):
            parent = anchor.parent if anchor is not None else None
            beside = around.of(parent) if isinstance(parent, Element) else ""
            found.append((_anchor_text(anchor, texts), beside if len(beside) <= LONGEST_AROUND else ""))
        return found

    def _anchors(self, hrefs: list[str]) -> "list[Element | None]":
        if len(hrefs) < _MANY:
            return [self.document.find("a", attrs={"href": href}) for href in hrefs]
        first = {element.attr("href"): element for element in reversed(self.document.find_all("a"))}
        return [first.get(href) for href in hrefs]

    def images(self) -> list[str]:
        """Where the images are that the page shows."""
        return [src for e in self.document.find_all("img") if (src := e.attr("src")) and not src.startswith("data:")]


def readable_page(body: bytes | str, charset: str | None, url: str) -> HtmlPage | None:
    """A parsed page; None for one that no parser should or can read."""
    try:
        return HtmlPage(body, charset, url)
    except UNREADABLE:
        return None


class Anchor(NamedTuple):
    """A link on a page."""

    url: str
    text: str  # the words that it stands on
    nofollow: bool


def anchors_of(document: Document, url: str) -> list[Anchor]:
    """The links of a page at a URL in their order, as often as they stand there."""
    texts, base = NestedText(), document.base_url(url)
    found = ((element, join(base, element.attr("href") or "")) for element in document.iter_elements(("a",)))
    return [
        Anchor(target, " ".join(texts.of(element).split()), _says_nofollow(element))
        for element, target in found
        if target and element.attr("href") is not None
    ]


def one_line(text: str, length: int) -> str:
    """The beginning of a text, its white space collapsed."""
    return " ".join(text.split())[:length]


def _anchor_text(anchor: "Element | None", texts: NestedText) -> str:
    return one_line(texts.of(anchor), ANCHOR_LENGTH) if anchor is not None else ""


def _leads_to_pages(alternate: Attributed) -> bool:
    return (alternate.attr("type") or "").partition(";")[0].strip().lower() in _PAGE_TYPES


def _says_nofollow(link: Attributed) -> bool:
    return "nofollow" in (link.attr("rel") or "").lower().split()


_NOFOLLOW = {"nofollow", "none"}
_NOINDEX = {"noindex", "none"}


def directives(headers: Iterable[str], names: Set[str]) -> tuple[bool, bool]:
    """Whether X-Robots-Tag headers say nofollow and noindex to everyone or to a robot of these
    names."""
    nofollow = noindex = False
    for header in headers:
        # "noindex, nofollow" is for all, "somebot: noindex" for one; a date behind a colon names
        # nobody.
        agent, colon, rest = header.lower().partition(":")
        if not colon or "," in agent:
            rest = header.lower()
        elif (name := agent.strip()) != "*" and name not in names:
            continue
        words = {word.strip() for word in rest.split(",")}
        nofollow |= not words.isdisjoint(_NOFOLLOW)
        noindex |= not words.isdisjoint(_NOINDEX)
    return nofollow, noindex
