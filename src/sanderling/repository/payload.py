"""Bodies in archives of other programs, which keep them as they came over the wire: in chunks, and
compressed. Our own archives have the body, and say so in their headers."""

import zlib
from collections.abc import Iterable
from importlib import import_module

# No body that is read back is larger; what is behind is left out.
LARGEST = 256 << 20


def plain_body(headers: Iterable[tuple[str, str]], body: bytes) -> bytes:
    """The body without what the wire did to it. One that is not what its headers say stays as it
    is: many archives keep the headers and not the encoding."""
    for name, value in headers:
        if name.lower() == "transfer-encoding" and "chunked" in value.lower():
            body = _dechunked(body)
    for name, value in headers:
        if name.lower() == "content-encoding":
            for encoding in reversed(value.lower().replace(" ", "").split(",")):
                body = _unpacked(encoding, body)
    return body


def _dechunked(body: bytes) -> bytes:
    parts: list[bytes] = []
    at = 0
    while True:
        end = body.find(b"\r\n", at, at + 1024)
        size = body[at:end].partition(b";")[0].strip() if end >= 0 else b""
        if not size or size.strip(b"0123456789abcdefABCDEF") or len(size) > 8:
            return b"".join(parts) if parts else body
        length = int(size, 16)
        if not length:
            return b"".join(parts)
        parts.append(body[end + 2 : end + 2 + length])
        at = end + 4 + length


def _unpacked(encoding: str, body: bytes) -> bytes:
    if encoding in ("gzip", "x-gzip") and body[:2] == b"\x1f\x8b":
        return _inflated(body, 31)
    if encoding == "deflate":
        return _inflated(body, 15) if body[:1] == b"\x78" else _inflated(body, -15)
    if encoding in ("br", "zstd"):
        return _by_library(encoding, body)
    return body


def _inflated(body: bytes, window: int) -> bytes:
    unpacker = zlib.decompressobj(window)
    try:
        return unpacker.decompress(body, LARGEST)
    except zlib.error:
        return body


def _by_library(encoding: str, body: bytes) -> bytes:
    try:
        if encoding == "br":
            return bytes(import_module("brotli").decompress(body))[:LARGEST]
        return bytes(import_module("zstandard").ZstdDecompressor().stream_reader(body).read(LARGEST))
    except Exception:  # the package is not there, or the body is not packed
        return body
