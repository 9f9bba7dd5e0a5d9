"""A page as Python programs see it: facts from the store, and everything that its archived copy
says."""

import threading
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from sanderling.model import Stored
from sanderling.repository import warc
from sanderling.repository.archive import document_in, html_in, main_text_of, page_in, text_of
from sanderling.repository.folder import Folder
from sanderling.repository.templates import SiteTemplates
from sanderling.repository.views import PageVersion

if TYPE_CHECKING:
    from sanderling.documents.chunks import Chunk
    from sanderling.documents.extracting import ReadPage
    from sanderling.documents.html import Anchor
    from sanderling.documents.metadata import Metadata
    from sanderling.documents.tree import Document


class StoredPages:
    """Reads the archived copies of pages, from any thread. The last one that was read is kept, so
    that several looks at one page read it once."""

    def __init__(self, folder: Folder) -> None:
        self._place = folder.warcs
        self._reader: warc.WarcReader | None = warc.WarcReader(folder.warcs)
        self._lock = threading.Lock()
        self.templates: SiteTemplates | None = None
        self._last: tuple[Stored, warc.Archived] | None = None

    def read(self, stored: Stored) -> warc.Archived:
        with self._lock:
            if self._last is None or self._last[0] != stored:
                read = self._reader.read(stored) if self._reader is not None else warc.read(self._place, stored)
                self._last = stored, read
            return self._last[1]

    def template_of(self, url: str) -> frozenset[int]:
        """What repeats on the pages of a host."""
        return self.templates.of(url) if self.templates is not None else frozenset()

    def close(self) -> None:
        """Pages can still be read afterwards: the last one, and others as long as the folder is
        there."""
        with self._lock:
            if self._reader is not None:
                self._reader.close()
            self._reader = None


class Page(Struct, frozen=True, kw_only=True, eq=False):
    """One version of a page. What is not a field is read from the archive when it is asked for."""

    version: int  # its number in the crawl; numbers grow in the order of commits
    url: str
    status: int
    title: str  # as it is now
    mime: str
    charset: str
    language: str
    size: int
    truncated: bool
    noindex: bool
    fetched_at: float  # when this version was first seen
    digest: str
    data: dict[str, Any]  # what your extractors returned, by their names
    login: bool  # it was read with your login
    stored: Stored
    archive: StoredPages

    def __repr__(self) -> str:
        return f"Page({self.url!r}, version={self.version})"

    def body(self) -> bytes:
        """The received bytes, decompressed."""
        return self._archived.body

    def text(self) -> str:
        """The visible text, a line for each paragraph."""
        return text_of(self._archived)

    @property
    def main(self) -> str:
        """The text of the main content, without navigation and what else frames it."""
        return main_text_of(self._archived, self.archive.template_of(self.url))

    def markdown(self) -> str:
        """The main content as Markdown, with absolute links."""
        from sanderling.documents.markdown import as_markdown

        document = document_in(self._archived)
        return as_markdown(document, self.url, self.archive.template_of(self.url)) if document is not None else ""

    def chunks(self) -> "list[Chunk]":
        """The same in pieces for retrieval, one for each heading."""
        from sanderling.documents.chunks import chunks

        return [*chunks(self.url, self.title, self.markdown())]

    @property
    def tree(self) -> "Document | None":
        """The parsed document, for CSS (`select`) and XPath (`xpath`); None for other files than
        HTML. It is yours: each call parses it again."""
        return html_in(self._archived)

    @property
    def headers(self) -> dict[str, str]:
        """The headers of the response, by names in lower case."""
        found: dict[str, str] = {}
        for name, value in self._archived.headers:
            low = name.lower()
            found[low] = f"{found[low]}, {value}" if low in found else value
        return found

    @property
    def links(self) -> "list[Anchor]":
        """The links on the page in their order, with their texts. Each is listed as often as it
        stands there."""
        from sanderling.documents.html import Anchor, anchors_of

        tree = self.tree
        if tree is None:
            return [Anchor(url, "", False) for url in page_in(self._archived).links()]
        return anchors_of(tree, self.url)

    def for_extractors(self) -> "ReadPage":
        """The page as an extractor gets it, to test extractors on stored pages."""
        return page_in(self._archived)

    @property
    def metadata(self) -> "Metadata":
        """JSON-LD, Open Graph, microdata and meta elements."""
        from sanderling.documents.metadata import Metadata, metadata_of

        tree = self.tree
        return metadata_of(tree, self.url) if tree is not None else Metadata()

    @property
    def _archived(self) -> warc.Archived:
        return self.archive.read(self.stored)


def page_of(found: PageVersion, archive: StoredPages) -> Page:
    version = found.version
    return Page(
        version=version.number, url=version.url, status=version.status, title=version.title, mime=version.mime,
        charset=found.charset, language=found.language, size=version.size, truncated=found.truncated,
        noindex=found.noindex, fetched_at=version.at, digest=version.digest, data=version.extracted or {},
        login=version.login, stored=version.stored, archive=archive,
    )  # fmt: skip
