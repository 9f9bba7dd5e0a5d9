"""WARC 1.1 files: one gzip member a record, so that any record can be read alone by its offset and
length.

A client buffers the records of a report and writes them with one call before the report leaves it,
so that a committed report never points at bytes that are not on disk. What a crash leaves behind
the last committed byte of a file is set aside when the crawl resumes (`archives`).
"""

import hashlib
import os
import time
from contextlib import closing, suppress
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import IO, NamedTuple

from isal import igzip_lib

from sanderling import __version__
from sanderling.errors import Damaged
from sanderling.model import Conversion, Exchange, Stored
from sanderling.repository import fencing
from sanderling.urls import document_of

ROTATE_AT = 1 << 30

# isal level 2 compresses a mean page in 40 us at ratio 4.8 (zlib-6: 296 us at 5.7); the records
# beside it are so small that level 0 costs a fifth of level 2 and saves nearly as much.
_BODY_LEVEL = 2
_PROFILES = {
    "304": b"http://netpreserve.org/warc/1.1/revisit/server-not-modified",
    "same": b"http://netpreserve.org/warc/1.1/revisit/identical-payload-digest",
}
_DIGEST = "warc-payload-digest"
# Which fields of an original its revisits name, and how.
_ORIGINAL = (
    (b"WARC-Refers-To", "warc-record-id"),
    (b"WARC-Refers-To-Date", "warc-date"),
    (b"WARC-Payload-Digest", _DIGEST),
)
_SMALL_LEVEL = 0
_SMALL = tuple(b"WARC/1.1\r\nWARC-Type: %b\r\n" % kind for kind in (b"request", b"metadata", b"warcinfo"))
_REQUEST, _RESPONSE = b"application/http;msgtype=request", b"application/http;msgtype=response"
_NOTES = b"application/warc-fields"
SCREENSHOT = b"image/webp"
# What a browser made of a page has names of its own: replay tools would else show it instead of the
# page. Other archives name pictures of whole pages like this, too.
DOM, PICTURE = b"urn:dom:", b"urn:fullPage:"
# On the records of what was asked for in a session of the user's.
LOGIN_FIELD = "x-sanderling-login"
LOGIN_MARK = b"X-Sanderling-Login: yes\r\n"
# Of a conversion: what the headers of the page say to robots.
_ROBOTS_TAG = "X-Robots-Tag"
# As much of a record, packed and not, as its own fields ever take.
_HEAD_PACKED, _HEAD = 4096, 3072


# Why a body is not there, if the user does not want it.
LEFT_OUT = "unspecified"


