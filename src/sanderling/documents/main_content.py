"""The main content of a page: what it is about, without what frames it.

First the element is chosen that holds the content (`_root`): what the page itself names, else the
smallest element with most of the running text. Then what is not content is removed from it: what
its tags, roles and class names say to be navigation, comments and the like, and blocks that repeat
on the pages of its site (`documents/template.py`).
"""

import re
from collections.abc import Iterable, Set
from functools import lru_cache
from typing import Final

from sanderling.documents.template import trim
from sanderling.documents.tree import Document, Element
from sanderling.documents.visible import NestedText, rendered_text

_SILENT: Final = ("script", "style", "template", "noscript", "iframe", "dialog")
_FRAME: Final = ("nav", "footer", "aside", "menu", "form", "button", "select")
_FRAME_ROLES: Final = (
    "[role=navigation], [role=complementary], [role=contentinfo], [role=banner], [role=search], [role=dialog], "
    "[hidden], a.headerlink, a.anchor, a.header-anchor, a.anchorjs-link, a.hash-link"
)
_BLOCKS: Final = ("div", "section", "ul", "ol", "p", "header", "table", "figure", "details")
# Containers that content management systems and generators of documentation name alike.
_NAMED: Final = ", ".join((
    "[itemprop~=articleBody]", ".entry-content", ".post-content", ".article-content", ".article-body", ".article__body",
    ".article__content", ".articleBody", ".article-text", ".story-body", ".story-content", ".post-body", ".postbody",
    ".post-text", ".post__content", ".post_content", ".td-post-content", ".markdown-body", ".theme-doc-markdown",
    ".md-content__inner", ".article-entry", ".mw-parser-output", "#article-body", "#mw-content-text",
    "div.body[role=main]", ".bd-article", "article[role=main]", "#article-container",
))  # fmt: skip
_MAIN: Final = "main, [role=main]"
# Words in the names of classes that say what is not content. A part of a name is enough.
_NAMES: Final = (
    "comments?|commentlist|disqus|respond|sidebars?|related\\w*|recommend\\w*|shares?|sharing|share-?buttons?|sharedaddy|"
    "social\\w*|addtoany|breadcrumbs?|pagination|pager|prev|next|newsletter|subscri\\w+|signup|sign-up|cookies?|consent|"
    "promos?|promotion|advert\\w*|ads?|adsense|sponsor\\w*|toc|menu|nav|navs|navbar|navigation|footer|bottom-bar|byline|"
    "author|authors|author-\\w+|bio|tags?|taglist|tag-list|post-?meta|entry-?meta|article-?meta|meta|popular|trending|"
    "read-?more|more-?from|also|widgets?|popup|modal|skip-?link|sr-only|visually-hidden|screen-reader-text|noprint|"
    "paywall|copyright|licen[cs]e|timestamp|dateline|date|published|post-copyright|reward|outdated|jp-relatedposts"
)
_NOT_CONTENT: Final = re.compile(rf"(?:^|[\s_-])(?:{_NAMES})(?:$|[\s_-])", re.IGNORECASE)
# A container with less text than this is not the content of a page that has more.
_LEAST: Final = 200
# Of the text of its surroundings.
_DOMINANT: Final = 0.6
# What seems no content and has a larger share of the text is content after all: `has-sidebar` is a
# class of whole pages.
_MOST_REMOVED: Final = 0.4
_PARAGRAPHS: Final = ("p", "pre", "blockquote")
_LONG_PARAGRAPH: Final = 60
_MOST_OF_IT: Final = 0.85
# Pages that keep less than this share of their text were misjudged.
_LEAST_KEPT: Final = 0.1


def keep_main(document: Document, repeated: Set[int] = frozenset()) -> Document | Element:
    """The part of a page that holds its main content. What frames it is removed from the tree.

    `repeated` are the blocks that stand on many pages of the site.
    """
    for element in document.find_all([*_SILENT]):
        element.decompose()
    body = document.select_one("body") or document
    whole = _length(body)
    root = _root(body, whole)
    unwanted = _unwanted(root)
    if whole and _length(root) - _length_of(unwanted) < min(_LEAST, whole * _LEAST_KEPT):
        root, unwanted = body, []
    for element in unwanted:
        element.decompose()
    if repeated and isinstance(root, Element):
        trim(root, repeated)
    return root


def main_text(document: Document, repeated: Set[int] = frozenset()) -> str:
    """The text of the main content, a line for each paragraph. The tree is changed."""
    return rendered_text(keep_main(document, repeated))


def _root(body: Document | Element, whole: int) -> Document | Element:
    """The element with the content."""
    mains = body.select(_MAIN)
    main = max(mains, key=_length, default=None)
    around = main if main is not None and _length(main) >= _LEAST else body
    for selector in (_NAMED, "article"):
        found = _outermost(around.select(selector))
        sizes = sorted((_length(each) for each in found), reverse=True)
        if not sizes or sizes[0] < min(_LEAST, whole / 2):
            continue
        if len(sizes) > 1 and sizes[1] > sizes[0] / 3:  # a list of articles is the content
            return around
        if sizes[0] >= _DOMINANT * _length(around) or selector == _NAMED:
            return max(found, key=_length)
    return around if around is not body else _densest(body)


def _densest(body: Document | Element) -> Document | Element:
    """The smallest element that holds most of the running text."""
    texts, weights, order = NestedText(), dict[Element, int](), list[Element]()
    total = 0
    for paragraph in body.iter_elements(_PARAGRAPHS):
        weight = len(texts.of(paragraph))
        if weight < _LONG_PARAGRAPH or any(each.tag in _FRAME for each in _above(paragraph)):
            continue
        total += weight
        for each in _above(paragraph):
            if each not in weights:
                order.append(each)
            weights[each] = weights.get(each, 0) + weight
    enough = [each for each in order if weights[each] >= _MOST_OF_IT * total]
    return min(enough, key=_length, default=body)


def _above(element: Element) -> list[Element]:
    return [each for each in element.ancestors if isinstance(each, Element)]


def _unwanted(root: Document | Element) -> list[Element]:
    """What is not content in an element, outermost ones only."""
    whole = _length(root) or 1
    found = [*root.find_all([*_FRAME]), *root.select(_FRAME_ROLES)]
    found = [each for each in found if each.tag != "aside" or not each.has_class("footnote")]
    found += [element for element in root.iter_elements(_BLOCKS) if _is_named_so(element)]
    found = _outermost(each for each in dict.fromkeys(found) if each != root)
    return [each for each in found if _length(each) <= _MOST_REMOVED * whole]


def _is_named_so(element: Element) -> bool:
    classes = element.attr("class") or ""
    # The ids of sections are made from their headings.
    name = element.attr("id") if element.tag in ("div", "ul", "form") and "section" not in classes else ""
    return bool(classes or name) and _says_no_content(f"{classes} {name or ''}")


@lru_cache(4096)
def _says_no_content(names: str) -> bool:
    return _NOT_CONTENT.search(names) is not None


def _outermost(elements: Iterable[Element]) -> list[Element]:
    """Those of some elements that are in no other one."""
    chosen = list(elements)
    among = set(chosen)
    return [each for each in chosen if not any(above in among for above in each.ancestors)]


def _length(element: Document | Element) -> int:
    return len(element.text)


def _length_of(elements: Iterable[Element]) -> int:
    return sum(map(_length, elements))
