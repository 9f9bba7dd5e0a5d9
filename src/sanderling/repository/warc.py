"""WARC 1.1 files: one gzip member a record, so that any record can be read alone by its offset and length.

A client buffers the records of a report and writes them with one call before the report leaves it, so that a
committed report never points at bytes that are not on disk. What a crash leaves behind the last committed byte of
a file is set aside when the crawl resumes (`archives`).
"""

import hashlib
import os
import time
from contextlib import closing
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import IO, NamedTuple

from isal import igzip_lib

from sanderling import __version__
from sanderling.errors import Damaged
from sanderling.model import Exchange, Stored

ROTATE_AT = 1 << 30

# isal level 2 compresses a mean page in 40 us at ratio 4.8 (zlib-6: 296 us at 5.7); the records beside it are
# so small that level 0 costs a fifth of level 2 and saves nearly as much.
_BODY_LEVEL = 2
_PROFILES = {
    "304": b"http://netpreserve.org/warc/1.1/revisit/server-not-modified",
    "same": b"http://netpreserve.org/warc/1.1/revisit/identical-payload-digest",
}
_SMALL_LEVEL = 0


class WarcWriter:
    """Appends records to the files of one client."""

    def __init__(self, folder: Path, prefix: str, rotate_at: int = ROTATE_AT) -> None:
        self._folder = folder
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

    def add(self, exchange: Exchange) -> Stored:
        """Buffers the request, response and metadata records of one fetch. Returns where the response will be."""
        if self._file is None or self._end >= self._rotate_at:
            self._next_file()
        at = _date(exchange.at)
        uri = exchange.url.encode("utf-8", "replace")
        kind, block_type = (b"response", b"application/http;msgtype=response") if exchange.head else (
            b"resource", exchange.mime.encode("ascii", "replace") or b"application/octet-stream")  # fmt: skip
        block: tuple[bytes, ...] = (exchange.head, exchange.body)
        if exchange.revisit:
            kind, block = b"revisit", (exchange.head,)
        response_id = self._record_id()
        extra = b""
        if exchange.address:
            extra += b"WARC-IP-Address: %b\r\n" % exchange.address.encode()
        if exchange.truncated:
            extra += b"WARC-Truncated: length\r\n"
        if exchange.protocol:
            extra += b"WARC-Protocol: %b\r\n" % exchange.protocol.encode()
        if exchange.revisit:
            extra += b"WARC-Profile: %b\r\nWARC-Refers-To-Target-URI: %b\r\n" % (_PROFILES[exchange.revisit], uri)
        if exchange.revisit != "304":
            extra += b"WARC-Payload-Digest: sha1:%b\r\n" % base32(hashlib.sha1(exchange.body).digest())
        response = igzip_lib.compress(
            record(kind, response_id, at, uri, block_type, block, extra),
            _BODY_LEVEL, igzip_lib.COMP_GZIP,
        )  # fmt: skip
        stored = Stored(self.name, self._end, len(response))
        self._append(response)
        beside = b"WARC-Concurrent-To: <%b>\r\n" % response_id
        if exchange.request:
            kind = b"application/http;msgtype=request"
            self._append_small(b"request", at, uri, kind, exchange.request, beside)
        self._append_small(b"metadata", at, uri, b"application/warc-fields", exchange.notes, beside)
        self._ends[self.name] = self._end
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
        self.flush()
        if self._file is not None:
            self._file.close()
            self._file = None

    def _next_file(self) -> None:
        ends = self.flush()
        self.close()
        self._ends = ends
        stamp = datetime.now(UTC).strftime("%Y%m%d%H%M%S")
        self.name = f"{self._prefix}-{stamp}-{self._serial:05d}.warc.gz"
        self._serial += 1
        self._file = (self._folder / self.name).open("xb")
        self._end = 0
        fields = f"software: Sanderling/{__version__}\r\nformat: WARC File Format 1.1\r\n".encode()
        at = _date(time.time())
        name = b"WARC-Filename: %b\r\n" % self.name.encode()
        self._append_small(b"warcinfo", at, b"", b"application/warc-fields", fields, name)

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
    return b"".join(
        (
            b"WARC/1.1\r\nWARC-Type: %b\r\nWARC-Record-ID: <%b>\r\nWARC-Date: %b\r\n%b%bContent-Type: %b\r\nContent-Length: %d\r\n\r\n"
            % (kind, record_id, at, target, extra, block_type, sum(map(len, block))),
            *block,
            b"\r\n\r\n",
        )
    )  # fmt: skip


def _date(at: float) -> bytes:
    return b"%b.%06dZ" % (_to_the_second(int(at)), at % 1 * 1e6)


@lru_cache(64)
def _to_the_second(at: int) -> bytes:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%S").encode()


_LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".ljust(256)


def _lower(bits: int, room: int) -> int:
    """The lowest `bits` of every second `room`, of 256 bits."""
    return sum(((1 << bits) - 1) << start for start in range(0, 256, 2 * room))


# 160 bits become 32 bytes of five: halves move apart, then halves of halves. The standard library takes five times as
# long, which shows at thousands of pages.
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
        if self._file is None or stored.warc != self._name:
            self.close()
            try:
                self._file, self._name = (self._folder / stored.warc).open("rb", buffering=0), stored.warc
            except FileNotFoundError:
                raise Damaged(f"{stored.warc} is missing") from None
        packed = os.pread(self._file.fileno(), stored.length, stored.offset)
        if len(packed) < stored.length:
            raise Damaged(f"{stored.warc} ends before byte {stored.offset + stored.length}")
        try:
            content = igzip_lib.decompress(packed, igzip_lib.DECOMP_GZIP)
        except igzip_lib.IsalError:  # type: ignore[misc]  # the stub calls it an instance
            raise Damaged(f"{stored.warc} is damaged at byte {stored.offset}") from None
        return parse(content)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


def parse(content: bytes) -> Archived:
    """The response in an uncompressed response or resource record."""
    head, _, block = content.partition(b"\r\n\r\n")
    lines = head.split(b"\r\n")
    fields = dict(_fields(lines[1:]))
    if not lines[0].startswith(b"WARC/") or fields.get("warc-type") not in ("response", "resource"):
        raise Damaged("a WARC file does not hold a response where the database says it does")
    block = block[: int(fields["content-length"])]
    # A resource is said to be of this type when nobody said what it is.
    said = fields.get("content-type", "").removeprefix("application/octet-stream")
    status, headers, body = 200, [("Content-Type", said)], block
    if fields["warc-type"] == "response":
        http, _, body = block.partition(b"\r\n\r\n")
        http_lines = http.split(b"\r\n")
        status = int(http_lines[0].split(b" ")[1])
        headers = _fields(http_lines[1:], lower=False)
    return Archived(fields["warc-target-uri"], fields["warc-date"], status, headers, body)


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
    head, _, block = content.partition(b"\r\n\r\n")
    fields = dict(_fields(head.split(b"\r\n")[1:]))
    length = fields.get("content-length", "")
    if not length.isdigit() or len(block) != int(length) + 4 or not block.endswith(b"\r\n\r\n"):
        return "the record is not as long as it says"
    said = fields.get("warc-payload-digest", "")
    if not said.startswith("sha1:") or fields.get("warc-type") == "revisit":
        return ""
    body = block[: int(length)]
    if fields.get("warc-type") == "response":
        body = body.partition(b"\r\n\r\n")[2]
    return "" if base32(hashlib.sha1(body).digest()).decode() == said[5:] else "the content does not match its digest"
