"""The documents in a crawl's archive."""

from collections.abc import Set
from typing import TYPE_CHECKING

from sanderling.documents.unreadable import UNREADABLE
from sanderling.repository import warc

if TYPE_CHECKING:  # who only opens a folder need not wait for a parser
    from sanderling.documents.extracting import ReadPage
    from sanderling.documents.tree import Document
    from sanderling.settings import Settings


def text_of(archived: warc.Archived) -> str:
    """The visible text of an archived document."""
    from sanderling.documents.reading import visible_text

    try:
        return visible_text(archived.url, archived.body, type_of(archived))
    except UNREADABLE:
        return ""


def main_text_of(archived: warc.Archived, repeated: Set[int]) -> str:
    """The text of the main content, without what is repeated on the pages of the site."""
    from sanderling.documents.main_content import main_text

    document = document_in(archived)
    return main_text(document, repeated) if document is not None else ""


def document_in(archived: warc.Archived) -> "Document | None":
    """An archived document as a page of text; None for one that says nothing, or cannot be read."""
    from sanderling.documents.reading import document_of

    try:
        return document_of(archived.url, archived.body, type_of(archived))
    except UNREADABLE:
        return None


def html_in(archived: warc.Archived) -> "Document | None":
    """An archived HTML page as a tree; None for other documents, or one that cannot be read."""
    from sanderling.documents.reading import html_of

    try:
        return html_of(archived.url, archived.body, type_of(archived))
    except UNREADABLE:
        return None


def page_in(archived: warc.Archived) -> "ReadPage":
    """An archived document as an extractor gets it."""
    from sanderling.documents.extracting import read_page

    return read_page(archived.url, archived.status, archived.headers, archived.body)


def links_in(archived: warc.Archived, document: "Document", settings: "Settings") -> bytes:
    """Where an archived document leads, packed as a visit reports it."""
    from sanderling.documents.reading import links_of

    return links_of(document, archived.url, robots_tags(archived), settings)


def robots_tags(archived: warc.Archived) -> list[str]:
    """What a document's headers say to robots."""
    return [value for name, value in archived.headers if name.lower() == "x-robots-tag"]


def type_of(archived: warc.Archived) -> str:
    """What the server said that a document is."""
    from sanderling.documents.menus import implied_type

    said = next((value for name, value in archived.headers if name.lower() == "content-type"), "")
    return said or implied_type(archived.url)
