"""Writes versions of pages to the index as documents. Each commit also records how far the index
is."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from urllib.parse import unquote, urlsplit

import msgspec
import tantivy
from xxhash import xxh3_64_digest

from sanderling.errors import BadIndex, DiskFull, IndexInUse
from sanderling.model import ChangeKind, Searchable
from sanderling.search.comparing import comparable
from sanderling.search.fulltext import FullText
from sanderling.search.schema import FORMAT, NEVER, SIGNS, UNSPACED
from sanderling.urls import origin

# Documents are gathered in this much memory before a segment of the index is written; tantivy needs
# at least 15 MB. Eight segments are merged into one, which costs as much as writing them. So larger
# segments are cheaper: 100,000 pages make four of this size.
HEAP = 128_000_000
# Longer texts are cut here: about 1,500 pages of a book.
LONGEST_TEXT = 3_000_000
_SAMPLE = 1000
# Shorter texts are similar to none: one other word makes another page of them.
FEWEST_WORDS = 50
_NO_DIGITS = bytes({*range(256)} - {*b"0123456789"})
_UNSIGNED = 0xFFFF_FFFF_FFFF_FFFF


class IndexProgress(msgspec.Struct, frozen=True):
    """How far an index is, and which crawl it belongs to."""

    format: int = FORMAT
    number: int = 0  # the last indexed version
    place: str = ""  # where that version is in the archive; in another crawl, another version is there
    seen: str = ""  # when and where on the web: its place changes when a lost copy is fetched again
    rules: str = "[]"  # the rules by which changes were judged, and when stored pages got new data
    forgotten: int = 0  # the last removal of versions that it followed


class Writer:
    """Adds documents to an index. Closing it drops what was not committed."""

    def __init__(self, index: tantivy.Index, heap: int) -> None:
        with write_errors():
            self._writer = index.writer(heap, 1)

    def put(self, version: Searchable, content: FullText, again: bool) -> None:
        """Adds a version. With `again` it replaces the document that the version already has."""
        with write_errors():
            if again:
                self.remove(version.number)
            self._writer.add_document(document(version, content))

    def remove(self, number: int) -> None:
        self._writer.delete_documents_by_term("number", number)

    def commit(self, progress: IndexProgress) -> None:
        with write_errors():
            self._writer.delete_documents_by_term("progress", "here")
            note = tantivy.Document()
            note.add_text("progress", "here")
            note.add_text("cursor", msgspec.json.encode(progress).decode())
            self._writer.add_document(note)
            self._writer.commit()

    def close(self) -> None:
        """Waits until running merges of segments end."""
        with write_errors():
            self._writer.wait_merging_threads()


def document(version: Searchable, content: FullText) -> tantivy.Document:
    made = tantivy.Document()
    _add(made, "title", content.title)
    _add(made, "headings", content.headings)
    _add(made, "url", version.url)
    if "%" in version.url:
        _add(made, "url", unquote(version.url))  # so that searches find its words
    text = clean(content.text[:LONGEST_TEXT])
    made.add_text("signs" if _unspaced(text) else "text", text)
    for host in hosts(version.url):
        made.add_text("host", host)
    for kind in _names(version.kinds):
        made.add_text("kind", kind)
    made.add_text("language", content.language)
    made.add_text("mime", version.mime)
    made.add_text("state", "gone" if version.gone else "current" if version.until is None else "old")
    if version.extracted:
        made.add_json("data", version.extracted)
        for field, values in comparable(msgspec.json.decode(version.extracted)).items():
            made.add_json(field, values)
    made.add_integer("page", version.page)
    made.add_integer("number", version.number)
    made.add_unsigned("version", version.version)
    made.add_unsigned("status", version.status)
    made.add_unsigned("digest", int.from_bytes(version.text_digest[:8], "little") if text else 0)
    made.add_unsigned("simhash", version.simhash & _UNSIGNED if _is_long_enough(text) else 0)
    made.add_unsigned("exact", _exact(content.title, version.extracted, text))
    made.add_float("at", version.at)
    made.add_float("until", NEVER if version.until is None else version.until)
    made.add_float("changed_at", version.changed_at)
    made.add_float("relevance", version.relevance)
    return made


def _is_long_enough(text: str) -> bool:
    return len(text.split(None, FEWEST_WORDS)) > FEWEST_WORDS


def _exact(title: str, extracted: str | None, text: str) -> int:
    """A number for the title, the data and the digits of a page. Pages with similar texts are still
    different pages when one of these differs: a simhash sees no digits."""
    coded = [each.encode("utf-8", "replace") for each in (title, extracted or "", text)]
    coded[2] = coded[2].translate(None, _NO_DIGITS)
    return int.from_bytes(xxh3_64_digest(b"\0".join(coded)), "little")


def _add(made: tantivy.Document, field: str, text: str) -> None:
    """Adds a short text. In a script without spaces, each character is a word."""
    if text.isascii():
        made.add_text(field, text)
    elif UNSPACED.search(text):
        made.add_pre_tokenized_text(field, SIGNS.pre_tokenize(clean(text)))
    else:
        made.add_text(field, clean(text))


def hosts(url: str) -> list[str]:
    """The names under which `host:` finds a page: its host with and without port, and every domain
    above it."""
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
    """Whether a text is in a script without spaces.

    It looks at the middle of the text, because menus at the start and the end may name many
    languages.
    """
    start = max(0, (len(text) - _SAMPLE) // 2)
    return not text.isascii() and UNSPACED.search(text, start, start + _SAMPLE) is not None


def clean(text: str) -> str:
    """Replaces lone surrogates, which cannot be stored."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


@contextmanager
def write_errors() -> Iterator[None]:
    """Turns the errors of tantivy into errors of Sanderling that say what to do."""
    try:
        yield
    except (ValueError, OSError) as error:
        said = str(error)
        if "LockBusy" in said:
            raise IndexInUse("another process is writing to the index") from None
        if "No space left" in said or "StorageFull" in said or "os error 28" in said:
            raise DiskFull(
                "no room left for the index: the crawl itself is not affected; free some space and search again"
            ) from None
        raise BadIndex(f"the index cannot be written ({said[:200]}): `sanderling reindex` makes a new one") from None
