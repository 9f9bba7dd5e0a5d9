"""Pages as single files: HTML with all that a page shows in it, and PDF, which a browser prints."""

from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from functools import partial
from typing import Any

from sanderling.documents.charsets import decode
from sanderling.documents.reading import media_type
from sanderling.documents.rewriting import Targets, rewritten_stylesheet
from sanderling.errors import Damaged
from sanderling.model import VersionRow
from sanderling.presenting.export_folder import FolderFile
from sanderling.presenting.mirror import HTML, Paths, newest, page_content
from sanderling.repository import replay, warc
from sanderling.repository.archive import type_of
from sanderling.repository.export import LeftOut, readable
from sanderling.repository.folder import Folder
from sanderling.repository.store import Store

# A page takes so much of files into itself; what is beyond, as a long video, stays out.
MOST_EMBEDDED = 64 << 20
_NOTHING = "about:invalid"
# Part of what is remembered of a file: another number has all files written again.
_WRITTEN_BY = 1

# Makes a PDF of an HTML page; None if it cannot.
Print = Callable[[bytes], bytes | None]


def singles(
    folder: Folder, store: Store, left_out: LeftOut, with_login: bool = False, urls: Any = None,
    as_pdf: Print | None = None,
) -> Iterator[FolderFile]:  # fmt: skip
    """A file for each page, with the archived files of its time. `urls` is a pattern of the user's
    for the pages; with `as_pdf` they are printed."""
    paths = Paths(store, with_login)
    with closing(warc.WarcReader(folder.warcs)) as reader:
        for version in newest(store, with_login, files=False):
            if version.mime not in HTML or (urls is not None and not urls.search(version.url)):
                continue
            make = partial(_made, store, reader, version, left_out, as_pdf)
            path = paths.of(version.url)
            path = path if as_pdf is None else f"{path.removesuffix('.html')}.pdf"
            yield FolderFile(path, f"{_WRITTEN_BY} {version.number}", make)


def _made(
    store: Store, reader: warc.WarcReader, version: VersionRow, left_out: LeftOut, as_pdf: Print | None
) -> bytes | None:
    archived = readable(reader, version.url, version.stored, left_out)
    if archived is None:
        return None
    files = _Embedded(store, reader, version)
    html = page_content(archived, version, files.targets, files.body)
    if as_pdf is None:
        return html
    printed = as_pdf(html)
    if printed is None:
        left_out.note(f"{version.url}: the browser could not print it")
    return printed


class _Embedded:
    """The files of a page as addresses that have their content in them."""

    def __init__(self, store: Store, reader: warc.WarcReader, page: VersionRow) -> None:
        self._store = store
        self._reader = reader
        self._page = page
        self._made: dict[str, str] = {}
        self._left = MOST_EMBEDDED
        self.targets = Targets(lambda url: url, self._address)

    def body(self, url: str) -> bytes | None:
        found = self._found(url)
        return found[1].body if found is not None else None

    def _address(self, url: str) -> str:
        if url not in self._made:
            self._made[url] = _NOTHING  # for style sheets and frames that show themselves
            self._made[url] = self._embedded(url)
        return self._made[url]

    def _embedded(self, url: str) -> str:
        found = self._found(url)
        if found is None or len(found[1].body) > self._left:
            return _NOTHING
        version, archived = found
        self._left -= len(archived.body)
        said = type_of(archived) or version.mime
        mime, charset = media_type(said)
        content = archived.body
        if mime == "text/css":
            sheet = rewritten_stylesheet(decode(content, charset), version.url, self.targets)
            mime, content = "text/css;charset=utf-8", sheet.encode("utf-8", "replace")
        elif mime in HTML:
            mime, content = "text/html;charset=utf-8", page_content(archived, version, self.targets, self.body)
        elif charset:
            mime = f"{mime};charset={charset}"
        plain = mime.isascii() and mime.isprintable() and not set(mime) & set("\"'()<> \\,#")
        return f"data:{mime if plain else 'application/octet-stream'};base64,{b64encode(content).decode()}"

    def _found(self, url: str) -> tuple[VersionRow, warc.Archived] | None:
        version = replay.file_of(self._store, url, self._page)
        # A session of the user's may show other files than everybody sees.
        if version is None or (version.login and not self._page.login):
            return None
        try:
            return version, self._reader.read(version.stored)
        except (Damaged, OSError):
            return None


def printed(
    folder: Folder, store: Store, left_out: LeftOut, with_login: bool, urls: Any, sandbox: bool
) -> Iterator[FolderFile]:
    """A PDF for each page."""
    from sanderling.browser.printing import Printer  # late: the browser's modules take a moment

    with ExitStack() as stack:
        printer = stack.enter_context(closing(Printer(sandbox)))
        yield from singles(folder, store, left_out, with_login, urls, printer.pdf)
