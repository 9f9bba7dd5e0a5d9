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
from typing import Final, NamedTuple

from sanderling.documents.template import trim
from sanderling.documents.tree import Document, Element, Text
from sanderling.documents.visible import NestedText, rendered_text

_SILENT: Final = ("script", "style", "template", "noscript", "iframe", "dialog")
_FRAME: Final = ("nav", "footer", "aside", "menu", "form", "button", "select")
_FRAME_ROLES: Final = frozenset(("navigation", "complementary", "contentinfo", "banner", "search", "dialog"))
_PERMALINKS: Final = "a.headerlink, a.anchor, a.header-anchor, a.anchorjs-link, a.hash-link"
_CONTENT: Final = ("article", "main", "td")
_BLOCKS: Final = ("div", "section", "ul", "ol", "p", "header", "table", "figure", "details", *_CONTENT)
_WITH_IDS: Final = ("div", "ul", "form")
# Classes and ids of containers that content management systems and generators of documentation name
# alike.
_NAMED: Final = frozenset((
    "entry-content", "post-content", "article-content", "article-body", "article__body", "article__content",
    "articleBody", "article-text", "story-body", "story-content", "post-body", "postbody", "post-text", "post__content",
    "post_content", "td-post-content", "markdown-body", "theme-doc-markdown", "md-content__inner", "article-entry",
    "mw-parser-output", "bd-article",
))  # fmt: skip
_NAMED_IDS: Final = frozenset(("article-body", "mw-content-text", "article-container"))
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
_IS_NAMED, _IS_FRAME = 1, 2


class _Survey(NamedTuple):
    """What a page names as its content, and what seems to be none."""

    whole: int
    mains: list[Element]
    named: list[Element]
    frames: Mapping[Element, Set[object]]  # each with what it is in


def keep_main(document: Document, repeated: Set[int] = frozenset()) -> Document | Element:
    """The part of a page that holds its main content. What frames it is removed from the tree.

    `repeated` are the blocks that stand on many pages of the site.
    """
    for element in [each for tag in _SILENT for each in document.select(tag)]:
        element.decompose()
    body = document.select_one("body") or document
    survey = _survey(document, body)
    root = _root(body, survey)
    unwanted = _unwanted(root, survey)
    if survey.whole and _length(root) - sum(map(_length, unwanted)) < min(_LEAST, survey.whole * _LEAST_KEPT):
        root, unwanted = body, []
    for element in unwanted:
        element.decompose()
    if isinstance(root, Element) and root not in survey.named:
        for element in _lists_of_links(root):
            element.decompose()
    if repeated and isinstance(root, Element):
        trim(root, repeated)
    return root


def main_text(document: Document, repeated: Set[int] = frozenset()) -> str:
    """The text of the main content, a line for each paragraph. The tree is changed."""
    return rendered_text(keep_main(document, repeated))


def _survey(document: Document, body: Document | Element) -> _Survey:
    frames = [each for tag in _FRAME for each in document.select(tag)]
    frames = [each for each in frames if each.tag != "aside" or not each.has_class("footnote")]
    mains, named = document.select("main"), list[Element]()
    for each in document.select("[role], [hidden], [itemprop~=articleBody]"):
        role = each.attr("role")
        if role in _FRAME_ROLES or each.attr("hidden") is not None:
            frames.append(each)
        if role == "main":
            mains.append(each)
        if each.attr("itemprop") or (role == "main" and (each.tag == "article" or each.has_class("body"))):
            named.append(each)
    frames += document.select(_PERMALINKS)
    for each in body.iter_elements(_BLOCKS):
        classes, name = each.attr("class") or "", each.attr("id") or ""
        if classes or name:
            said = _said(classes, name, each.tag in _WITH_IDS)
            if said & _IS_NAMED:
                named.append(each)
            if said & _IS_FRAME and (each.tag != "p" or _length(each) <= _LONG_NOTE) and each.tag not in _CONTENT:
                frames.append(each)
    return _Survey(_length(body), mains, [*dict.fromkeys(named)], {each: frozenset(each.ancestors) for each in frames})


@lru_cache(4096)
def _said(classes: str, name: str, with_id: bool) -> int:
    """What the names of an element say. The ids of sections are made from their headings."""
    named = name in _NAMED_IDS or not _NAMED.isdisjoint(classes.split())
    names = f"{classes} {name}" if with_id and "section" not in classes else classes
    return _IS_NAMED * named + _IS_FRAME * (_NOT_CONTENT.search(names) is not None)


def _root(body: Document | Element, survey: _Survey) -> Document | Element:
    """The element with the content."""
    length, main = max(((_length(each), each) for each in survey.mains), key=_first, default=(0, body))
    around = main if length >= _LEAST else body
    unwanted = set(_unwanted(around, survey))
    if length >= _DOMINANT * survey.whole or around is body:
        running = _running_text(around, unwanted)
    else:
        running = _running_text(body, unwanted | {*_unwanted(body, survey)})
        if isinstance(main, Element) and running.get(main, 0) < _LEAST_RUNNING * max(running.values(), default=0):
            around = body
    named = _named(around, survey, running, unwanted)
    root = named or (_densest(around, running) if around is body else around)
    return _narrowed(root, running, unwanted)


