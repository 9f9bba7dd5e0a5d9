"""Parts of archives on their way: as they are, or as one zstd stream a client.

A WARC file has one gzip member a record, and gzip finds nothing that records have in common. So the
records are unpacked and sent as zstd, whose window reaches over all records of a client before. The
other end packs each record again. The sender checks that this gives the same bytes and sends them
as they are otherwise, so that offsets always survive.
"""

import struct
from collections.abc import Iterator
from typing import Any, NamedTuple

from isal import igzip_lib
from xxhash import xxh3_128_digest

from sanderling.repository.warc import packed_record

_LENGTH = struct.Struct("<I")
_CHUNK = 1 << 16
# Level and window were measured with the archives of four sites (`docs/cluster.md`). Each stream
# takes the memory of a window at both ends.
LEVEL, WINDOW_LOG = 9, 22
# A report of a hundred pages has less than a megabyte of archive; a call of the engine has a limit.
LARGEST_PART = 8 << 20
# A part whose records have more bytes than this is sent as it is: a few bytes of zstd may stand for
# gigabytes, so the other end unpacks no more. 1 KiB of zstd stands for 32 MiB at most.
LARGEST_PLAIN = 32 << 20
_SIP = 1 << 10


class Packed(NamedTuple):
    content: bytes
    zstd: bool


class Packer:
    """Packs the parts of one client's archives, which the `Unpacker` of the same client gets in the
    same order."""

    def __init__(self, compress: bool) -> None:
        self._stream: Any = None
        if compress:
            import zstandard

            how = zstandard.ZstdCompressionParameters.from_level(LEVEL, window_log=WINDOW_LOG)
            self._stream = zstandard.ZstdCompressor(compression_params=how).compressobj()
            self._flush = zstandard.COMPRESSOBJ_FLUSH_BLOCK

    def pack(self, part: bytes) -> Packed:
        if self._stream is None:
            return Packed(part, zstd=False)
        try:
            records = list(unpacked(part, LARGEST_PLAIN))
        except ValueError:  # a part of a very large record
            records = []
        if b"".join(map(packed_record, records)) != part or len(part) > LARGEST_PART:
            return Packed(part, zstd=False)
        content = b"".join(piece for record in records for piece in (_LENGTH.pack(len(record)), record))
        return Packed(self._stream.compress(content) + self._stream.flush(self._flush), zstd=True)


class Unpacker:
    """The other end of a `Packer`."""

    def __init__(self) -> None:
        self._stream: Any = None

    def unpack(self, packed: Packed, size: int, digest: bytes) -> bytes:
        """The part as it lies in the archive. Raises ValueError when it is not what was sent."""
        if not 0 <= size <= LARGEST_PART:
            raise ValueError(f"a part of an archive has {size} bytes")
        part = self._restore(packed.content, size) if packed.zstd else packed.content
        if len(part) != size or xxh3_128_digest(part) != digest:
            raise ValueError("a part of an archive does not match its digest")
        return part

    def _restore(self, content: bytes, size: int) -> bytes:
        parts: list[bytes] = []
        for record in _split(self._plain(content)):
            parts.append(packed_record(record))
            size -= len(parts[-1])
            if size < 0:
                raise ValueError("a part of an archive is longer than it says")
        return b"".join(parts)

    def _plain(self, content: bytes) -> bytes:
        import zstandard

        if self._stream is None:
            self._stream = zstandard.ZstdDecompressor(max_window_size=1 << WINDOW_LOG).decompressobj()
        plain = bytearray()
        try:
            for at in range(0, len(content), _SIP):
                plain += self._stream.decompress(content[at : at + _SIP])
                if len(plain) > LARGEST_PLAIN + LARGEST_PART:  # with the lengths of the records
                    raise ValueError("a part of an archive is larger unpacked than any may be")
        except zstandard.ZstdError as error:
            raise ValueError(f"a part of an archive cannot be unpacked: {error}") from None
        return bytes(plain)


def _split(plain: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(plain):
        if len(plain) - at < _LENGTH.size:
            raise ValueError("a part of an archive ends inside a length")
        (length,) = _LENGTH.unpack_from(plain, at)
        at += _LENGTH.size
        yield plain[at : at + length]
        at += length


def unpacked(part: bytes, most: int) -> Iterator[bytes]:
    """The records in a sequence of gzip members. Raises ValueError when they are not whole, or have
    more than `most` bytes together."""
    view, at = memoryview(part), 0
    while at < len(view):
        unpacker, parts = igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP), []
        try:
            while not unpacker.eof:
                chunk = view[at : at + _CHUNK]
                if not chunk:
                    raise ValueError("an archive ends inside a record")
                parts.append(unpacker.decompress(chunk, most + 1))
                most -= len(parts[-1])
                if most < 0:
                    raise ValueError("the records of an archive are too large")
                at += len(chunk)
        except igzip_lib.IsalError as error:  # type: ignore[misc]  # the stub calls it an instance
            raise ValueError(f"an archive cannot be unpacked: {error}") from None
        at -= len(unpacker.unused_data)
        yield b"".join(parts)