class WarcWriter:
    """Appends records to the files of one client."""

    def __init__(
        self, folder: Path, prefix: str, rotate_at: int = ROTATE_AT, place: Path | None = None, clock_apart: float = 0.0
    ) -> None:
        """New files are made in `place`. The server moves them to `folder`, where it finds them.

        `clock_apart` is how far the clock of the server is ahead of ours: all archives of a crawl
        have its dates.
        """
        self._place = place or folder
        self._clock_apart = clock_apart
        self._prefix = prefix
        self._rotate_at = rotate_at
        self._serial = 0
        self._records = 0
        u = os.urandom(8).hex()
        self._id_prefix = f"urn:uuid:{u[:8]}-{u[8:12]}-4{u[13:16]}-8000-".encode()
        self._file: IO[bytes] | None = None
        self._pending: list[bytes] = []
        self._end = 0
        self.name = ""
        self._ends: dict[str, int] = {}
        self._originals = WarcReader(folder)

    def add(self, exchange: Exchange) -> Stored:
        """Buffers the records of one fetch; returns where the response will be."""
        if self._file is None or self._end >= self._rotate_at:
            self._next_file()
        at = _date(exchange.at + self._clock_apart)
        uri, response_id = exchange.url.encode("utf-8", "replace"), self._record_id()
        mark, connection = LOGIN_MARK if exchange.login else b"", b""
        if exchange.address:
            connection += b"WARC-IP-Address: %b\r\n" % exchange.address.encode()
        if exchange.protocol:
            connection += b"WARC-Protocol: %b\r\n" % exchange.protocol.encode()
        kind, block_type, block, about = (
            _revisit(exchange, self._originals) if exchange.revisit else _response(exchange)
        )
        response = igzip_lib.compress(
            record(kind, response_id, at, uri, block_type, block, mark + connection + about),
            _BODY_LEVEL, igzip_lib.COMP_GZIP,
        )  # fmt: skip
        stored = Stored(self.name, self._end, len(response))
        self._append(response)
        beside, notes = mark + b"WARC-Concurrent-To: <%b>\r\n" % response_id, exchange.notes
        if exchange.request:
            self._append_small(b"request", at, uri, _REQUEST, exchange.request, connection + beside)
        if exchange.revisit == "304":
            notes += _as_fields(exchange.head)
        self._append_small(b"metadata", at, uri, _NOTES, notes, beside)
        if exchange.conversion is not None:
            stored = self._convert(exchange.conversion, at, uri, response_id, exchange.left_out, mark)
        self._ends[self.name] = self._end
        return stored

    def _convert(self, made: Conversion, at: bytes, uri: bytes, source: bytes, left_out: bool, mark: bytes) -> Stored:
        """Buffers the records of what a browser made of a page; returns where that will be."""
        id, about = self._record_id(), mark + b"WARC-Refers-To: <%b>\r\n" % source
        about += b"WARC-Payload-Digest: sha1:%b\r\n" % base32(hashlib.sha1(made.html).digest())
        about += _missing(left_out, made.truncated)
        about += b"".join(b"%b: %b\r\n" % (_ROBOTS_TAG.encode(), value) for value in made.robots)
        content = record(b"conversion", id, at, DOM + uri, b"text/html; charset=utf-8", (made.html,), about)
        packed = igzip_lib.compress(content, _BODY_LEVEL, igzip_lib.COMP_GZIP)
        stored = Stored(self.name, self._end, len(packed))
        self._append(packed)
        if made.screenshot:  # directly behind it: that is where it is looked for
            about = mark + b"WARC-Refers-To: <%b>\r\n" % id
            content = record(b"conversion", self._record_id(), at, PICTURE + uri, SCREENSHOT, (made.screenshot,), about)
            self._append(packed_record(content))
        beside = mark + b"WARC-Concurrent-To: <%b>\r\n" % id
        self._append_small(b"metadata", at, uri, _NOTES, made.notes, beside)
        return stored

    def flush(self) -> dict[str, int]:
        """Writes what was added to the disk. Returns the safe length of each file that grew."""
        if self._file is not None and self._pending:
            self._file.write(b"".join(self._pending))
            self._file.flush()
            self._pending.clear()
            os.fdatasync(self._file.fileno())
        ends, self._ends = self._ends, {}
        return ends

    def close(self) -> None:
        self._end_file()
        self._originals.close()

    def _end_file(self) -> None:
        self.flush()
        if self._file is not None:
            self._file.close()
            self._file = None

    def _next_file(self) -> None:
        ends = self.flush()
        self._end_file()
        self._ends = ends
        stamp = datetime.now(UTC).strftime("%Y%m%d%H%M%S")
        self.name = f"{self._prefix}-{stamp}-{self._serial:05d}.warc.gz"
        self._serial += 1
        try:
            self._file = (self._place / self.name).open("xb")
            fencing.lock(self._file)
        except (FileNotFoundError, BlockingIOError):
            raise ConnectionAbortedError("the run is over: another server took the folder") from None
        self._end = 0
        fields = f"software: Sanderling/{__version__}\r\nformat: WARC File Format 1.1\r\n".encode()
        at = _date(time.time() + self._clock_apart)
        name = b"WARC-Filename: %b\r\n" % self.name.encode()
        self._append_small(b"warcinfo", at, b"", _NOTES, fields, name)

    def _append(self, member: bytes) -> None:
        self._pending.append(member)
        self._end += len(member)

    def _append_small(self, kind: bytes, at: bytes, uri: bytes, block_type: bytes, block: bytes, extra: bytes) -> None:
        content = record(kind, self._record_id(), at, uri, block_type, (block,), extra)
        self._append(igzip_lib.compress(content, _SMALL_LEVEL, igzip_lib.COMP_GZIP))

    def _record_id(self) -> bytes:
        # A random prefix per writer and a counter: unique like uuid4, and cheaper.
        self._records += 1
        return b"%b%012x" % (self._id_prefix, self._records)


# The type of a record, the type of its block, the block, and the fields that tell more.
_Parts = tuple[bytes, bytes, tuple[bytes, ...], bytes]


def _missing(left_out: bool, truncated: bool) -> bytes:
    """Says that not all of a body is there."""
    if left_out:
        return b"WARC-Truncated: %b\r\n" % LEFT_OUT.encode()
    return b"WARC-Truncated: length\r\n" if truncated else b""


