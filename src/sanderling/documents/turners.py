"""Where a list of results goes on: links and buttons that lead to its other pages."""

import re
from collections.abc import Iterator
from typing import Final

from sanderling.documents.html_forms import forms_of, pairs_of, request_of
from sanderling.documents.tree import Document
from sanderling.model.form_facts import Turner
from sanderling.urls import join

_NEXT_WORDS = """
    next nextpage older more weiter nachste nächste suivant suivante siguiente successiva successivo volgende próxima nästa
    następna další далее 下一页 次へ
"""
_NEXT: Final = frozenset(_NEXT_WORDS.split())
_ARROWS: Final = frozenset((">", ">>", "»", "›", "→", "⟩", "▶"))
_LETTERS: Final = re.compile(r"[\W\d_]+")
# More pages than anybody turns; a calendar has as many links.
MOST: Final = 200


def turners_of(document: Document, base: str) -> list[Turner]:
    """The pages of a list that a page leads to: by a number, or as the next one."""
    found = [*_links(document, base), *_buttons(document, base)]
    return found[:MOST]


def _links(document: Document, base: str) -> Iterator[Turner]:
    for element in document.iter_elements(("a", "link")):
        href = element.attr("href")
        if not href:
            continue
        said = "next" if "next" in (element.attr("rel") or "").lower().split() else ""
        if not said and element.tag == "a":
            said = _label(element.text) or _label(element.attr("aria-label") or element.attr("title") or "")
        if said and (url := join(base, href)) is not None:
            yield Turner(said, url)


def _buttons(document: Document, base: str) -> Iterator[Turner]:
    """A form whose submit buttons are pages: what it says now is sent with one of them."""
    for form in forms_of(document, base):
        buttons = [field for field in form.fields if field.type == "submit" and field.name]
        for button in buttons:
            said = _label(button.value) or _label(button.name)
            if said and form.action and (request := request_of(form, pairs_of(form, {}, button))):
                yield Turner(said, *request)


def _label(text: str) -> str:
    text = text.strip()
    if not text or len(text) > 30:
        return ""
    if text.isascii() and text.isdigit() and len(text) < 5:
        return str(int(text))
    return "next" if text in _ARROWS or _LETTERS.sub("", text.lower()).removesuffix("page") in _NEXT else ""
