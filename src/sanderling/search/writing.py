"""Versions of pages become documents, and the index says in the same commit how far it is."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from urllib.parse import unquote, urlsplit

import msgspec
import tantivy
from xxhash import xxh3_64_digest

from sanderling.errors import BadIndex, DiskFull, IndexInUse
from sanderling.model import ChangeKind, Searchable
from sanderling.search.schema import FORMAT, NEVER, SIGNS, UNSPACED
from sanderling.urls import origin

# The memory in which documents are gathered before a part of the index is written; tantivy wants 15 MB at least. Eight
# parts are merged into one, which costs as much as writing them, and more memory: 100,000 pages are four parts.
HEAP = 128_000_000
# A longer text is indexed as far as this: 1,500 pages of a book.
LONGEST_TEXT = 3_000_000
_SAMPLE = 1000
_UNSIGNED = 0xFFFF_FFFF_FFFF_FFFF


class IndexProgress(msgspec.Struct, frozen=True):
    """How far an index is, and of which crawl it is."""

    format: int = FORMAT
    number: int = 0  # the last version that is in it
    place: str = ""  # where that version is in the archive: another crawl has another one there
    rules: str = "[]"  # by which changes were judged


class Said(msgspec.Struct, frozen=True):
    """What a document says, as the reader of documents hands it over."""

    title: str = ""
    headings: str = ""
    text: str = ""
    language: str = ""


class Writer:
    """Adds to an index; what was not committed is gone when it is closed."""

    def __init__(self, index: tantivy.Index, heap: int) -> None:
        with sentences():
            self._writer = index.writer(heap, 1)

    def put(self, version: Searchable, said: Said, again: bool) -> None:
        """Adds a version, in place of itself when it is there already."""
        with sentences():
            if again:
                self.remove(version.number)
            self._writer.add_document(document(version, said))

    def remove(self, number: int) -> None:
        self._writer.delete_documents_by_term("number", number)

    def commit(self, progress: IndexProgress) -> None:
        with sentences():
            self._writer.delete_documents_by_term("progress", "here")
            note = tantivy.Document()
            note.add_text("progress", "here")
            note.add_text("cursor", msgspec.json.encode(progress).decode())
            self._writer.add_document(note)
            self._writer.commit()

    def close(self) -> None:
        """Lets merges of parts of the index end."""
        with sentences():
            self._writer.wait_merging_threads()


def document(version: Searchable, said: Said) -> tantivy.Document:
    made = tantivy.Document()
    _add(made, "title", said.title)
    _add(made, "headings", said.headings)
    _add(made, "url", version.url)
    if "%" in version.url:
        _add(made, "url", unquote(version.url))  # so that its words are found
    text = clean(said.text[:LONGEST_TEXT])
    made.add_text("signs" if _unspaced(text) else "text", text)
    for host in hosts(version.url):
        made.add_text("host", host)
    for kind in _names(version.kinds):
        made.add_text("kind", kind)
    made.add_text("language", said.language)
    made.add_text("mime", version.mime)
    made.add_text("state", "gone" if version.gone else "current" if version.until is None else "old")
    made.add_integer("page", version.page)
    made.add_integer("number", version.number)
    made.add_unsigned("version", version.version)
    made.add_unsigned("status", version.status)
    made.add_unsigned("digest", int.from_bytes(version.text_digest[:8], "little") if text else 0)
    made.add_unsigned("simhash", version.simhash & _UNSIGNED if text else 0)
    made.add_unsigned("name", int.from_bytes(xxh3_64_digest(said.title.encode("utf-8", "replace")), "little"))
    made.add_float("at", version.at)
    made.add_float("until", NEVER if version.until is None else version.until)
    made.add_float("changed_at", version.changed_at)
    return made


def _add(made: tantivy.Document, field: str, text: str) -> None:
    """A few words, by the sign where they are in a script without spaces."""
    if text.isascii():
        made.add_text(field, text)
    elif UNSPACED.search(text):
        made.add_pre_tokenized_text(field, SIGNS.pre_tokenize(clean(text)))
    else:
        made.add_text(field, clean(text))


def hosts(url: str) -> list[str]:
    """The names that a page is found under: its host with and without a port, and every domain above it."""
    return _above(origin(url))


@lru_cache(4096)
def _above(origin: str) -> list[str]:
    try:
        parts = urlsplit(origin)
        name, port = (parts.hostname or ""), parts.port
    except ValueError:
        return []
    found = [f"{name}:{port}"] if port else []
    while name:
        found.append(name)
        name = "" if name.replace(".", "").isdigit() or ":" in name else name.partition(".")[2]
    return found


@lru_cache(64)
def _names(kinds: ChangeKind) -> list[str]:
    return kinds.names


def _unspaced(text: str) -> bool:
    """Whether a text is in a script without spaces, by a part from its middle: menus name many languages."""
    start = max(0, (len(text) - _SAMPLE) // 2)
    return not text.isascii() and UNSPACED.search(text, start, start + _SAMPLE) is not None


def clean(text: str) -> str:
    """Text that can be stored: half of a surrogate pair cannot."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


@contextmanager
def sentences() -> Iterator[None]:
    """Says in one sentence what the index complains about."""
    try:
        yield
    except (ValueError, OSError) as error:
        said = str(error)
        if "LockBusy" in said:
            raise IndexInUse("another process writes to the index") from None
        if "No space left" in said or "StorageFull" in said or "os error 28" in said:
            raise DiskFull(
                "no room left for the index: nothing of the crawl is lost; free some space and search again"
            ) from None
        raise BadIndex(f"the index cannot be written ({said[:200]}): `sanderling reindex` makes it anew") from None
