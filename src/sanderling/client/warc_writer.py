"""Writes the archive of a client: WARC 1.1 files, one gzip member a record.

A client buffers the records of a report and writes them with one call before the report leaves it,
so that a committed report never points at bytes that are not on disk. What a crash leaves behind
the last committed byte of a file is set aside when the crawl resumes (`repository.archives`).
"""

import hashlib
import os
import time
from collections import OrderedDict
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import IO, NamedTuple

from sanderling import __version__
from sanderling.errors import ArchiveAway, Damaged
from sanderling.model import Conversion, Exchange, Stored
from sanderling.repository import fencing
from sanderling.repository.warc import (
    DIGEST,
    DOM,
    LEFT_OUT,
    NOTES,
    PICTURE,
    REQUEST,
    RESPONSE,
    ROBOTS_TAG,
    SCREENSHOT,
    WarcReader,
    base32,
    date_of,
    packed_record,
    record,
)  # fmt: skip
from sanderling.urls import document_of

ROTATE_AT = 1 << 30
# A smaller file takes less than the record that says where its bytes are.
_WORTH_SHARING = 512
# Of this many files a client knows where their bytes are.
_MOST_SHARED = 50_000

_PROFILES = {
    "304": b"http://netpreserve.org/warc/1.1/revisit/server-not-modified",
    "same": b"http://netpreserve.org/warc/1.1/revisit/identical-payload-digest",
}
# Which fields of an original its revisits name, and how.
_ORIGINAL = (
    (b"WARC-Refers-To", "warc-record-id"),
    (b"WARC-Refers-To-Date", "warc-date"),
    (b"WARC-Payload-Digest", DIGEST),
)
LOGIN_MARK = b"X-Sanderling-Login: yes\r\n"


class _Shared(NamedTuple):
    """Where the bytes of a file are, and what a record says that refers to them."""

    stored: Stored
    about: bytes


class WarcWriter:
    """Appends records to the files of one client."""

    def __init__(
        self, folder: Path, prefix: str, rotate_at: int = ROTATE_AT, place: Path | None = None,
        clock_apart: float = 0.0, smallest: bool = False,
    ) -> None:  # fmt: skip
        """New files are made in `place`. The server moves them to `folder`, where it finds them.

        `clock_apart` is how far the clock of the server is ahead of ours: all archives of a crawl
        have its dates.
        """
        self._place = place or folder
        self._clock_apart = clock_apart
        self._prefix = prefix
        self._pack = partial(packed_record, smallest=smallest)
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
        self._shared: OrderedDict[tuple[bytes, str], _Shared] = OrderedDict()

    def add(self, exchange: Exchange) -> Stored:
        """Buffers the records of one fetch; returns where the response will be."""
        if self._file is None or self._end >= self._rotate_at:
            self._next_file()
        at = date_of(exchange.at + self._clock_apart)
        uri, response_id = exchange.url.encode("utf-8", "replace"), self._record_id()
        mark, connection = LOGIN_MARK if exchange.login else b"", b""
        if exchange.address:
            connection += b"WARC-IP-Address: %b\r\n" % exchange.address.encode()
        if exchange.protocol:
            connection += b"WARC-Protocol: %b\r\n" % exchange.protocol.encode()
        shares = exchange.is_file and not exchange.revisit and _may_be_shared(exchange)
        content = (hashlib.sha1(exchange.body).digest(), exchange.mime) if shares else None
        shared = self._shared.get(content) if content is not None else None
        parts: _Parts = (
            (b"revisit", RESPONSE, (exchange.head,), shared.about)
            if shared is not None
            else (_revisit(exchange, self._originals) if exchange.revisit else _response(exchange))
        )
        kind, block_type, block, about = parts
        response = self._pack(record(kind, response_id, at, uri, block_type, block, mark + connection + about))
        stored = shared.stored if shared is not None else Stored(self.name, self._end, len(response))
        self._append(response)
        if content is not None and shared is None:
            self._share(content, _Shared(stored, _as_original(response_id, at, uri, content[0])))
        beside, notes = mark + b"WARC-Concurrent-To: <%b>\r\n" % response_id, exchange.notes
        if exchange.request:
            self._append_small(b"request", at, uri, REQUEST, exchange.request, connection + beside)
        if exchange.revisit == "304":
            notes += _as_fields(exchange.head)
        self._append_small(b"metadata", at, uri, NOTES, notes, beside)
        if exchange.conversion is not None:
            stored = self._convert(exchange.conversion, at, uri, response_id, exchange.left_out, mark)
        self._ends[self.name] = self._end
        return stored

    def _share(self, content: tuple[bytes, str], where: _Shared) -> None:
        self._shared[content] = where
        if len(self._shared) > _MOST_SHARED:
            self._shared.popitem(last=False)

    def _convert(self, made: Conversion, at: bytes, uri: bytes, source: bytes, left_out: bool, mark: bytes) -> Stored:
        """Buffers the records of what a browser made of a page; returns where that will be."""
        id, about = self._record_id(), mark + b"WARC-Refers-To: <%b>\r\n" % source
        about += b"WARC-Payload-Digest: sha1:%b\r\n" % base32(hashlib.sha1(made.html).digest())
        about += _missing(left_out, made.truncated)
        about += b"".join(b"%b: %b\r\n" % (ROBOTS_TAG.encode(), value) for value in made.robots)
        content = record(b"conversion", id, at, DOM + uri, b"text/html; charset=utf-8", (made.html,), about)
        packed = self._pack(content)
        stored = Stored(self.name, self._end, len(packed))
        self._append(packed)
        if made.screenshot:  # directly behind it: that is where it is looked for
            about = mark + b"WARC-Refers-To: <%b>\r\n" % id
            content = record(b"conversion", self._record_id(), at, PICTURE + uri, SCREENSHOT, (made.screenshot,), about)
            self._append(self._pack(content))
        beside = mark + b"WARC-Concurrent-To: <%b>\r\n" % id
        self._append_small(b"metadata", at, uri, NOTES, made.notes, beside)
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
        at = date_of(time.time() + self._clock_apart)
        name = b"WARC-Filename: %b\r\n" % self.name.encode()
        self._append_small(b"warcinfo", at, b"", NOTES, fields, name)

    def _append(self, member: bytes) -> None:
        self._pending.append(member)
        self._end += len(member)

    def _append_small(self, kind: bytes, at: bytes, uri: bytes, block_type: bytes, block: bytes, extra: bytes) -> None:
        content = record(kind, self._record_id(), at, uri, block_type, (block,), extra)
        self._append(self._pack(content))

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
        return b"response", RESPONSE, (exchange.head, exchange.body), about
    return b"resource", exchange.mime.encode("ascii", "replace") or b"application/octet-stream", (exchange.body,), about


