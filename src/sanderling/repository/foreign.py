"""Archives of other programs: which files hold some, and their records one by one.

Read are WARC files, plain, as gzip or as zstd; WACZ files, which are ZIP files with WARC files in
them; and ARC files. Nothing that a file says of itself is believed before it is checked: a record
that says to be longer than the file is damage, a name in a ZIP file is no path, and a record that
unpacks to more than `LARGEST` is stepped over.
"""

import gzip
import json
import os
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import IO, NamedTuple, cast
from uuid import NAMESPACE_URL, uuid5

from sanderling.errors import UsageError
from sanderling.repository import archives, warc

LARGEST = 256 << 20
_LONGEST_HEAD = 1 << 16
_CHUNK = 1 << 20
_GZIP, _ZSTD, _DICTIONARY = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\x5d\x2a\x4d\x18"
_SUFFIXES = (".warc", ".warc.gz", ".warc.zst", ".wacz", ".arc", ".arc.gz")
# Damage is looked beyond for the beginning of another record.
_MARK = b"\r\n\r\nWARC/1."


class ForeignArchive(NamedTuple):
    """An archive to import."""

    path: Path
    member: str = ""  # of a WACZ file

    @property
    def name(self) -> str:
        """The name it gets among the archives of a crawl: the same for the same file."""
        stem = (self.member or self.path.name).rpartition("/")[2]
        for suffix in (".gz", ".zst", ".warc", ".arc"):
            stem = stem.removesuffix(suffix)
        plain = "".join(c if c.isascii() and (c.isalnum() or c in "-_.") else "_" for c in stem)[:80]
        mark = sha256(f"{self.path.resolve()}\0{self.member}".encode("utf-8", "replace")).hexdigest()[:8]
        return f"imported-{plain}-{mark}.warc.gz"

    @property
    def label(self) -> str:
        return f"{self.path}" + (f" ({self.member})" if self.member else "")


class TakenIn(NamedTuple):
    """What became of one archive."""

    records: int
    damaged: int  # stretches of bytes that cannot be read


def sources(paths: Iterable[Path]) -> list[ForeignArchive]:
    """The archives in files and folders, in the order of their names."""
    found: list[ForeignArchive] = []
    for path in paths:
        if path.is_dir():
            files = sorted(each for each in path.rglob("*") if each.is_file() and each.name.endswith(_SUFFIXES))
            if not files:
                raise UsageError(f"{path} holds no archives: none of its files ends in {', '.join(_SUFFIXES)}")
        elif path.is_file():
            files = [path]
        else:
            raise UsageError(f"{path} does not exist")
        for each in files:
            found += _in_wacz(each) if _is_zip(each) else [ForeignArchive(each)]
    return list(dict.fromkeys(found))


def seeds_of(path: Path) -> list[str]:
    """The pages that a WACZ file names as the beginning of its crawl."""
    seeds = []
    with _opened_zip(path) as wacz:
        if "pages/pages.jsonl" not in wacz.namelist():
            return []
        with wacz.open("pages/pages.jsonl") as lines:
            for line in lines:
                try:
                    page = json.loads(line[:_LONGEST_HEAD])
                except (ValueError, RecursionError):
                    continue
                if isinstance(page, dict) and page.get("seed") and isinstance(page.get("url"), str):
                    seeds.append(page["url"])
    return seeds


def lies_ready(source: ForeignArchive) -> bool:
    """Whether an archive has a gzip member for each record, so that it can be used as it is."""
    if source.member:
        return False
    with source.path.open("rb") as file:
        if file.read(2) != _GZIP:
            return False
    first = next(archives.members(source.path), None)
    if first is None or first.content is None:
        return False
    length = warc.fields_of(first.content).get("content-length", "")
    head = first.content.find(b"\r\n\r\n") + 4
    return length.isascii() and length.isdigit() and len(first.content) == head + int(length) + 4


