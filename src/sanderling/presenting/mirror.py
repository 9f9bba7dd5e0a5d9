"""Writes the newest copies of a crawl as a site that opens from a disk: links lead to the files
beside, and nothing is asked of the network but what links to live pages lead to."""

import re
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from hashlib import sha256
from html import escape
from posixpath import dirname, relpath
from urllib.parse import quote, unquote, urlsplit

from xxhash import xxh3_128_hexdigest

from sanderling.documents.charsets import decode
from sanderling.documents.html import HtmlPage
from sanderling.documents.reading import media_type
from sanderling.documents.rewriting import Targets, rewritten_page, rewritten_stylesheet
from sanderling.documents.sprites import inline_sprites
from sanderling.model import VersionRow
from sanderling.presenting.export_folder import FolderFile
from sanderling.repository import replay, views, warc
from sanderling.repository.archive import html_in, type_of
from sanderling.repository.export import LeftOut, readable
from sanderling.repository.folder import Folder
from sanderling.repository.store import Store
from sanderling.urls import identity

HTML = ("text/html", "application/xhtml+xml")
_AT_ONCE = 1000
# A path is made of these, whatever a URL says; other characters become `_`.
_UNSAFE = re.compile(r"[^\w.~@+=-]", re.ASCII)
_LONGEST_STEP, _LONGEST_PATH = 80, 200
# Names that mean something to Windows.
_RESERVED = re.compile(r"^(con|prn|aux|nul|com\d|lpt\d)(\.|$)", re.IGNORECASE)
# Part of what is remembered of a file: another number has all files written again.
_WRITTEN_BY = 1
_DECLARED = re.compile(r"<meta[^>]+charset[^>]*>", re.IGNORECASE)


class Paths:
    """Which URL is which file. No two files differ in case only."""

    def __init__(self, store: Store, with_login: bool) -> None:
        self._store = store
        self._paths: dict[str, str] = {}
        self._taken: set[str] = {"index.html"}
        self._folders: set[str] = set()
        self._led: dict[str, str] = {}
        for version in newest(store, with_login):
            path = path_of(version.url, version.mime in HTML)
            host, *steps = path.lower().split("/")
            folders = {"/".join([host, *steps[:n]]) for n in range(len(steps))}
            if folders & self._taken:  # a file is where a folder would have to be
                path = _marked(f"{path.partition('/')[0]}/{path.rpartition('/')[2]}", version.url)
            elif path.lower() in self._taken or path.lower() in self._folders:
                path = _marked(path, version.url)
            self._taken.add(path.lower())
            self._folders |= folders
            self._paths[version.url] = path

    def find(self, url: str) -> str:
        """The file of a URL, also of one that redirects or is another name; empty if there is
        none."""
        if url in self._paths:
            return self._paths[url]
        if url not in self._led:
            known = views.url(self._store, identity(url))
            there = (known.same_as or known.redirect) if known is not None else ""
            self._led[url] = self._paths.get(there, "")
        return self._led[url]

    def of(self, url: str) -> str:
        return self._paths[url]

    @property
    def digest(self) -> str:
        """Changes when any page gets another path, or there is another one."""
        return xxh3_128_hexdigest(
            "\n".join(f"{url} {path}" for url, path in self._paths.items()).encode("utf-8", "replace")
        )


def path_of(url: str, is_page: bool) -> str:
    """A safe path for a URL, with the ending that a browser knows a page by."""
    parts = urlsplit(url)
    steps = [_step(step) for step in unquote(parts.path).split("/") if step]
    if not steps or parts.path.endswith("/"):
        steps.append("index.html")
    path = "/".join([_step(parts.netloc.replace(":", "_")), *steps])
    if is_page and not path.lower().endswith((".html", ".htm", ".xhtml")):
        path += ".html"
    return _marked(path, url) if parts.query or len(path) > _LONGEST_PATH else path


def _step(text: str) -> str:
    plain = _UNSAFE.sub("_", text)[:_LONGEST_STEP].strip(".") or "_"
    return f"_{plain}" if _RESERVED.match(plain) else plain


def _marked(path: str, url: str) -> str:
    """With a hash of the URL before its ending."""
    stem, dot, ending = path.rpartition(".")
    mark = sha256(url.encode("utf-8", "replace")).hexdigest()[:10]
    if not dot or "/" in ending:
        return f"{path[:_LONGEST_PATH]}-{mark}"
    return f"{stem[:_LONGEST_PATH]}-{mark}.{ending[:10]}"


def mirror(folder: Folder, store: Store, left_out: LeftOut, with_login: bool = False) -> Iterator[FolderFile]:
    """The files of the site, and at last `index.html`, which lists its pages."""
    paths = Paths(store, with_login)
    listed, key = [], paths.digest
    with closing(warc.WarcReader(folder.warcs)) as reader:

        def read(url: str) -> bytes | None:
            there = replay.copy_of(store, url, float("inf")) if paths.find(url) else None
            found = readable(reader, url, there.stored, left_out) if there is not None else None
            return found.body if found is not None else None

        def content(version: VersionRow, path: str) -> bytes | None:
            archived = readable(reader, version.url, version.stored, left_out)
            return page_content(archived, version, _targets(paths, path), read) if archived is not None else None

        for version in newest(store, with_login):
            path = paths.of(version.url)
            yield FolderFile(path, f"{_WRITTEN_BY} {version.number} {key}", partial(content, version, path))
            if version.mime in HTML:
                listed.append((path, version.title or version.url))
    index = _index(folder.path.resolve().name, listed)
    yield FolderFile("index.html", xxh3_128_hexdigest(index), lambda: index)


def newest(store: Store, with_login: bool, files: bool = True) -> Iterator[VersionRow]:
    """The newest version of each page, and of the files that pages need."""
    last = 0
    while found := views.current_versions(store, last, _AT_ONCE, with_login, files):
        last = found[-1].version.number
        yield from (page.version for page in found)


def _targets(paths: Paths, path: str) -> Targets:
    """Relative addresses. What is not there is left live as a link, and empty as a file."""

    def to(url: str, instead: str) -> str:
        there = paths.find(url)
        return quote(relpath(there, dirname(path) or ".")) if there else instead

    return Targets(lambda url: to(url, url), lambda url: to(url, "about:invalid"))


def page_content(
    archived: warc.Archived, version: VersionRow, to: Targets, read: Callable[[str], bytes | None]
) -> bytes:
    """A page or one of its files with other addresses, in UTF-8."""
    mime, charset = media_type(type_of(archived) or version.mime)
    if mime == "text/css":
        return b'@charset "utf-8";\n' + rewritten_stylesheet(decode(archived.body, charset), version.url, to).encode(
            "utf-8", "replace"
        )
    document = html_in(archived) if mime in HTML else None
    if document is None:
        return archived.body
    page = HtmlPage(document, None, version.url)
    inline_sprites(page, read)
    html = _DECLARED.sub("", rewritten_page(page, to, archived.converted))
    start = re.search(r"<head[^>]*>", html, re.IGNORECASE)
    at = start.end() if start else 0
    return f'{html[:at]}<meta charset="utf-8">{html[at:]}'.encode("utf-8", "replace")


def _index(name: str, listed: list[tuple[str, str]]) -> bytes:
    rows = "".join(f'<li><a href="{quote(path)}">{escape(title)}</a></li>\n' for path, title in listed)
    head = f'<!doctype html><html><head><meta charset="utf-8"><title>{escape(name)}</title></head>'
    return f"{head}<body><h1>{escape(name)}</h1><ul>\n{rows}</ul></body></html>\n".encode("utf-8", "replace")
