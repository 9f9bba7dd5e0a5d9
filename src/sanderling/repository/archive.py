"""The documents in a crawl's archive."""

from typing import TYPE_CHECKING

from sanderling.repository import warc
from sanderling.settings import Settings

if TYPE_CHECKING:  # who only opens a folder need not wait for a parser
    import turbohtml

    from sanderling.documents.extracting import ReadPage


def text_of(archived: warc.Archived) -> str:
    """The visible text of an archived document."""
    from sanderling.documents.reading import visible_text

    return visible_text(archived.url, archived.body, type_of(archived))


def document_in(archived: warc.Archived) -> "turbohtml.Document | None":
    """An archived document as a page of text; None for one that says nothing."""
    from sanderling.documents.reading import document_of

    return document_of(archived.url, archived.body, type_of(archived))


def page_in(archived: warc.Archived) -> "ReadPage":
    """An archived document as an extractor gets it."""
    from sanderling.documents.extracting import read_page

    return read_page(archived.url, archived.status, archived.headers, archived.body)


def links_in(archived: warc.Archived, document: "turbohtml.Document", settings: Settings) -> bytes:
    """Where an archived document leads, packed as a visit reports it."""
    from sanderling.documents.reading import links_of

    tags = [value for name, value in archived.headers if name.lower() == "x-robots-tag"]
    return links_of(document, archived.url, tags, settings)


def type_of(archived: warc.Archived) -> str:
    """What the server said that a document is."""
    return next((value for name, value in archived.headers if name.lower() == "content-type"), "")
