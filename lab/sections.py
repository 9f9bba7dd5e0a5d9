"""The documentation in a finished crawl as a web with topics: texts, the words of links, and bodies
from its archive."""

import re
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from lab import webs
from sanderling.documents.html import HtmlPage
from sanderling.documents.links import LinkTable
from sanderling.documents.reading import hrefs_of
from sanderling.documents.visible import Span
from sanderling.errors import Damaged
from sanderling.repository import views, warc
from sanderling.repository.archive import document_in
from sanderling.repository.folder import Folder
from sanderling.repository.opening import reading
from sanderling.topics.words import LENGTH
from sanderling.urls import identity

# Topics of the documentation web: chapters and packages, by the places of their pages.
SECTIONS = {
    "networking and TLS": r"/java/net/|/javax/net/|java\.net\.http/|jdk\.httpserver/|jdk\.sctp/|/ssl/|mod_ssl|mod_proxy"
    r"|html/(libpq-ssl|ssl-tcp|auth-cert|ssh-tunnels)|howto/(sockets|urllib2)"
    r"|library/(ssl|socket|select|asyncio-(stream|protocol)|urllib|http\.|ftplib|smtp|imaplib|poplib|xmlrpc|ipc|internet)",
    "character sets": r"java/nio/charset|mod_charset_lite|java/text/(class-use/)?(\w*Collat|Normalizer)|c-api/(unicode|codec)"
    r"|html/(charset|multibyte|collation|locale|icu|sql-\w+(collation|conversion)|indexes-collations|catalog-pg-co(llation|nversion))"
    r"|library/(codecs|unicodedata|stringprep|locale|gettext|i18n)|howto/unicode",
    "transactions": r"javax/transaction|javax/sql/(class-use/)?XA|java/sql/(class-use/)?(Savepoint|Connection|\w*Transaction|\w*Rollback)"
    r"|html/(\w+-)*(mvcc|transaction|xact|commit|rollback|savepoint|wal|two-phase|locks?|locking|begin)\w*[-.]",
}


class JudgedText(NamedTuple):
    """What a model judges of a page."""

    title: str = ""
    text: str = ""
    links: Sequence[Span] = ()

    @property
    def example(self) -> str:
        """The page as the example of a topic."""
        return f"{self.title}\n{self.text}"[:LENGTH]


def told(page: HtmlPage) -> JudgedText:
    """Only the beginning of a page, however long it is."""
    title, (text, links) = page.title(), page.text_and_links(spent=True)
    most = 4 * LENGTH
    return JudgedText(title, text[:most], [each for each in links if each[1] <= most])


class Documentation(NamedTuple):
    """A web with what a crawl of it reads; lists have an entry for each page."""

    web: webs.Web
    texts: list[JudgedText]
    anchors: list[
        tuple[str, str]
    ]  # of the first link to a page in breadth-first order: its text, and the words around it


def documentation(path: Path) -> Documentation:
    """Reads a finished crawl."""
    web = webs.of_folder(path)
    place = {identity(url): n for n, url in enumerate(web.urls)}
    texts, anchors, table = [JudgedText()] * len(place), [("", "")] * len(place), LinkTable()
    for n, page in archived(path, web, breadth_first(web)):
        document = document_in(page)
        if document is None:
            continue
        parsed = HtmlPage(document, None, page.url)
        head = parsed.head(set())
        _, new = table.resolve(head.base, hrefs_of(parsed, head, True)[0])
        said = parsed.anchor_surroundings([href for href, _ in new])
        for (_, found), words in zip(new, said, strict=True):
            if found.id in place:
                anchors[place[found.id]] = words
        texts[n] = told(parsed)
    return Documentation(web, texts, anchors)


def archived(path: Path, web: webs.Web, pages: list[int]) -> Iterator[tuple[int, warc.Archived]]:
    """The newest versions of some pages, as far as they can be read."""
    folder = Folder(path)
    with reading(folder.path) as (_, store), closing(warc.WarcReader(folder.warcs)) as archive:
        for page in pages:
            row = views.version_at(store, identity(web.urls[page]), 1e12)
            try:
                if row is not None:
                    yield page, archive.read(row.stored)
            except (Damaged, OSError):
                continue


def breadth_first(web: webs.Web) -> list[int]:
    found, queue = dict.fromkeys(web.seeds), deque(web.seeds)
    while queue:
        for link in web.graph.links_of(queue.popleft()).tolist():
            if link not in found:
                found[link] = None
                queue.append(link)
    return list(found)


def pages_of(web: webs.Web, section: str) -> list[bool]:
    """Which pages are in a section."""
    wanted = re.compile(SECTIONS[section])
    return [bool(wanted.search(url.split("/", 3)[3])) for url in web.urls]
