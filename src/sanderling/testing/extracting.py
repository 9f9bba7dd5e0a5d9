"""Pages to test extractors with."""

from sanderling.documents.extracting import ReadPage, read_page


def read_html(html: str, url: str = "http://example.org/", status: int = 200) -> ReadPage:
    """A page as an extractor gets it, from its HTML."""
    return read_page(url, status, [("Content-Type", "text/html; charset=utf-8")], html.encode())