def _response(exchange: Exchange) -> _Parts:
    about = b"WARC-Payload-Digest: sha1:%b\r\n" % base32(hashlib.sha1(exchange.body).digest())
    about += _missing(exchange.left_out, exchange.truncated)
    if exchange.head:
        return b"response", _RESPONSE, (exchange.head, exchange.body), about
    return b"resource", exchange.mime.encode("ascii", "replace") or b"application/octet-stream", (exchange.body,), about


def _revisit(exchange: Exchange, originals: "WarcReader") -> _Parts:
    """The record of content that has not changed, and which record has that content.

    The head of a 304 is told beside it: readers would answer with the head that is in the record,
    and a browser that gets a 304 shows nothing.
    """
    about = b"WARC-Profile: %b\r\n" % _PROFILES[exchange.revisit]
    about += b"WARC-Refers-To-Target-URI: %b\r\n" % document_of(exchange.url).encode("utf-8", "replace")
    fields: dict[str, str] = {}
    if exchange.original is not None:
        with suppress(Damaged, OSError):
            fields = originals.fields(exchange.original)
    for name, field in _ORIGINAL:
        if field in fields:
            about += b"%b: %b\r\n" % (name, fields[field].encode())
    if exchange.revisit == "304":
        return b"revisit", _RESPONSE, (b"",), about
    if _DIGEST not in fields:
        about += b"WARC-Payload-Digest: sha1:%b\r\n" % base32(hashlib.sha1(exchange.body).digest())
    return b"revisit", _RESPONSE, (exchange.head,), about


def _as_fields(head: bytes) -> bytes:
    """An HTTP head as WARC fields."""
    first, *headers = head.rstrip().split(b"\r\n")
    return b"httpStatusLine: %b\r\n" % first + b"".join(b"httpHeader: %b\r\n" % line for line in headers)


def record(
    kind: bytes,
    record_id: bytes,
    at: bytes,
    uri: bytes,
    block_type: bytes,
    block: tuple[bytes, ...],
    extra: bytes,
) -> bytes:
    """One WARC record, uncompressed."""
    target = b"WARC-Target-URI: %b\r\n" % uri if uri else b""
    hashed = hashlib.sha1(block[0])
    for part in block[1:]:
        hashed.update(part)
    return b"".join(
        (
            b"WARC/1.1\r\nWARC-Type: %b\r\nWARC-Record-ID: <%b>\r\nWARC-Date: %b\r\n%b%bWARC-Block-Digest: sha1:%b\r\nContent-Type: %b\r\nContent-Length: %d\r\n\r\n"
            % (kind, record_id, at, target, extra, base32(hashed.digest()), block_type, sum(map(len, block))),
            *block,
            b"\r\n\r\n",
        )
    )  # fmt: skip


def packed_record(content: bytes) -> bytes:
    """An uncompressed record as a `WarcWriter` writes it."""
    small = content.startswith(_SMALL)
    return igzip_lib.compress(content, _SMALL_LEVEL if small else _BODY_LEVEL, igzip_lib.COMP_GZIP)


def _date(at: float) -> bytes:
    return b"%b.%06dZ" % (_to_the_second(int(at)), at % 1 * 1e6)


@lru_cache(64)
def _to_the_second(at: int) -> bytes:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%S").encode()


_LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".ljust(256)


def _lower(bits: int, room: int) -> int:
    """The lowest `bits` of every second `room`, of 256 bits."""
    return sum(((1 << bits) - 1) << start for start in range(0, 256, 2 * room))


# 160 bits become 32 bytes of five: halves move apart, then halves of halves. The standard library
# takes five times as long, which shows at thousands of pages.
_APART = [
    (room - bits, _lower(bits, room), _lower(bits, room) << room)
    for bits, room in ((80, 128), (40, 64), (20, 32), (10, 16), (5, 8))
]


def base32(digest: bytes) -> bytes:
    """A SHA-1 digest the way web archives write it."""
    number = int.from_bytes(digest, "big")
    for distance, lower, upper in _APART:
        number = number & lower | number << distance & upper
    return number.to_bytes(32, "big").translate(_LETTERS)


class Archived(NamedTuple):
    """A response as read back."""

    url: str
    at: str
    status: int
    headers: list[tuple[str, str]]
    body: bytes


def read(folder: Path, stored: Stored) -> Archived:
    """Reads one response by its place."""
    with closing(WarcReader(folder)) as reader:
        return reader.read(stored)