def _named(
    around: Document | Element, survey: _Survey, running: Mapping[Element, int], unwanted: Set[Element]
) -> Document | Element | None:
    """The element that names itself the content, if it holds enough of it."""
    total = running.get(around, 0) if isinstance(around, Element) else max(running.values(), default=0)
    for elements in (survey.named, around.select("article")):
        found = [each for each in elements if around in each.ancestors]
        found = _outermost(each for each in found if not _is_within(each, unwanted))
        sizes = sorted(((running.get(each, 0) if total else _length(each), each) for each in found), key=_first)[::-1]
        if not sizes or _length(sizes[0][1]) < min(_LEAST, survey.whole / 2):
            continue
        if len(sizes) > 1 and sizes[1][0] > sizes[0][0] / 3:  # a list of articles is the content
            return around
        if sizes[0][0] < _LEAST_RUNNING * total and total > _FEW_PARAGRAPHS * _length(around):
            continue
        if elements is survey.named or _length(sizes[0][1]) >= _DOMINANT * _length(around):
            return sizes[0][1]
        if sizes[0][0] >= _MOST_RUNNING * total:
            return sizes[0][1]
    return None


def _narrowed(root: Document | Element, running: Mapping[Element, int], unwanted: Set[Element]) -> Document | Element:
    """The part of an element that has nearly all of its running text, if the rest is mostly
    links."""
    total = running.get(root, 0) if isinstance(root, Element) else max(running.values(), default=0)
    if total < _MUCH_RUNNING:
        return root
    most = [each for each, weight in running.items() if weight >= _NEARLY_ALL * total and root in each.ancestors]
    part = min(most, key=_length, default=None)
    if part is None or _length(root) - _length(part) < _MUCH_REST * _length(root):
        return root
    outside = [each for each in unwanted if root in each.ancestors and part not in each.ancestors]
    rest = _letters(root) - _letters(part) - sum(map(_letters, outside))
    if rest < _MUCH_REST * _letters(part):
        return root
    linked = _linked(root) - _linked(part) - sum(map(_linked, outside))
    return part if linked > _MOSTLY_LINKS * rest else root


def _letters(element: Document | Element) -> int:
    """How much text an element has, without spaces: that of pages may be mostly indentation."""
    return len("".join(element.text.split()))


def _linked(element: Document | Element) -> int:
    return sum(map(_letters, element.find_all("a")))


def _running_text(around: Document | Element, frames: Set[Element]) -> dict[Element, int]:
    """How much running text the elements around paragraphs have, without that in frames."""
    texts = NestedText()
    found = [(each, texts.of(each)) for each in around.iter_elements(_PARAGRAPHS)]
    if sum(len(text) for _, text in found) < _FEW_PARAGRAPHS * _length(around):
        holders = [each for each in around.iter_elements(_HOLDERS) if _length(each) >= _LONG_PARAGRAPH / 3]
        found += [(each, _own_text(each)) for each in holders]
    within = Counter[Element]()
    for paragraph, text in found:
        place = paragraph if paragraph.tag in _HOLDERS else paragraph.parent
        if (weight := weight_of(text)) < _LONG_PARAGRAPH or not isinstance(place, Element) or paragraph in frames:
            continue
        if 2 * sum(map(_length, paragraph.find_all("a"))) <= len(text):
            within[place] += weight
    weights = dict[Element, int]()
    for place, weight in within.items():
        above = [place, *[each for each in place.ancestors if isinstance(each, Element)]]
        if frames.isdisjoint(above):
            for each in above:
                weights[each] = weights.get(each, 0) + weight
    return weights


def _own_text(element: Element) -> str:
    """What stands in an element itself, with breaks between its lines."""
    return "".join([each.data for each in element.children if type(each) is Text]).strip()


def weight_of(text: str) -> int:
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
        share, purity = weight / total, min(1.0, weight / (weight_of(element.text) or 1))
        best = max(best, (2 * share * purity / (share + purity), element), key=lambda each: each[0])
    return best[1]


def _is_within(element: Element, others: Set[Element]) -> bool:
    return element in others or not others.isdisjoint(element.ancestors)


def _unwanted(root: Document | Element, survey: _Survey) -> list[Element]:
    """The frames that are in an element and not the most of it, outermost ones only."""
    whole = _length(root) or 1
    inside = {each: above for each, above in survey.frames.items() if root in above}
    sizes = {each: _length(each) for each, above in inside.items() if above.isdisjoint(inside)}
    alike = Counter[tuple[str, str]]()
    for each, size in sizes.items():
        alike[_kind(each)] += size
    return [
        each
        for each in sizes
        if alike[_kind(each)] <= (_MOST_COMMENTS if _has_comments(each) else _MOST_REMOVED) * whole
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


def _outermost(elements: Iterable[Element]) -> list[Element]:
    """Those of some elements that are in no other one."""
    chosen = list(elements)
    among = set(chosen)
    return [each for each in chosen if not any(above in among for above in each.ancestors)]


def _first(pair: tuple[int, Document | Element]) -> int:
    return pair[0]


def _length(element: Document | Element) -> int:
    return len(element.text)
