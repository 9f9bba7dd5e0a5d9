"""The main content of a page: what it is about, without what frames it.

First the element is chosen that holds the content (`_root`): what the page itself names, else the
smallest element with most of the running text. Then what is not content is removed from it: what
its tags, roles and class names say to be navigation, comments and the like, and blocks that repeat
on the pages of its site (`documents/template.py`).
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Set
from functools import lru_cache
from typing import Final

from sanderling.documents.template import trim
from sanderling.documents.tree import Document, Element, Text
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
_COMMENTS: Final = re.compile(r"(?:^|[\s_-])(?:comments?|commentlist|disqus)(?:$|[\s_-])", re.IGNORECASE)
# A container with less text than this is not the content of a page that has more.
_LEAST: Final = 200
# Of the text of its surroundings.
_DOMINANT: Final = 0.6
# What seems no content and has a larger share of the text is content after all: `has-sidebar` is a
# class of whole pages.
_MOST_REMOVED: Final = 0.4
_MOST_COMMENTS: Final = 0.8
# An element is an article if this share of its text is in long paragraphs. Blocks whose text is in
# links, to this share, are then not a part of it.
_ARTICLE: Final = 0.5
_LINKED: Final = 0.7
_FEWEST_LINKS: Final = 3
_LISTS: Final = ("div", "section", "ul", "ol", "table")
_PARAGRAPHS: Final = ("p", "pre", "blockquote")
# Pages with less of their text in paragraphs have it in other elements, with breaks.
_FEW_PARAGRAPHS: Final = 0.2
_HOLDERS: Final = ("div", "td", "article", "section", "font", "center")
_LONG_PARAGRAPH: Final = 60
# A paragraph is not a byline, and the like, if it is longer than this.
_LONG_NOTE: Final = 150
_MOST_RUNNING: Final = 0.4
# A named container with less of the running text is a part of the content.
_LEAST_RUNNING: Final = 0.3
_MUCH_RUNNING: Final = 600
_NEARLY_ALL: Final = 0.9
_MUCH_REST: Final = 0.3
_MOSTLY_LINKS: Final = 0.3
_DENSE_SCRIPT: Final = re.compile("[\u0e00-\u0eff\u1000-\u109f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
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
    frames = _frames(body)
    root = _root(body, whole, frames)
    unwanted = _unwanted(root, frames)
    if whole and _length(root) - _length_of(unwanted) < min(_LEAST, whole * _LEAST_KEPT):
        root, unwanted = body, []
    for element in unwanted:
        element.decompose()
    if isinstance(root, Element) and not root.matches(_NAMED):
        for element in _lists_of_links(root):
            element.decompose()
    if repeated and isinstance(root, Element):
        trim(root, repeated)
    return root


def main_text(document: Document, repeated: Set[int] = frozenset()) -> str:
    """The text of the main content, a line for each paragraph. The tree is changed."""
    return rendered_text(keep_main(document, repeated))


def _root(body: Document | Element, whole: int, frames: list[Element]) -> Document | Element:
    """The element with the content."""
    main = max(body.select(_MAIN), key=_length, default=None)
    around = main if main is not None and _length(main) >= _LEAST else body
    unwanted = set(_unwanted(around, frames))
    running = _running_text(body, set(_unwanted(body, frames)) | unwanted)
    if isinstance(around, Element) and around is main and running.get(around, 0) < _LEAST_RUNNING * max(running.values(), default=0):
        around = body
    return _narrowed(_outer_root(around, around is body, whole, running, unwanted), running, unwanted)


def _outer_root(
    around: Document | Element, is_body: bool, whole: int, running: Mapping[Element, int], unwanted: Set[Element]
) -> Document | Element:
    total = running.get(around, 0) if isinstance(around, Element) else max(running.values(), default=0)
    for selector in (_NAMED, "article"):
        found = _outermost(each for each in around.select(selector) if not _is_within(each, unwanted))
        sizes = sorted(((running.get(each, 0) if total else _length(each), each) for each in found), key=_first)[::-1]
        if not sizes or _length(sizes[0][1]) < min(_LEAST, whole / 2):
            continue
        if len(sizes) > 1 and sizes[1][0] > sizes[0][0] / 3:  # a list of articles is the content
            return around
        if sizes[0][0] < _LEAST_RUNNING * total and total > _FEW_PARAGRAPHS * _length(around):
            continue
        if selector == _NAMED or _length(sizes[0][1]) >= _DOMINANT * _length(around):
            return sizes[0][1]
        if sizes[0][0] >= _MOST_RUNNING * total:
            return sizes[0][1]
    return _densest(around, running) if is_body else around


def _narrowed(
    root: Document | Element, running: Mapping[Element, int], unwanted: Set[Element]
) -> Document | Element:
    """The part of an element that has nearly all of its running text, if the rest is mostly
    links."""
    inside = [each for each in running if each != root and root in each.ancestors]
    total = max((running[each] for each in inside), default=0)
    if total < _MUCH_RUNNING:
        return root
    part = min((each for each in inside if running[each] >= _NEARLY_ALL * total), key=_length)
    if _length(root) - _length(part) < _MUCH_REST * _length(root):
        return root
    outside = [each for each in unwanted if root in each.ancestors and part not in each.ancestors]
    rest = _tight(root) - _tight(part) - sum(map(_tight, outside))
    linked = _linked(root) - _linked(part) - sum(map(_linked, outside))
    import os
    if os.environ.get("DBG"): print("NARROW", root.tag, root.attr("class"), _tight(root), "->", part.attr("class"), _tight(part), "rest", rest, "linked", linked, 'share', linked/(rest or 1))
    return part if rest > _MUCH_REST * _tight(part) and linked > _MOSTLY_LINKS * rest else root


def _tight(element: Document | Element) -> int:
    return len("".join(element.text.split()))


def _linked(element: Document | Element) -> int:
    return sum(map(_tight, element.find_all("a")))


def _running_text(around: Document | Element, frames: Set[Element]) -> dict[Element, int]:
    """How much running text the elements around paragraphs have, without that in frames."""
    texts, weights = NestedText(), dict[Element, int]()
    found = [(each, texts.of(each)) for each in around.iter_elements(_PARAGRAPHS)]
    if sum(len(text) for _, text in found) < _FEW_PARAGRAPHS * _length(around):
        found += [(each, text) for each in around.iter_elements(_HOLDERS) if len(text := _own_text(each)) > 1]
    for paragraph, text in found:
        weight = _weight(text)
        if weight < _LONG_PARAGRAPH or _is_within(paragraph, frames):
            continue
        if 2 * sum(map(_length, paragraph.find_all("a"))) > len(text):
            continue
        for each in (paragraph, *_above(paragraph)) if paragraph.tag in _HOLDERS else _above(paragraph):
            weights[each] = weights.get(each, 0) + weight
    return weights


def _own_text(element: Element) -> str:
    """What stands in an element itself, with breaks between its lines."""
    return "".join(each.data for each in element.children if isinstance(each, Text)).strip()


def _weight(text: str) -> int:
    """The length of a text. A letter of scripts without spaces says about as much as three."""
    return len(text) if text.isascii() else len(text) + 2 * len(_DENSE_SCRIPT.findall(text))


def _densest(around: Document | Element, running: Mapping[Element, int]) -> Document | Element:
    """The element that holds most of the running text with the least of other text.

    It is above the best parent of paragraphs, or that itself.
    """
    total = max(running.values(), default=0)
    best: tuple[float, Document | Element] = (0.0, around)
    for element, weight in running.items():
        if 2 * weight <= total:
            continue
        share, purity = weight / total, min(1.0, weight / (_weight(element.text) or 1))
        best = max(best, (2 * share * purity / (share + purity), element), key=lambda each: each[0])
    return best[1]


def _is_within(element: Element, others: Set[Element]) -> bool:
    return element in others or any(above in others for above in element.ancestors)


def _above(element: Element) -> list[Element]:
    return [each for each in element.ancestors if isinstance(each, Element)]


def _frames(body: Document | Element) -> list[Element]:
    """What seems to be no content by its tag, role or names."""
    found = [*body.find_all([*_FRAME]), *body.select(_FRAME_ROLES)]
    found = [each for each in found if each.tag != "aside" or not each.has_class("footnote")]
    found += [element for element in body.iter_elements(_BLOCKS) if _is_named_so(element)]
    return list(dict.fromkeys(found))


def _unwanted(root: Document | Element, frames: list[Element]) -> list[Element]:
    """Those of some elements that are in another and not the most of it, outermost ones only."""
    whole = _length(root) or 1
    found = _outermost(each for each in frames if root in each.ancestors)
    alike = Counter[tuple[str, str]]()
    for each in found:
        alike[_kind(each)] += _length(each)
    return [
        each for each in found if alike[_kind(each)] <= (_MOST_COMMENTS if _has_comments(each) else _MOST_REMOVED) * whole
    ]


def _kind(element: Element) -> tuple[str, str]:
    return element.tag, element.attr("class") or element.attr("id") or ""


def _has_comments(element: Element) -> bool:
    return (
        element.tag == "div"
        and _COMMENTS.search(f"{element.attr('class') or ''} {element.attr('id') or ''}") is not None
    )


def _lists_of_links(root: Document | Element) -> list[Element]:
    """Blocks of links beside running text, such as to other articles."""
    running = sum(len(text) for each in root.iter_elements(_PARAGRAPHS) if len(text := each.text) >= _LONG_PARAGRAPH)
    if running < _ARTICLE * _length(root):
        return []
    linked = Counter[Element]()
    for link in root.iter_elements(("a",)):
        for above in link.ancestors:
            if above == root:
                break
            if isinstance(above, Element) and above.tag in _LISTS:
                linked[above] += len(link.text)
    found = [each for each, length in linked.items() if length > _LINKED * _length(each)]
    return [each for each in _outermost(found) if len(each.find_all("a")) >= _FEWEST_LINKS]


def _is_named_so(element: Element) -> bool:
    classes = element.attr("class") or ""
    # The ids of sections are made from their headings.
    name = element.attr("id") if element.tag in ("div", "ul", "form") and "section" not in classes else ""
    named = bool(classes or name) and _says_no_content(f"{classes} {name or ''}")
    return named and not (element.tag == "p" and _length(element) > _LONG_NOTE)


@lru_cache(4096)
def _says_no_content(names: str) -> bool:
    return _NOT_CONTENT.search(names) is not None


def _outermost(elements: Iterable[Element]) -> list[Element]:
    """Those of some elements that are in no other one."""
    chosen = list(elements)
    among = set(chosen)
    return [each for each in chosen if not any(above in among for above in each.ancestors)]


def _first(pair: tuple[int, Element]) -> int:
    return pair[0]


def _length(element: Document | Element) -> int:
    return len(element.text)


def _length_of(elements: Iterable[Element]) -> int:
    return sum(map(_length, elements))
