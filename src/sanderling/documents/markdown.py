"""Pages as Markdown that a person would keep.

The main content is rewritten into plain elements first, because sites write code, notes, footnotes
and formulas in many ways. What Markdown has no element for gets a tag of its own (`_CONVERTERS`).
"""

import re
from collections.abc import Callable, Set
from typing import Final

from sanderling.documents.main_content import keep_main
from sanderling.documents.tree import Document, Element, Markdown, Text

_LANGUAGE: Final = re.compile(
    r"(?:^|\s)(?:language-|lang-|highlight-source-|highlight-text-|highlight-|sourceCode\s+|brush:\s*|hljs\s+|highlight\s+(?!highlight))"
    r"([A-Za-z][\w+#.-]*)"
)
_NO_LANGUAGE: Final = {
    "default", "none", "text", "plaintext", "nohighlight", "notranslate", "highlighter-rouge", "container", "highlight",
    "copy", "wrapper", "wrap",
}  # fmt: skip
_CODE_TABLES: Final = "table.highlighttable, table.rouge-table, figure.highlight table, .highlight table"
_ADMONITIONS: Final = ".admonition, .markdown-alert, .theme-admonition, .alert[role=alert], .callout"
_TITLES: Final = ".admonition-title, .markdown-alert-title, .callout-title"
_NOTE_REFERENCES: Final = "a.footnote-reference, a.footnote-ref, a[role=doc-noteref], a[data-footnote-ref]"
_NOTES: Final = "aside.footnote, .footnote li[id], .footnotes li[id], li[role=doc-endnote]"
_BACK: Final = "a.footnote-backref, a.fn-backref, a[role=doc-backlink], a[data-footnote-backref], .label"
_FORMULA: Final = ".math, .katex-display, .katex, math"
_FORMULA_MARKS: Final = re.compile(r"^\s*(?:\\\(|\\\[|\$\$?)|(?:\\\)|\\\]|\$\$?)\s*$")
_HEADINGS: Final = ("h1", "h2", "h3", "h4", "h5", "h6")
_REFERENCE, _NOTE, _INLINE, _DISPLAY = "note-reference", "note-text", "inline-formula", "display-formula"

_Converter = Callable[[Element, str], str]
_CONVERTERS: Final[dict[str, _Converter]] = {
    _REFERENCE: lambda element, _: f"[^{element.text.strip()}]",
    _NOTE: lambda element, inner: f"\n\n[^{element.attr('mark')}]: {inner.removesuffix('&#160;').strip()}\n\n",
    _INLINE: lambda element, _: f"${element.text}$",
    _DISPLAY: lambda element, _: f"\n\n$$\n{element.text}\n$$\n\n",
}
_STYLE: Final = Markdown(converters=_CONVERTERS, tables=Markdown.Tables(header="first"))
_BLANK_LINES: Final = re.compile(r"\n{3,}")


def as_markdown(document: Document, url: str, repeated: Set[int] = frozenset()) -> str:
    """The main content of a page at a URL, with absolute links. The tree is changed."""
    _rewrite_formulas(document)
    whole = keep_main(document, repeated)
    for rewrite in (
        _rewrite_code,
        _rewrite_headings,
        _rewrite_notes,
        _rewrite_admonitions,
        _rewrite_images,
        _rewrite_links,
    ):
        rewrite(whole)
    document.resolve_links(url)
    return _BLANK_LINES.sub("\n\n", whole.to_markdown(_STYLE).strip()) + "\n"


def _rewrite_code(root: Document | Element) -> None:
    for table in root.select(_CODE_TABLES):
        code = [each for each in table.find_all("pre") if not _is_gutter(each)]
        if code and _is_within(table, root):
            (table.closest("figure.highlight") or table).replace_with(_fenced(code[-1], _language_of(code[-1])))
    for pre in root.find_all("pre"):
        pre.replace_with(_fenced(pre, _language_of(pre)))


