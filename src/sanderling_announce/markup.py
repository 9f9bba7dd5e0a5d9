"""Reads the markup of a page, as far as the announcer needs it."""

from __future__ import annotations

import re
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Optional

_CHARSET = re.compile(rb"<meta[^>]{0,200}charset\s*=\s*[\"']?\s*([\w-]{1,40})", re.IGNORECASE)
_MARKUP = re.compile(rb"<(?:!doctype\s+html|html|head|body|div|main|section|article)[\s>]", re.IGNORECASE)
# Where the beginning of a page is looked for, in bytes.
_BEGINNING = 4096

# What an element is, with its attributes.
Begins = Callable[[str, "dict[str, Optional[str]]"], None]


def is_markup(content: bytes) -> bool:
    """Whether something is a page in HTML, whatever its name says."""
    return _MARKUP.search(content[:_BEGINNING]) is not None


def text_of(content: bytes) -> str:
    named = _CHARSET.search(content[:_BEGINNING])
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", "replace")
    try:
        return content.decode(named[1].decode() if named else "utf-8", "replace")
    except LookupError:
        return content.decode("utf-8", "replace")


def each_element(content: bytes, begins: Begins, ends: Callable[[str], None] = lambda _: None) -> None:
    """Calls `begins` and `ends` for the tags of a page in their order."""
    reader = _Tags(begins, ends)
    try:
        reader.feed(text_of(content))
        reader.close()
    except (ValueError, AssertionError):  # what no reader of Python follows; what came before counts
        pass


class _Tags(HTMLParser):
    def __init__(self, begins: Begins, ends: Callable[[str], None]) -> None:
        super().__init__(convert_charrefs=True)
        self._begins, self._ends = begins, ends

    def handle_starttag(self, tag: str, attrs: list[tuple[str, Optional[str]]]) -> None:
        self._begins(tag, dict(reversed(attrs)))  # the first of two attributes of one name counts

    def handle_endtag(self, tag: str) -> None:
        self._ends(tag)
