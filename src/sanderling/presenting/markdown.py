"""Exports pages as Markdown files, for note-taking apps, static sites and language models."""

import json
import re
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import PurePosixPath
from urllib.parse import urlsplit

from turbohtml import Document

from sanderling.model import PageRow, Stored
from sanderling.repository import warc
from sanderling.repository.archive import document_in
from sanderling.repository.export import LeftOut, readable
from sanderling.repository.folder import Folder
from sanderling.repository.store import PageStore
from sanderling.urls import identity

# Elements around the main content, which repeat on every page of a site.
_FRAME = ("nav", "footer", "aside", "script", "style", "template", "noscript")
_UNSAFE = re.compile(r"[^\w.%~@+=,-]", re.ASCII)
_LONGEST_NAME = 100


def files(
    folder: Folder, store: PageStore, left_out: LeftOut, with_login: bool = False
) -> Iterator[tuple[PurePosixPath, str]]:
    """Yields the file name and the text of each page. Aliases and pages without text are left
    out."""
    with closing(warc.WarcReader(folder.warcs)) as reader:
        for page in store.pages():
            if page.warc is None or page.same_as or (page.login and not with_login) or not 200 <= page.status < 300:
                continue
            archived = readable(reader, page.url, Stored(page.warc, page.offset, page.length), left_out)
            document = document_in(archived) if archived is not None else None
            if document is not None:
                yield name(page.url), _front(page) + _content(document, page.url)


def name(url: str) -> PurePosixPath:
    """A file name from which the URL can be read. If that is not possible, a hash makes the name
    unique."""
    parts = urlsplit(url)
    path = parts.path + ("index" if parts.path.endswith("/") or not parts.path else "")
    steps = [_UNSAFE.sub("_", step)[:_LONGEST_NAME].lstrip(".") or "_" for step in (parts.netloc, *path.split("/")[1:])]
    exact = "/".join(steps) == parts.netloc + path
    mark = "" if exact and not parts.query else f"-{identity(url) & 0xFFFF_FFFF:08x}"
    return PurePosixPath(*steps[:-1], f"{steps[-1]}{mark}.md")


def _front(page: PageRow) -> str:
    """The facts of a page as YAML front matter. Values are JSON, which is valid YAML."""
    at = {key: datetime.fromtimestamp(getattr(page, key), UTC).isoformat() for key in ("fetched_at", "changed_at")}
    facts = {"url": page.url, "title": page.title, "language": page.language, **at}
    lines = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in facts.items() if value]
    return "\n".join(["---", *lines, "---", "", ""])


def _content(document: Document, url: str) -> str:
    whole = document.select_one("main") or document
    for element in whole.find_all([*_FRAME]):
        element.decompose()
    document.resolve_links(url)
    return whole.to_markdown().strip() + "\n"