def take_in(source: ForeignArchive, target: Path, on_progress: Callable[[int], None]) -> TakenIn:
    """Writes an archive with a gzip member for each record. It is whole, or not there."""
    part = target.with_name(target.name + ".part")
    records = damaged = 0
    with _bytes_of(source) as stream, part.open("wb") as file:
        for content in _records(stream):
            if content is None:
                damaged += 1
            elif content:
                records += 1
                file.write(warc.packed_record(content))
            on_progress(file.tell())
        file.flush()
        os.fsync(file.fileno())
    if records:
        part.replace(target)
    else:
        part.unlink()
    return TakenIn(records, damaged)


# ---- containers


def _is_zip(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == b"PK\x03\x04"


@contextmanager
def _opened_zip(path: Path) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(path) as wacz:
            yield wacz
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError) as error:
        raise UsageError(f"{path} is a damaged ZIP file: {error}") from None


def _in_wacz(path: Path) -> list[ForeignArchive]:
    """The WARC files in a WACZ file. They are read from where they lie, and no name becomes a
    path."""
    with _opened_zip(path) as wacz:
        names = [each.filename for each in wacz.infolist() if each.filename.endswith(_SUFFIXES) and not each.is_dir()]
    if not names:
        raise UsageError(f"{path} holds no archives: a WACZ file has them in its folder archive/")
    return [ForeignArchive(path, name) for name in names]


@contextmanager
def _bytes_of(source: ForeignArchive) -> Iterator[IO[bytes]]:
    """The bytes of an archive, unpacked."""
    if source.member:
        with _opened_zip(source.path) as wacz, wacz.open(source.member) as packed:
            yield _unpacked(packed, source)
    else:
        with source.path.open("rb") as packed:
            yield _unpacked(packed, source)


def _unpacked(packed: IO[bytes], source: ForeignArchive) -> IO[bytes]:
    start = packed.read(4)
    packed.seek(0)
    if start[:2] == _GZIP:
        return cast(IO[bytes], gzip.GzipFile(fileobj=packed))
    if start in (_ZSTD, _DICTIONARY):
        return _from_zstd(packed, source)
    return packed


def _from_zstd(packed: IO[bytes], source: ForeignArchive) -> IO[bytes]:
    """A `.warc.zst` file may begin with the dictionary that its records are packed with."""
    try:
        zstd = import_module("zstandard")
    except ImportError:
        raise UsageError(f"{source.label} is packed with zstd: install sanderling[zstd]") from None
    dictionary = None
    if packed.read(4) == _DICTIONARY:
        size = int.from_bytes(packed.read(4), "little")
        if size > 64 << 20:
            raise UsageError(f"{source.label} has a dictionary of {size:,} bytes")
        known = packed.read(size)
        known = zstd.ZstdDecompressor().decompress(known, 64 << 20) if known.startswith(_ZSTD) else known
        dictionary = zstd.ZstdCompressionDict(known)
    else:
        packed.seek(0)
    unpacker = zstd.ZstdDecompressor(dict_data=dictionary) if dictionary else zstd.ZstdDecompressor()
    stream: IO[bytes] = unpacker.stream_reader(packed, read_across_frames=True)
    return stream


# ---- records


