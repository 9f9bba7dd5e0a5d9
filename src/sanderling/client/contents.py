"""Reads bodies: the text, the links and the facts of a document."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from sanderling.client.arrival import Condense
from sanderling.documents.charsets import decode
from sanderling.documents.flat import FlatPage, flat_page
from sanderling.documents.formats import kind_of
from sanderling.documents.html import Head, HtmlPage
from sanderling.documents.links import LinkTable, pack, unpacked
from sanderling.documents.reading import as_document, dated, hrefs_of, read_document
from sanderling.documents.requisites import of_page, requisites_of
from sanderling.documents.tree import Document
from sanderling.documents.unreadable import UNREADABLE
from sanderling.documents.visible import Span
from sanderling.documents.visible import visible_text as shown
from sanderling.model import Found, Kind
from sanderling.model.form_facts import Form, Turner
from sanderling.model.reasons import reason
from sanderling.network import names
from sanderling.processes.sandboxed import ChildFailed
from sanderling.settings import Settings, watched_parts
from sanderling.urls import identity, join

if TYPE_CHECKING:  # loaded only by crawls with a topic
    from sanderling.topics.judging import Judge

# Images and other files of a page beyond these are fetched, but the page is not marked when they
# change.
_MOST_IMAGES = 1000

# The first step reads the tree of a page, which may then be freed. The second makes the fingerprint
# from its result, the text and the packed links.
Fingerprinter = Callable[[Document, str], Condense]
# Makes the fingerprint of an image.
DescribeImage = Callable[[bytes], bytes]


class Detector(Protocol):
    """Makes the fingerprints of pages and images."""

    @property
    def fingerprint(self) -> Fingerprinter: ...

    @property
    def describe_image(self) -> DescribeImage: ...


class Read(NamedTuple):
    """The content of a document."""

    charset: str = ""
    language: str = ""
    title: str = ""
    words: str | None = None  # its text, if it has one
    links: bytes = b""
    found: Sequence[Found] = ()
    noindex: bool = False
    reason: str = ""
    canonical: int = 0
    fingerprint: bytes = b""
    condense: Condense | None = None  # of a page that is visited again
    tree: Document | None = None  # when there are extractors
    linked: Sequence[Span] = ()  # where links stand in the text of an HTML page, when there is a topic
    relevance: float = 0.0  # when there is a topic
    by_topic: dict[str, float] | None = None  # when there are several
    forms: Sequence[Form] = ()
    turners: Sequence[Turner] = ()
    images: bytes | None = None  # and other files of an HTML page, when they are fetched
    hrefs: Sequence[str] = ()  # of a document whose text and links are archived in its stead


class ContentReader:
    """Reads the bodies that one client fetches. With `keep_tree`, the tree of an HTML page is
    kept."""

    def __init__(self, settings: Settings, detector: Detector, judge: "Judge | None", keep_tree: bool) -> None:
        self.names = names(settings)
        self.links = LinkTable()
        self._files = LinkTable()  # a link that was excluded may be a file of a page
        self.judge = judge
        self._detector = detector
        self._keep_tree = keep_tree
        self._ignore_robots = settings.ignore_robots
        self.follow_nofollow = settings.follow_nofollow or settings.ignore_robots
        self._follow_links = settings.follow_links
        self._images = settings.images
        self._requisites = settings.requisites
        self._forms = settings.forms != "none"
        self._reduces = settings.body_text
        # What is not archived whole cannot be fingerprinted later.
        self._always = bool(settings.body_text or settings.body_urls or settings.body_types)
        self._watched = watched_parts(settings)
        needs_tree = keep_tree or judge is not None or self._forms or self._images or self._requisites
        self._is_plain = not needs_tree and not self._always

    def read(self, url: str, body: bytes, mime: str, charset: str | None, said: tuple[bool, bool], again: bool) -> Read:
        """Reads a body; `said` is whether the headers forbid to follow its links and to index it.

        Only pages that are visited `again` get a fingerprint. Most pages never change, and the
        first version of a page that does is in the archive.
        """
        again = again or self._always or url in self._watched
        try:
            kind = kind_of(body, mime, charset)
            if kind == "html":
                return self._html(url, body, charset, said, again)
            return self._other(kind, url, body, mime, charset, said, again)
        except ChildFailed as error:
            return Read(reason=reason("unread", error), noindex=said[1])
        except UNREADABLE as error:
            return unread(error)

    def vocabulary(self, text: str | None) -> str:
        """The words of a page, for a crawl that sends forms."""
        if not text or not self._forms:
            return ""
        from sanderling.documents.vocabulary import words_of

        return words_of(text)

    def _html(self, url: str, body: bytes, charset: str | None, said: tuple[bool, bool], again: bool) -> Read:
        flat = flat_page(body, charset, url) if self._is_plain and not again else None
        page = flat or HtmlPage(body, charset, url)
        head = page.head(self.names, self.follow_nofollow)
        nofollow, noindex = said[0] or head.nofollow, said[1] or head.noindex
        follows = self._follow_links and (not nofollow or self._ignore_robots)
        links, found = self._links_of(page, head) if follows else (b"", [])
        stands_for = join(head.base, head.canonical) if head.canonical else None
        canonical = identity(stands_for) if stands_for and stands_for != url else 0
        read = Read(
            page.charset, page.language(), page.title(), None, links, found, noindex, canonical=canonical,
        )  # fmt: skip
        if isinstance(page, FlatPage):
            return read._replace(words=page.text())
        return self._from_tree(page, head, read, follows, again)

    def _from_tree(self, page: HtmlPage, head: Head, read: Read, follows: bool, again: bool) -> Read:
        """Adds what only a tree tells."""
        images, found = b"", read.found
        if self._requisites:
            images, files = self._files_of(head.base, of_page(page))
            found = [*found, *files]
        elif self._images and follows:  # fetched like links, but not part of the link graph
            images, drawn = self.links.resolve(head.base, page.images())
            found = [*found, *(each for _, each in drawn)]
        forms: Sequence[Form] = ()
        if self._forms:
            from sanderling.documents.html_forms import forms_of

            forms = forms_of(page.document, head.base)
        hrefs = hrefs_of(page, head, self.follow_nofollow)[0] if read.links and self._reduces else ()
        condense = self._detector.fingerprint(page.document, page.url) if again else None
        spent, linked = not self._keep_tree, list[Span]()
        if self.judge is None:
            words = page.text(spent)
        else:
            words, linked = page.text_and_links(spent)
        return read._replace(
            words=words, found=found, condense=condense, tree=None if spent else page.document, linked=linked,
            forms=forms, hrefs=_whole(head.base, hrefs),
            images=images[: 8 * _MOST_IMAGES] if self._images or self._requisites else None,
        )  # fmt: skip

    def read_requisite(self, url: str, body: bytes, mime: str, charset: str | None, again: bool) -> Read:
        """Reads a file of a page: for the files that it needs in turn."""
        drawn = self._detector.describe_image(body) if again and mime.startswith("image/") else b""
        try:
            written = requisites_of(url, body, mime, charset) if self._requisites else []
            _, found = self._files_of(url, written)
        except UNREADABLE as error:
            return unread(error)
        return Read(charset=charset or "", found=found, fingerprint=drawn)

    def with_document(self, read: Read, url: str, document: bytes) -> Read:
        """With the files that only the document of a rendered page names, such as those of
        `noscript`."""
        if not self._requisites:
            return read
        return read._replace(found=[*read.found, *self.read_requisite(url, document, "text/html", None, False).found])

    def _files_of(self, base: str, written: list[str]) -> tuple[bytes, list[Found]]:
        """The files that a document needs, packed, and those that this client meets for the first
        time."""
        ids, new = self._files.resolve(base, written)
        return ids, [each._replace(kind=Kind.REQUISITE) for _, each in new]

    def followed(self, read: Read, urls: Iterable[str]) -> Read:
        """With URLs that extractors follow as links of the page."""
        links = dict.fromkeys((*unpacked(read.links), *map(identity, urls)))
        new = [found for url in urls if (found := self.links.meet(url)) is not None]
        return read._replace(links=pack(links), found=[*read.found, *new])

    def meet(self, target: str, kind: int) -> Found | None:
        """Where a redirect leads, when this client has not met it."""
        found = (self._files if kind == Kind.REQUISITE else self.links).meet(target)
        return found._replace(kind=Kind(kind)) if found is not None and kind == Kind.REQUISITE else found

    def _links_of(self, page: HtmlPage | FlatPage, head: Head) -> tuple[bytes, list[Found]]:
        """All links of a page, packed, and those that this client meets for the first time, with
        their anchors."""
        hrefs, spelled = hrefs_of(page, head, self.follow_nofollow)
        links, new = self.links.resolve(head.base, hrefs)
        written = {after: before for before, after in spelled.items()}
        named = [written.get(href, href) for href, _ in new]
        if self.judge is None or isinstance(page, FlatPage):
            texts = page.anchor_texts(named)
            found = [Found(each.id, each.url, text) for (_, each), text in zip(new, texts, strict=True)]
        else:
            found = [
                each._replace(anchor=text, relevance=self.judge.link(text, around, each.url))
                for (_, each), (text, around) in zip(new, page.anchor_surroundings(named), strict=True)
            ]
        return links, found

    def _other(
        self, kind: str, url: str, body: bytes, mime: str, charset: str | None, said: tuple[bool, bool], again: bool
    ) -> Read:
        """Reads what is not HTML."""
        nofollow, noindex = said
        if kind == "bytes":
            drawn = self._detector.describe_image(body) if again and mime.startswith("image/") else b""
            return Read(noindex=noindex, fingerprint=drawn)
        if kind == "text":
            words = decode(body, charset)
            return Read(words=words, noindex=noindex, fingerprint=self._of_text(words, url) if again else b"")
        text = read_document(kind, body, charset)
        follows = self._follow_links and (not nofollow or self._ignore_robots)
        links, new = self.links.resolve(url, text.links if follows else [])
        return Read(
            title=text.title,
            words=text.text,
            fingerprint=self._of_text(text.text, url) if again else b"",
            links=links,
            found=(dated(url, body, charset, links) if kind == "xml" else []) + [found for _, found in new],
            noindex=noindex,
            hrefs=_whole(url, text.links) if links and self._reduces else (),
        )

    def _of_text(self, words: str, url: str) -> bytes:
        document = as_document(words)
        return self._detector.fingerprint(document, url)(shown(document), b"")


def _whole(base: str, hrefs: Iterable[str]) -> list[str]:
    return [whole for each in hrefs if (whole := join(base, each))]


def unread(error: Exception) -> Read:
    return Read(reason=reason("unread", f"{type(error).__name__}: {error}")[:200])
