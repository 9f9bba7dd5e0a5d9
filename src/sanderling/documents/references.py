"""The links of a page as its readers meet them: where each leads, to which part of the page, and
with which words."""

from collections.abc import Iterator
from typing import NamedTuple

from sanderling.documents.html import HtmlPage
from sanderling.urls import WEB, join

LONGEST_WORDS = 200

_FILES = {"img": "src", "script": "src", "source": "src", "video": "src", "audio": "src", "embed": "src"}
_PAGES = {"a": "href", "area": "href", "iframe": "src", "frame": "src"}
_PAGE_RELS, _FILE_RELS = {"next", "prev", "canonical", "alternate"}, {"stylesheet", "icon", "manifest"}
_NOT_ASKED = ("data:", "javascript:", "mailto:", "tel:", "about:", "blob:")
# Fragments that need no element: the top, text that browsers look for, and routes of applications.
_NO_PLACE = ("top", ":~:", "!", "/")


class Reference(NamedTuple):
    """One link, or one file that a page shows or runs."""

    url: str
    fragment: str
    words: str
    is_page: bool


def references(page: HtmlPage) -> Iterator[Reference]:
    """Everything a page leads to on the web, in its order."""
    base = page.head(frozenset()).base
    joined: dict[str, str | None] = {}
    for element in page.document.iter_elements((*_PAGES, *_FILES, "link")):
        tag = element.tag
        if tag == "link":
            rels = set((element.attr("rel") or "").lower().split())
            is_page, name = not rels.isdisjoint(_PAGE_RELS), "href"
            if not is_page and rels.isdisjoint(_FILE_RELS):
                continue
        else:
            is_page, name = tag in _PAGES, _PAGES.get(tag) or _FILES[tag]
        written = (element.attr(name) or "").strip()
        if not written or written.lower().startswith(_NOT_ASKED):
            continue
        target, _, fragment = written.partition("#")
        if target not in joined:
            joined[target] = join(base, target) if target else page.url
        url = joined[target]
        if url and url.startswith(WEB):
            words = (element.text if tag == "a" else "") or element.attr("alt") or element.attr("title") or ""
            yield Reference(url, fragment if is_page else "", " ".join(words.split())[:LONGEST_WORDS], is_page)


def needs_place(fragment: str) -> bool:
    """Whether a page should have an element of this name."""
    return bool(fragment) and not fragment.lower().startswith(_NO_PLACE)


def places(page: HtmlPage) -> set[str]:
    """The names of the parts of a page that a fragment can lead to."""
    found = {name for element in page.document.iter_elements() if (name := element.attr("id"))}
    found |= {name for element in page.document.find_all("a") if (name := element.attr("name"))}
    # What some sites write into their HTML, and their scripts understand.
    return found | {name.removeprefix("user-content-") for name in found}