class _Buffer:
    """The bytes of a stream from a place on. A stream that breaks ends there."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.data = bytearray()
        self.ended = self.broken = False

    def fill(self, size: int) -> bool:
        """Whether that many bytes are there."""
        while len(self.data) < size and not self.ended:
            try:
                more = self._stream.read(max(_CHUNK, size - len(self.data)) if size < LARGEST else _CHUNK)
            except Exception:  # of a file, gzip, ZIP or zstandard; the last has a base of its own
                more, self.broken = b"", True
            self.ended = not more
            self.data += more
        return len(self.data) >= size

    def find(self, mark: bytes, most: int) -> int:
        """Where a mark is in the next `most` bytes; -1 if it is not there."""
        self.fill(min(_CHUNK, most))
        place = self.data.find(mark, 0, most)
        while place < 0 and not self.ended and len(self.data) < most:
            self.fill(len(self.data) + _CHUNK)
            place = self.data.find(mark, 0, most)
        return place

    def drop(self, size: int) -> None:
        del self.data[:size]

    def skip(self, size: int) -> None:
        while size > 0 and self.fill(1):
            cut = min(size, len(self.data))
            self.drop(cut)
            size -= cut


def _records(stream: IO[bytes]) -> Iterator[bytes | None]:
    """The records of a stream, each as a WARC record; None for a stretch that is damaged."""
    buffer = _Buffer(stream)
    buffer.fill(8)
    if buffer.data.startswith(b"filedesc:"):
        yield from _arc_records(buffer)
        return
    while buffer.fill(1):
        content = _record(buffer)
        yield content
        if content is None and not _find_next(buffer):
            return
    if buffer.broken:
        yield None


def _record(buffer: _Buffer) -> bytes | None:
    """The next record; None if there is none here."""
    while buffer.data[:2] == b"\r\n":
        buffer.drop(2)
        buffer.fill(8)
    if not buffer.fill(8):
        left = bytes(buffer.data).strip()
        buffer.drop(len(buffer.data))
        return None if left else b""
    end = buffer.find(b"\r\n\r\n", _LONGEST_HEAD)
    if end < 0 or not buffer.data.startswith(b"WARC/"):
        return None
    length = warc.fields_of(bytes(buffer.data[:end])).get("content-length", "")
    if not (length.isascii() and length.isdigit() and len(length) < 16):
        return None
    size = end + 4 + int(length)
    if int(length) > LARGEST:
        buffer.skip(size)
        return None
    if not buffer.fill(size) or (buffer.fill(size + 4) and buffer.data[size : size + 4] != b"\r\n\r\n"):
        return None
    content = bytes(buffer.data[:size]) + b"\r\n\r\n"
    buffer.drop(size + 4)
    return content


def _find_next(buffer: _Buffer) -> bool:
    """Goes to the next place that looks like the beginning of a record."""
    buffer.drop(1)
    while True:
        place = buffer.data.find(_MARK)
        if place >= 0:
            buffer.drop(place + 4)
            return True
        buffer.drop(max(0, len(buffer.data) - len(_MARK)))
        if not buffer.fill(len(buffer.data) + 1):
            return False


def _arc_records(buffer: _Buffer) -> Iterator[bytes | None]:
    """The records of an ARC file as WARC records: a line with URL, address, date, type and length,
    then what the server sent."""
    while buffer.fill(1):
        while buffer.data.startswith((b"\n", b"\r")):
            buffer.drop(1)
            buffer.fill(1)
        end = buffer.find(b"\n", _LONGEST_HEAD)
        words = bytes(buffer.data[:end]).strip().split(b" ") if end >= 0 else []
        if len(words) < 5 or not words[-1].isdigit() or len(words[-1]) > 12:
            if buffer.data:
                yield None
            return
        size = end + 1 + int(words[-1])
        if int(words[-1]) > LARGEST or not buffer.fill(size):
            yield None
            return
        content = bytes(buffer.data[end + 1 : size])
        buffer.drop(size)
        if record := _from_arc(words[0], words[1], words[2], content):
            yield record


def _from_arc(url: bytes, address: bytes, date: bytes, content: bytes) -> bytes:
    if not content.startswith(b"HTTP/") or not url.startswith((b"http://", b"https://")):
        return b""
    try:
        at = datetime.strptime(date[:14].decode("ascii"), "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        return b""
    if b"\r\n\r\n" not in content[:_LONGEST_HEAD]:
        head, _, body = content.partition(b"\n\n")
        content = b"\r\n".join(head.splitlines()) + b"\r\n\r\n" + body
    id = uuid5(NAMESPACE_URL, f"{url!r} {date!r} {len(content)}").urn.encode()
    when = at.strftime("%Y-%m-%dT%H:%M:%SZ").encode()
    about = b"WARC-IP-Address: %b\r\n" % address if address != b"0.0.0.0" else b""
    return warc.record(b"response", id, when, url, b"application/http;msgtype=response", (content,), about)