def _revisit(exchange: Exchange, originals: "WarcReader") -> _Parts:
    """The record of content that has not changed, and which record has that content. That of a file
    may be of another URL.

    The head of a 304 is told beside it: readers would answer with the head that is in the record,
    and a browser that gets a 304 shows nothing.
    """
    about = b"WARC-Profile: %b\r\n" % _PROFILES[exchange.revisit]
    fields: dict[str, str] = {}
    if exchange.original is not None:
        with suppress(Damaged, ArchiveAway, OSError):
            fields = originals.fields(exchange.original)
    source = fields.get("warc-target-uri", exchange.url) if exchange.is_file else exchange.url
    about += b"WARC-Refers-To-Target-URI: %b\r\n" % document_of(source).encode("utf-8", "replace")
    for name, field in _ORIGINAL:
        if field in fields:
            about += b"%b: %b\r\n" % (name, fields[field].encode())
    if exchange.revisit == "304":
        return b"revisit", RESPONSE, (b"",), about
    if DIGEST not in fields:
        about += b"WARC-Payload-Digest: sha1:%b\r\n" % base32(hashlib.sha1(exchange.body).digest())
    return b"revisit", RESPONSE, (exchange.head,), about


def _may_be_shared(exchange: Exchange) -> bool:
    """Whether the bytes of a file may be kept once for all its URLs. What a login shows is not."""
    whole = not (exchange.truncated or exchange.left_out or exchange.login)
    return whole and len(exchange.body) >= _WORTH_SHARING and exchange.head.startswith(b"HTTP/1.1 200 ")


def _as_original(id: bytes, at: bytes, uri: bytes, digest: bytes) -> bytes:
    """What a record says whose bytes are in this one."""
    return (
        b"WARC-Profile: %b\r\nWARC-Refers-To-Target-URI: %b\r\nWARC-Refers-To: <%b>\r\n"
        b"WARC-Refers-To-Date: %b\r\nWARC-Payload-Digest: sha1:%b\r\n"
        % (_PROFILES["same"], uri, id, at, base32(digest))
    )


def _as_fields(head: bytes) -> bytes:
    """An HTTP head as WARC fields."""
    first, *headers = head.rstrip().split(b"\r\n")
    return b"httpStatusLine: %b\r\n" % first + b"".join(b"httpHeader: %b\r\n" % line for line in headers)
