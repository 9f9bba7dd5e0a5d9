"""WARC 1.1 files: one gzip member a record, so that any record can be read alone by its offset and
length.

How a record is made, and how records are read. Clients write them (`client.warc_writer`).
"""

import hashlib
import zlib
from contextlib import closing
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from isal import igzip_lib

from sanderling.errors import Damaged
from sanderling.header_values import whole_number
from sanderling.model import Stored
from sanderling.repository.payload import plain_body
from sanderling.repository.remote import ReadableBytes, open_archive

# isal level 2 compresses a mean page in 29 us, zlib level 6 in 209 us to 90 % of the size. The
# records beside it take 6 us at level 1, and 29 % less than at level 0, which takes 1 us.
_BODY_LEVEL, _SMALLEST = 2, 6
DIGEST = "warc-payload-digest"
_SMALL_LEVEL = 1
_SMALL = tuple(b"WARC/1.1\r\nWARC-Type: %b\r\n" % kind for kind in (b"request", b"metadata", b"warcinfo"))
REQUEST, RESPONSE = b"application/http;msgtype=request", b"application/http;msgtype=response"
NOTES = b"application/warc-fields"
SCREENSHOT = b"image/webp"
# What a browser made of a page has names of its own: replay tools would else show it instead of the
# page. Other archives name pictures of whole pages like this, too.
DOM, PICTURE = b"urn:dom:", b"urn:fullPage:"
# On the records of what was asked for in a session of the user's.
LOGIN_FIELD = "x-sanderling-login"
# Of a conversion: what the headers of the page say to robots.
ROBOTS_TAG = "X-Robots-Tag"
# As much of a record, packed and not, as its own fields ever take.
_HEAD_PACKED, _HEAD = 4096, 3072


# Why a body is not there, if the user does not want it.
LEFT_OUT = "unspecified"


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


def packed_record(content: bytes, smallest: bool = False) -> bytes:
    """An uncompressed record as it is written. The `smallest` form takes seven times as long."""
    if smallest:
        packer = zlib.compressobj(_SMALLEST, zlib.DEFLATED, 31)
        return packer.compress(content) + packer.flush()
    small = content.startswith(_SMALL)
    return igzip_lib.compress(content, _SMALL_LEVEL if small else _BODY_LEVEL, igzip_lib.COMP_GZIP)


def date_of(at: float) -> bytes:
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
    converted: bool = False  # a browser made it


def read(folder: Path, stored: Stored) -> Archived:
    """Reads one response by its place."""
    with closing(WarcReader(folder)) as reader:
        return reader.read(stored)


class WarcReader:
    """Reads many responses: the file that was last read from stays open."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._name = ""
        self._file: ReadableBytes | None = None

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
                self._file, self._name = open_archive(self._folder / stored.warc), stored.warc
            except FileNotFoundError:
                raise Damaged(f"{stored.warc} is missing") from None
        packed = self._file.pread(length, stored.offset)
        if len(packed) < length:
            raise Damaged(f"{stored.warc} ends before byte {stored.offset + stored.length}")
        return packed

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


def fields_of(content: bytes) -> dict[str, str]:
    """The WARC fields of an uncompressed record by their names in lower case."""
    fields = dict(_fields(content.partition(b"\r\n\r\n")[0].split(b"\r\n")[1:]))
    if (target := fields.get("warc-target-uri", "")).startswith("<"):  # as GNU Wget writes it
        fields["warc-target-uri"] = target.strip("<>")
    return fields


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
    block = block[: whole_number(fields.get("content-length", "")) or 0]
    # The type of a resource whose server did not say what it is.
    said = fields.get("content-type", "").removeprefix("application/octet-stream")
    status, headers, body = 200, [("Content-Type", said)], block
    if fields["warc-type"] == "conversion" and (tag := ROBOTS_TAG.lower()) in fields:
        headers.append((ROBOTS_TAG, fields[tag]))
    if fields["warc-type"] == "response":
        http, _, body = block.partition(b"\r\n\r\n")
        http_lines = http.split(b"\r\n")
        status = status_of(http_lines[0])
        headers = _fields(http_lines[1:], lower=False)
        if any(name.lower() in ("transfer-encoding", "content-encoding") for name, _ in headers):
            body = plain_body(headers, body)
    url = fields["warc-target-uri"].removeprefix(DOM.decode())
    return Archived(url, fields["warc-date"], status, headers, body, fields["warc-type"] == "conversion")


def status_of(line: bytes) -> int:
    """The status in the first line of a response; 0 for what is none."""
    words = line.split(None, 2)
    return whole_number(words[1], 3) or 0 if len(words) > 1 and words[0].startswith(b"HTTP/") else 0


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
    return "" if _matches(body, fields.get(DIGEST, "")) else "the content does not match its digest"


def _matches(content: bytes, digest: str) -> bool:
    """Whether content has the digest that its record says; other digests than SHA-1 are not
    checked."""
    return not digest.startswith("sha1:") or base32(hashlib.sha1(content).digest()).decode() == digest[5:]
