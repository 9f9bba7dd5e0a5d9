"""Exports pages as Markdown files, for note-taking apps, static sites and language models."""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from pathlib import PurePosixPath
from typing import NamedTuple
from urllib.parse import urlsplit

import msgspec
from xxhash import xxh3_128_hexdigest

from sanderling.documents.chunks import chunks
from sanderling.documents.markdown_apart import Source, written
from sanderling.model import PageRow, Stored
from sanderling.presenting.export_folder import FolderFile
from sanderling.repository import warc
from sanderling.repository.archive import type_of
from sanderling.repository.export import LeftOut, readable
from sanderling.repository.folder import Folder
from sanderling.repository.store import Store
from sanderling.repository.templates import SiteTemplates, sampled
from sanderling.urls import identity

_UNSAFE = re.compile(r"[^\w.%~@+=,-]", re.ASCII)
# Systems take names of 255 bytes and paths of 4,096.
_LONGEST_NAME, _LONGEST_PATH = 100, 1000


# Part of what is remembered of a file: another number has all files written again.
_WRITTEN_BY = 1


class MarkdownPage(NamedTuple):
    """A page that can be written as Markdown."""

    url: str
    title: str
    key: str  # other facts or another content give another one
    front: str  # its facts as front matter
    text: Callable[[], str | None]  # its content; None if it cannot be read
    source: Callable[[], Source | None] | None = None  # what it is made of

    def with_text(self, text: str | None) -> "MarkdownPage":
        return self._replace(text=lambda: text)


def pages(folder: Folder, store: Store, left_out: LeftOut, with_login: bool = False) -> Iterator[MarkdownPage]:
    """Every page but aliases. Only who asks for the text of a page has it read."""
    with closing(warc.WarcReader(folder.warcs)) as reader:
        templates = SiteTemplates(lambda: sampled(store, with_login), reader.read)

        def source_of(url: str, stored: Stored) -> Source | None:
            archived = readable(reader, url, stored, left_out)
            if archived is None:
                return None
            return Source(url, archived.url, type_of(archived), archived.body, templates.of(url))

        for page in store.pages():
            if page.warc is None or page.same_as or (page.login and not with_login) or not 200 <= page.status < 300:
                continue
            stored, front = Stored(page.warc, page.offset, page.length), _front(page)
            key = xxh3_128_hexdigest(f"{_WRITTEN_BY} {page.digest} {front}".encode("utf-8", "replace"))
            source = partial(source_of, page.url, stored)
            yield MarkdownPage(page.url, page.title, key, front, partial(_text, source), source)


def _text(source: Callable[[], Source | None]) -> str | None:
    found = source()
    return written(found) if found is not None else None


def files(pages: Iterable[MarkdownPage]) -> Iterator[FolderFile]:
    """A file for each page. One without text is not written."""
    taken = set[str]()  # http and https may have a page of the same name, and /a/ and /a/index, too
    for page in pages:
        path = str(name(page.url))
        if path in taken:
            path = str(name(page.url, marked=True))
        taken.add(path)
        yield FolderFile(path, page.key, partial(_content, page))


def _content(page: MarkdownPage) -> bytes | None:
    text = page.text()
    return f"{page.front}{text}\n".encode("utf-8", "replace") if text else (None if text is None else b"")


def llms_txt(pages: Iterable[MarkdownPage]) -> Iterator[bytes]:
    """A list of all pages for language models, as llmstxt.org has it."""
    yield b"# Pages\n\n"
    for page in pages:
        title = " ".join(page.title.split()).replace("[", "(").replace("]", ")") or page.url
        yield f"- [{title}]({page.url})\n".encode("utf-8", "replace")


def llms_full_txt(pages: Iterable[MarkdownPage]) -> Iterator[bytes]:
    """The content of all pages in one file."""
    for page in pages:
        if text := page.text():
            yield f"{page.front}{text}\n\n".encode("utf-8", "replace")


def chunk_lines(pages: Iterable[MarkdownPage]) -> Iterator[bytes]:
    """The pieces of all pages, a JSON object a line."""
    for page in pages:
        for chunk in chunks(page.url, page.title, page.text() or ""):
            yield msgspec.json.encode(chunk) + b"\n"


def name(url: str, marked: bool = False) -> PurePosixPath:
    """A file name from which the URL can be read. If that is not possible, or if it is to be
    `marked`, a hash makes the name unique."""
    parts = urlsplit(url)
    path = parts.path + ("index" if parts.path.endswith("/") or not parts.path else "")
    host, *steps = [
        _UNSAFE.sub("_", step)[:_LONGEST_NAME].lstrip(".") or "_" for step in (parts.netloc, *path.split("/")[1:])
    ]
    # No folder is named like a file.
    folders = [f"{step}_" if step.endswith(".md") else step for step in steps[:-1]]
    while len("/".join(folders)) > _LONGEST_PATH:
        folders.pop()
    exact = "/".join([host, *folders, steps[-1]]) == parts.netloc + path
    mark = "" if exact and not parts.query and not marked else f"-{identity(url) & 0xFFFF_FFFF:08x}"
    return PurePosixPath(host, *folders, f"{steps[-1]}{mark}.md")


def _front(page: PageRow) -> str:
    """The facts of a page as YAML front matter. Values are JSON, which is valid YAML."""
    at = {"changed_at": datetime.fromtimestamp(page.changed_at, UTC).isoformat()}
    facts = {"url": page.url, "title": page.title, "language": page.language, **at}
    lines = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in facts.items() if value]
    return "\n".join(["---", *lines, "---", "", ""])
