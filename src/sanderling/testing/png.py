"""Makes valid and harmful PNG files."""

import random
import struct
import zlib

SIGNATURE = b"\x89PNG\r\n\x1a\n"


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def header(width: int, height: int, *, bits: int = 8, colour: int = 2) -> bytes:
    return chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, bits, colour, 0, 0, 0))


def pattern(key: int, size: int = 0) -> bytes:
    """An 8 by 8 picture in two colours, 64 pixels for the 64 bits of the key; with `size` bytes of
    a private part that no compression makes smaller, like the pixels of a photo."""
    light = (key & 0xFFFFFF | 0x808080).to_bytes(3, "big")
    dark = (key >> 24 & 0x7F7F7F).to_bytes(3, "big")
    rows = b"".join(b"\0" + b"".join(light if key >> (8 * y + x) & 1 else dark for x in range(8)) for y in range(8))
    private = chunk(b"prVt", random.Random(key).randbytes(size)) if size else b""
    return SIGNATURE + header(8, 8) + private + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def pixel_bomb(side: int = 30_000) -> bytes:
    """A valid PNG of about 110 KB that has `side` x `side` pixels of one bit each (900 million)."""
    row = b"\0" + bytes((side + 7) // 8)
    packer = zlib.compressobj(9)
    data = b"".join(packer.compress(row) for _ in range(side)) + packer.flush()
    return SIGNATURE + header(side, side, bits=1, colour=0) + chunk(b"IDAT", data) + chunk(b"IEND", b"")
