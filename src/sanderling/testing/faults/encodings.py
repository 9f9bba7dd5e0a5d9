"""Compressed bodies that are broken, or that become very large."""

import gzip
import struct
import zlib
from functools import lru_cache

from sanderling.testing.faults.exchange import FaultExchange, document, fault

BOMB_SIZE = 128 * 1024 * 1024
# Packed once with Brotli, which the standard library does not have.
BROTLI_BOMB = bytes.fromhex(
    "cfffff7ff88d54b5bf06116a7b13625d0831e23ca61150619d8588ea58def8bfbcff07feffffc32f0110870500baf7fffcffff875f02200e"
    "8b0074effff9ffff0fbf04401c1600e8defff3ffff1f7e0980382c00d0bdffe7ffff3ffc1200715800a07bffcfffff7ff82500e2b00040f7"
    "fe9ffffffff04b00c4610180eefd7f8400e097008822020002"
)
PAGE = document("Compressed", "<p>A page that travels compressed.</p>").encode()


@fault("gzip")
async def good_gzip(exchange: FaultExchange) -> None:
    """A faultless page, compressed with gzip whether or not the client asked."""
    await exchange.reply(gzip.compress(PAGE), headers=("Content-Encoding: gzip",))


@fault("broken-gzip")
async def broken_gzip(exchange: FaultExchange) -> None:
    """Says gzip, begins like gzip and goes on as garbage."""
    whole = gzip.compress(PAGE)
    await exchange.reply(whole[:20] + b"\xff" * 40, headers=("Content-Encoding: gzip",))


@fault("not-gzip")
async def not_gzip(exchange: FaultExchange) -> None:
    """Says gzip and sends plain HTML."""
    await exchange.reply(PAGE, headers=("Content-Encoding: gzip",))


@fault("gzip-bomb")
async def gzip_bomb(exchange: FaultExchange) -> None:
    """About 130 KB of gzip, sent at once, that become 128 MiB."""
    await exchange.reply(bomb(16 + zlib.MAX_WBITS), headers=("Content-Encoding: gzip",))


@fault("deflate-bomb")
async def deflate_bomb(exchange: FaultExchange) -> None:
    """The same with deflate."""
    await exchange.reply(bomb(zlib.MAX_WBITS), headers=("Content-Encoding: deflate",))


@fault("brotli-bomb")
async def brotli_bomb(exchange: FaultExchange) -> None:
    """The same with Brotli: 137 bytes become 128 MiB."""
    await exchange.reply(BROTLI_BOMB, headers=("Content-Encoding: br",))


@fault("nested-gzip")
async def nested_gzip(exchange: FaultExchange) -> None:
    """A faultless page, compressed twice and declared so."""
    await exchange.reply(gzip.compress(gzip.compress(PAGE)), headers=("Content-Encoding: gzip, gzip",))


@fault("nested-gzip-bomb")
async def nested_gzip_bomb(exchange: FaultExchange) -> None:
    """The bomb compressed once more: less than 2 KB become 128 MiB."""
    body = gzip.compress(bomb(16 + zlib.MAX_WBITS))
    await exchange.reply(body, headers=("Content-Encoding: gzip, gzip",))


@fault("gzip-trailing-garbage")
async def gzip_trailing_garbage(exchange: FaultExchange) -> None:
    """A whole gzip stream with a kilobyte of garbage behind it."""
    await exchange.reply(gzip.compress(PAGE) + b"garbage\0" * 128, headers=("Content-Encoding: gzip",))


@fault("sitemap-bomb.xml.gz")
async def sitemap_bomb(exchange: FaultExchange) -> None:
    """A compressed sitemap file (no Content-Encoding) that becomes 128 MiB."""
    await exchange.reply(bomb(16 + zlib.MAX_WBITS), kind="application/gzip")


@lru_cache(maxsize=4)
def bomb(window: int) -> bytes:
    """A page and then spaces; `window` chooses between deflate and gzip as in zlib.

    The packed form of one block is repeated, because packing them all would take seconds.
    """
    start, block = document("Bomb", "").encode(), b" " * (1024 * 1024)
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    first, again = (packer.compress(part) + packer.flush(zlib.Z_FULL_FLUSH) for part in (start, block))
    blocks = BOMB_SIZE // len(block)
    packed = first + again * blocks + packer.flush()
    check = zlib.crc32 if window > zlib.MAX_WBITS else zlib.adler32
    total = check(start)
    for _ in range(blocks):
        total = check(block, total)
    if window > zlib.MAX_WBITS:
        return b"\x1f\x8b\x08" + bytes(6) + b"\xff" + packed + struct.pack("<II", total, len(start) + BOMB_SIZE)
    return b"\x78\xda" + packed + struct.pack(">I", total)
