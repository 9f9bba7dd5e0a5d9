"""The behaviour of a page: inline scripts, the addresses of script files, event attributes such as
`onclick`, links that run a script, and where forms lead.

Blocks of data, such as JSON-LD, are no scripts. Words of at least six letters with a digit among
them are left out: they are nonces, tokens, timestamps, and the hashes in the names of script files,
and differ from visit to visit.
"""

from __future__ import annotations

import re
from typing import Final

from xxhash import xxh3_64_intdigest

from sanderling.documents.tree import Document, Element

from .presentation import BUILD

# One selector for all of them takes 10 us a page. Other event attributes usually occur together
# with these.
_WITH_EVENTS: Final = ":is([onclick],[onchange],[onsubmit],[onload],[href^='javascript:'])"
_TOKEN: Final = re.compile(rb"\b(?=[A-Za-z_]*\d)\w{6,}")
# Types of scripts that run. Others are data or templates.
_RUNS: Final = re.compile(r"module$|.*(?:java|ecma)script", re.IGNORECASE)
# What is longer counts with its beginning: 100 KB take 1.5 ms.
MAX_SCRIPT: Final = 100_000
# The scripts of a site are nearly the same on all of its pages, so that most are found here.
MAX_KNOWN: Final = 4096
_known: Final[dict[int, int]] = {}


def script(element: Element) -> int:
    """A hash of what a `script` element runs; 0 if it is data."""
    kind = element.attr("type")
    if kind and not _RUNS.match(kind):
        return 0
    address = element.attr("src")
    return _steady(BUILD.sub("0", address.partition("?")[0]) if address else element.text)


def form(element: Element) -> int:
    """A hash of where a form sends what is filled in, and how."""
    action, method = element.attr("action") or "", element.attr("method") or "get"
    return _steady(f"{method.lower()} {action.partition('?')[0]}")


def events(document: Document) -> list[int]:
    """Hashes of the event attributes, and of links that run a script."""
    return [
        _steady(f"{name}={value}")
        for element in document.select(_WITH_EVENTS)
        for name, value in element.attrs.items()
        if name.startswith("on") or (name == "href" and str(value).startswith("javascript:"))
    ]


def name(element: Element) -> str:
    """The name of the file of a `script` element, or what else it is."""
    address = (element.attr("src") or "").partition("?")[0]
    return address.rpartition("/")[2] or "an inline script"


def _steady(code: str) -> int:
    """A hash without the words that differ from visit to visit."""
    raw = code[:MAX_SCRIPT].encode("utf-8", "surrogatepass")
    key = xxh3_64_intdigest(raw)
    found = _known.get(key)
    if found is None:
        if len(_known) >= MAX_KNOWN:
            _known.clear()
        found = _known[key] = xxh3_64_intdigest(_TOKEN.sub(b"0", raw))
    return found