class WarcReader:
    """Reads many responses: the file that was last read from stays open."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._name = ""
        self._file: IO[bytes] | None = None

    def read(self, stored: Stored) -> Archived:
        packed = self._packed(stored, stored.length)
        try:
            content = igzip_lib.decompress(packed, igzip_lib.DECOMP_GZIP)
        except igzip_lib.IsalError:  # type: ignore[misc]  # the stub calls it an instance
            raise Damaged(f"{stored.warc} is damaged at byte {stored.offset}") from None
        return parse(content)

    def fields(self, stored: Stored) -> dict[str, str]:
        """The WARC fields of a record by their names in lower case, without reading all of it."""
        packed = self._packed(stored, min(stored.length, _HEAD_PACKED))
        unpacker = igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP)
        try:
            head, end, _ = unpacker.decompress(packed, _HEAD).partition(b"\r\n\r\n")
        except igzip_lib.IsalError:  # type: ignore[misc]
            head = end = b""
        if not end or not head.startswith(b"WARC/"):
            raise Damaged(f"{stored.warc} is damaged at byte {stored.offset}")
        return fields_of(head)

    def _packed(self, stored: Stored, length: int) -> bytes:
        if self._file is None or stored.warc != self._name:
            self.close()
            try:
                self._file, self._name = (self._folder / stored.warc).open("rb", buffering=0), stored.warc
            except FileNotFoundError:
                raise Damaged(f"{stored.warc} is missing") from None
        packed = os.pread(self._file.fileno(), length, stored.offset)
        if len(packed) < length:
            raise Damaged(f"{stored.warc} ends before byte {stored.offset + stored.length}")
        return packed

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


def fields_of(content: bytes) -> dict[str, str]:
    """The WARC fields of an uncompressed record by their names in lower case."""
    return dict(_fields(content.partition(b"\r\n\r\n")[0].split(b"\r\n")[1:]))


def notes_of(content: bytes) -> list[tuple[str, str]]:
    """What an uncompressed metadata record says about a fetch, by names in lower case."""
    return _fields(content.partition(b"\r\n\r\n")[2].split(b"\r\n"))


def parse(content: bytes) -> Archived:
    """The content of an uncompressed record: a response, a resource, or what a browser made of a
    page."""
    _, _, block = content.partition(b"\r\n\r\n")
    fields = fields_of(content)
    if not content.startswith(b"WARC/") or fields.get("warc-type") not in ("response", "resource", "conversion"):
        raise Damaged("a WARC file does not hold a response where the database says it does")
    block = block[: int(fields["content-length"])]
    # A resource is said to be of this type when nobody said what it is.
    said = fields.get("content-type", "").removeprefix("application/octet-stream")
    status, headers, body = 200, [("Content-Type", said)], block
    if fields["warc-type"] == "conversion" and (tag := _ROBOTS_TAG.lower()) in fields:
        headers.append((_ROBOTS_TAG, fields[tag]))
    if fields["warc-type"] == "response":
        http, _, body = block.partition(b"\r\n\r\n")
        http_lines = http.split(b"\r\n")
        status = int(http_lines[0].split(b" ")[1])
        headers = _fields(http_lines[1:], lower=False)
    url = fields["warc-target-uri"].removeprefix(DOM.decode())
    return Archived(url, fields["warc-date"], status, headers, body)


def _fields(lines: list[bytes], lower: bool = True) -> list[tuple[str, str]]:
    pairs = (line.partition(b":") for line in lines if line)
    return [
        (
            (k.lower() if lower else k).decode("latin-1"),
            v.strip().decode("utf-8" if lower else "latin-1", "replace"),
        )
        for k, _, v in pairs
    ]


def digest_problem(content: bytes) -> str:
    """What is wrong with a record by its own length and digest; empty when nothing is."""
    _, _, block = content.partition(b"\r\n\r\n")
    fields = fields_of(content)
    length = fields.get("content-length", "")
    if not length.isdigit() or len(block) != int(length) + 4 or not block.endswith(b"\r\n\r\n"):
        return "the record is not as long as it says"
    body = block[: int(length)]
    if not _matches(body, fields.get("warc-block-digest", "")):
        return "the content does not match its digest"
    if fields.get("warc-type") == "revisit":  # its payload is elsewhere
        return ""
    if fields.get("warc-type") == "response":
        body = body.partition(b"\r\n\r\n")[2]
    return "" if _matches(body, fields.get(_DIGEST, "")) else "the content does not match its digest"


def _matches(content: bytes, digest: str) -> bool:
    """Whether content has the digest that its record says; other digests than SHA-1 are not
    checked."""
    return not digest.startswith("sha1:") or base32(hashlib.sha1(content).digest()).decode() == digest[5:]
