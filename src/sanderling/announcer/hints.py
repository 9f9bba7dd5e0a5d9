"""Finds in a page which events change it: hints for crawlers that run scripts.

Only what stands in the page's own markup is found, as in `<div id="next" onclick="text.innerHTML =
more()">`. Nothing is run. Pages with a password field are private, and what belongs to a form is
not for crawlers.
"""

import re

from sanderling.announcements import EventHint, combined
from sanderling.announcements.change import EVENTS, MOST_HINTS, EventName

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
    from sanderling.documents.html import HtmlPage
    from sanderling.documents.unreadable import UNREADABLE

    try:
        document = HtmlPage(html, None, "").document
    except UNREADABLE:
        return ()
    if document.select_one('input[type="password" i]') is not None:
        return ()
    found = []
    for element in document.select(", ".join(f"[{event}]" for event in EVENTS)):
        if element.tag in _FORM or element.closest("form") is not None:
            continue
        for event in EVENTS:
            if (code := element.attr(event)) and len(code) <= _LONGEST:
                found.append(_hint(event, _described(element.tag, element.attr("id") or ""), code.strip()))
    return combined(found)[:MOST_HINTS]


def _hint(event: str, source: str, code: str) -> EventHint:
    name: EventName = event  # type: ignore[assignment]
    if assigned := _ASSIGNED.fullmatch(code):
        target = _BY_ID.sub(lambda by: by[1] or "", assigned[1])
        return EventHint((name,), (source,), target, assigned[2])
    return EventHint((name,), (source,), "", code.removeprefix("javascript:").rstrip("; \n"))


def _described(tag: str, id: str) -> str:
    return f'{tag} id="{id}"' if id else tag
