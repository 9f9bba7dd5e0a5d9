"""Finds in a page which events change it: hints for crawlers that run scripts.

Only what stands in the page's own markup is found, as in `<div id="next" onclick="text.innerHTML =
more()">`. Nothing is run. Pages with a password field are private, and what belongs to a form is
not for crawlers.
"""

from __future__ import annotations

import re
from typing import Optional

from sanderling_announce.change import EVENTS, MOST_HINTS, EventHint, EventName, combined
from sanderling_announce.markup import each_element, is_markup

_ANY = re.compile(rb"\son(?:load|(?:dbl)?click|mouseover)\s*=", re.IGNORECASE)
# An assignment, or else a call. What stands before it on the left side, such as `document.`, says
# nothing.
_ASSIGNED = re.compile(r"\s*(?:var\s+)?([\w.$\[\]'\"()#-]{1,200}?)\s*=(?!=)\s*(.{1,500}?)\s*;?\s*", re.DOTALL)
_BY_ID = re.compile(r"^document\.(?:getElementById|querySelector)\(\s*['\"]#?([\w-]+)['\"]\s*\)|^document\.")
_FORM = ("form", "input", "select", "textarea")
_LONGEST = 500


def hints_in(html: bytes) -> tuple[EventHint, ...]:
    """At most 100; most pages have none, and are not parsed."""
    if not _ANY.search(html):
        return ()
    found: list[EventHint] = []
    forms = 0
    private = False

    def begins(tag: str, attributes: dict[str, Optional[str]]) -> None:
        nonlocal forms, private
        forms += tag == "form"
        private |= tag == "input" and (attributes.get("type") or "").lower() == "password"
        for event in EVENTS if not forms and tag not in _FORM else ():
            if (code := attributes.get(event)) and len(code) <= _LONGEST:
                found.append(_hint(event, _described(tag, attributes.get("id") or ""), code.strip()))

    def ends(tag: str) -> None:
        nonlocal forms
        forms = max(forms - (tag == "form"), 0)

    each_element(html, begins, ends)
    return () if private else combined(found)[:MOST_HINTS]


def hints_of(name: bytes, content: bytes) -> tuple[EventHint, ...]:
    """The hints of a file that is a page in HTML, by its name or by its content."""
    return hints_in(content) if name.lower().endswith((b"html", b"htm")) or is_markup(content) else ()


def _hint(event: str, source: str, code: str) -> EventHint:
    name: EventName = event  # type: ignore[assignment]
    if assigned := _ASSIGNED.fullmatch(code):
        target = _BY_ID.sub(lambda by: by[1] or "", assigned[1])
        return EventHint((name,), (source,), target, assigned[2])
    return EventHint((name,), (source,), "", code.removeprefix("javascript:").rstrip("; \n"))


def _described(tag: str, id: str) -> str:
    return f'{tag} id="{id}"' if id else tag
