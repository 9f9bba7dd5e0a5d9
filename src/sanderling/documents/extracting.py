"""Extractors: the user's own functions that take data from pages. How they are loaded and run."""

import contextlib
import importlib
import importlib.util
import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from sanderling.errors import BadSetting
from sanderling.urls import join

if TYPE_CHECKING:  # a command that only checks the settings need not wait for the parser
    import turbohtml

# Installed packages offer extractors as entry points of this group.
ENTRY_POINTS = "sanderling.extractors"
# Limits for what one extractor returns for one page.
LARGEST = 64 * 1024
DEEPEST = 32
_LONGEST_ERROR = 300


class ReadPage(Struct, frozen=True, kw_only=True):
    """A page as an extractor gets it."""

    url: str
    status: int = 200
    headers: dict[str, str] = {}  # of the response; names in lower case
    mime: str = ""
    language: str = ""
    title: str = ""
    text: str = ""  # the visible text
    tree: "turbohtml.Document | None" = None  # only for HTML
    body: bytes = b""  # decompressed

    def links(self) -> list[str]:
        """The URLs that the page links to, each once. Includes links marked nofollow."""
        from sanderling.documents.formats import kind_of
        from sanderling.documents.html import HtmlPage
        from sanderling.documents.reading import READERS, hrefs_of, media_type
        from sanderling.processes.sandboxed import ChildFailed

        base, hrefs = self.url, list[str]()
        if self.tree is not None:
            page = HtmlPage(self.tree, None, self.url)
            head = page.head(frozenset(), follow_nofollow=True)
            base, hrefs = head.base, hrefs_of(page, head, follow_nofollow=True)[0]
        else:
            mime, charset = media_type(self.headers.get("content-type", self.mime))
            with contextlib.suppress(ChildFailed):  # a document that cannot be read
                if reader := READERS.get(kind_of(self.body, mime)):
                    hrefs = reader(self.body, charset).links
        targets = dict.fromkeys(href.partition("#")[0] for href in hrefs)
        return list(dict.fromkeys(url for target in targets if target and (url := join(base, target))))


def read_page(url: str, status: int, headers: Iterable[tuple[str, str]], body: bytes) -> ReadPage:
    """Reads a page again, as the client read it when it was fetched."""
    from sanderling.documents.charsets import decode
    from sanderling.documents.formats import kind_of
    from sanderling.documents.html import HtmlPage
    from sanderling.documents.reading import READERS, media_type

    named = {name.lower(): value for name, value in headers}
    mime, charset = media_type(named.get("content-type", ""))
    page = ReadPage(url=url, status=status, headers=named, mime=mime, body=body)
    try:
        kind = kind_of(body, mime)
        if kind == "html":
            html = HtmlPage(body, charset, url)
            return replace(page, language=html.language(), title=html.title(), text=html.text(), tree=html.document)
        if kind == "text":
            return replace(page, text=decode(body, charset))
        if kind in READERS:
            document = READERS[kind](body, charset)
            return replace(page, title=document.title, text=document.text)
    except (ValueError, TypeError, LookupError, MemoryError, RecursionError, AttributeError):
        pass  # a page that the parsers cannot read, as when it was fetched
    return page


class Extractor(NamedTuple):
    """A loaded extractor."""

    name: str  # its data is stored under this name
    given: str  # as the settings name it
    function: Callable[[ReadPage], Any]


class Extracted(NamedTuple):
    """The data of all extractors for a page as one JSON object, and the errors of those that
    failed."""

    data: bytes
    failed: dict[str, str]


def from_here(given: str) -> str:
    """An extractor named on the command line: if its file is found from the working directory, with
    its full path."""
    place, _, name = given.rpartition(":")
    return f"{Path(place).absolute()}:{name}" if Path(place).is_file() else given


def load(given: Iterable[str], folder: Path) -> list[Extractor]:
    """Loads extractors; relative paths start at the crawl folder. BadSetting says which one fails,
    and why."""
    files: dict[Path, ModuleType] = {}
    found: dict[str, Extractor] = {}
    for each in given:
        extractor = _load(each, folder, files)
        if other := found.get(extractor.name):
            raise BadSetting(
                f"the extractors {other.given!r} and {each!r} have the same name, and data is stored by name: "
                "rename one of the functions"
            )
        found[extractor.name] = extractor
    return list(found.values())


def extract(extractors: Iterable[Extractor], page: ReadPage) -> Extracted:
    """Runs extractors on a page. The failure of one does not affect the others."""
    parts: list[str] = []
    failed: dict[str, str] = {}
    for each in extractors:
        try:
            data = each.function(page)
            if data is not None:
                parts.append(f"{json.dumps(each.name)}: {_encoded(data)}")
        except Exception as error:  # the user's code can raise anything
            failed[each.given] = _described(error)
    # Replaces lone surrogates, which cannot be stored.
    return Extracted(f"{{{', '.join(parts)}}}".encode("utf-8", "replace") if parts else b"", failed)


def _encoded(data: Any) -> str:
    if not isinstance(data, dict):
        raise TypeError(f"it returned {type(data).__name__} instead of a dict or None")
    _check(data, DEEPEST)
    text = json.dumps(data, ensure_ascii=False, allow_nan=False)
    if len(text.encode("utf-8", "replace")) > LARGEST:
        raise ValueError(f"it returned more than {LARGEST // 1024} KiB of JSON")
    return text


def _check(value: Any, levels: int) -> None:
    """Refuses valid JSON that other programs, the search index among them, cannot read."""
    if not levels:
        raise ValueError(f"it returned data nested more than {DEEPEST} levels deep")
    if isinstance(value, dict | list | tuple):
        for each in value.values() if isinstance(value, dict) else value:
            _check(each, levels - 1)
    elif isinstance(value, int) and not -(2**63) <= value < 2**64:
        raise ValueError("it returned an integer of more than 64 bits")


def _described(error: BaseException) -> str:
    """An error in one line. It may quote the page, so characters that control a terminal are
    replaced."""
    line = " ".join(f"{type(error).__name__}: {error}".split())[:_LONGEST_ERROR]
    return "".join(c if c.isprintable() else "\ufffd" for c in line)


def _load(given: str, folder: Path, files: dict[Path, ModuleType]) -> Extractor:
    place, colon, name = given.rpartition(":")
    try:
        if not colon:
            function = _installed(name)
        elif place.endswith(".py"):
            function = getattr(_in_file(folder / place, files), name, None)
        else:
            function = getattr(importlib.import_module(place), name, None)
    except (Exception, SystemExit) as error:
        raise BadSetting(f"the extractor {given!r} cannot be loaded: {_described(error)}") from None
    if not callable(function):
        why = f"{place} has no function {name!r}" if colon else f"no installed package offers {name!r}"
        raise BadSetting(f"the extractor {given!r} cannot be loaded: {why}")
    return Extractor(name, given, function)


def _installed(name: str) -> Any:
    from importlib.metadata import entry_points  # late: it takes longer to import than this module

    return next((each.load() for each in entry_points(group=ENTRY_POINTS, name=name)), None)


def _in_file(path: Path, files: dict[Path, ModuleType]) -> ModuleType:
    """A file as a module. It is executed once, however many of its functions are named."""
    if path not in files:
        name = f"sanderling-extractors:{path}"
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module  # dataclasses look up their module there
        spec.loader.exec_module(module)
        files[path] = module
    return files[path]
