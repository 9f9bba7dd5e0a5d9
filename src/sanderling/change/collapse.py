"""Recognises a page that shows something else than its content: a login, an error or a notice with
status 200, or next to nothing."""

from __future__ import annotations

from typing import Final

from sanderling.documents.tree import Document

from .explain import paragraphs

# A shorter page may change as a whole at any time.
MIN_LETTERS: Final = 1000
# Less of the text than this is a remainder, and this much of it around a login is its frame.
REMAINDER: Final = 0.1
FRAME: Final = 0.3
# A page with more text than this is a page of its own.
MOST_LETTERS: Final = 5000


def collapse(old: Document, new: Document) -> str:
    """What became of a page, in words; empty if it still is a page with content of its own."""
    before, after = paragraphs(old), paragraphs(new)
    letters, remaining = (sum(map(len, each)) for each in (before, after))
    if remaining > MOST_LETTERS:
        return ""
    now = set(after)
    kept = sum(len(each) for each in before if each in now)
    if kept < FRAME * letters and _asks_for_password(new) and not _asks_for_password(old):
        return "it is a page to log in on now"
    if letters >= MIN_LETTERS and remaining < REMAINDER * letters:
        return f"{remaining:,} of {letters:,} letters are left of it"
    return ""


def _asks_for_password(document: Document) -> bool:
    return document.select_one("input[type=password]") is not None