def _is_gutter(pre: Element) -> bool:
    return pre.closest(".linenos, .gutter, .linenodiv, .lineno, .rouge-gutter") is not None


def _is_within(element: Element, root: Document | Element) -> bool:
    return any(above == root for above in element.ancestors)


def _fenced(pre: Element, language: str) -> Element:
    for line in pre.find_all("br"):
        line.replace_with(Text("\n"))
    for extra in pre.select("button, .linenos, .lineno, .gutter"):
        extra.decompose()
    attributes = {"class": f"language-{language}"} if language else {}
    return Element("pre", {}, [Element("code", attributes, [Text(pre.text.strip("\n") + "\n")])])


def _language_of(pre: Element) -> str:
    """The language of a code block, as it or an element close around it says."""
    near = [*pre.find_all("code")[:1], pre, *(each for each in list(pre.ancestors)[:5] if isinstance(each, Element))]
    for element in near:
        if said := element.attr("data-lang") or element.attr("data-language"):
            return said.strip().lower()
        for name in _LANGUAGE.findall(element.attr("class") or ""):
            if name.lower() not in _NO_LANGUAGE:
                return str(name).lower()
    return ""


def _rewrite_headings(root: Document | Element) -> None:
    """Without the links to themselves that generators add."""
    for heading in root.find_all([*_HEADINGS]):
        for link in heading.find_all("a"):
            if "#" in (link.attr("href") or "") and not any(c.isalnum() for c in link.text) and not link.find("img"):
                link.decompose()


def _rewrite_notes(root: Document | Element) -> None:
    for reference in root.select(_NOTE_REFERENCES):
        mark = reference.text.strip().strip("[]") or "?"
        around = reference.parent
        place = around if isinstance(around, Element) and around.tag == "sup" else reference
        place.replace_with(Element(_REFERENCE, {}, [Text(mark)]))
    for number, note in enumerate(root.select(_NOTES), 1):
        label = note.select_one(".label")
        mark = label.text.strip().strip("[]") if label is not None else str(number)
        for back in note.select(_BACK):
            back.decompose()
        note.tag = _NOTE
        note.attrs["mark"] = mark
        around = note.parent
        if isinstance(around, Element) and around.tag in ("ol", "ul"):
            around.tag = "div"


def _rewrite_admonitions(root: Document | Element) -> None:
    for box in root.select(_ADMONITIONS):
        box.tag = "blockquote"
        title = box.select_one(_TITLES)
        if title is not None:
            words = " ".join(title.text.split())
            title.replace_with(Element("p", {}, [Element("strong", {}, [Text(words)])]))


def _rewrite_images(root: Document | Element) -> None:
    """With the address that a script would put in, and without pictures that are in the page."""
    for image in root.find_all("img"):
        source = image.attr("src") or ""
        if (not source or source.startswith("data:")) and (
            later := image.attr("data-src") or image.attr("data-lazy-src")
        ):
            image.attrs["src"] = source = later
        if not source or source.startswith("data:"):
            image.decompose()


def _rewrite_links(root: Document | Element) -> None:
    """Without those that lead nowhere or show nothing; their text stays."""
    for link in root.find_all("a"):
        if (link.attr("href") or "").strip().lower().startswith("javascript:") or not (
            link.text.strip() or link.find("img")
        ):
            link.unwrap()


def _rewrite_formulas(document: Document) -> None:
    done = set[Element]()
    for formula in document.select(_FORMULA):
        if any(above in done for above in formula.ancestors):
            continue
        done.add(formula)
        said = formula.select_one('annotation[encoding="application/x-tex"]')
        if formula.tag == "math" and said is None:
            continue
        text = (said if said is not None else formula).text
        while (bare := _FORMULA_MARKS.sub("", text)) != text:
            text = bare
        display = formula.tag == "div" or formula.has_class("katex-display") or formula.attr("display") == "block"
        formula.replace_with(Element(_DISPLAY if display else _INLINE, {}, [Text(text.strip())]))
