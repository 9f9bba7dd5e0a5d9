"""Bodies that do not match their content type."""

import asyncio
from functools import lru_cache
from hashlib import shake_128

from sanderling.testing import png
from sanderling.testing.faults.exchange import FaultExchange, document, fault

PIXELS = lru_cache(maxsize=1)(png.pixel_bomb)


@fault("not-html")
async def not_html(exchange: FaultExchange) -> None:
    """100 KB of random bytes labelled text/html."""
    await exchange.reply(shake_128(b"not html").digest(100_000))


@fault("lying-type")
async def lying_type(exchange: FaultExchange) -> None:
    """HTML with a link to /page/ok, labelled image/png."""
    await exchange.reply(document("Not an image", '<a href="/page/ok">ok</a>'), "image/png")


@fault("no-type")
async def no_type(exchange: FaultExchange) -> None:
    """HTML with a link to /page/ok and an empty Content-Type."""
    await exchange.reply(document("Untyped", '<a href="/page/ok">ok</a>'), "")


@fault("image.png")
async def image(exchange: FaultExchange) -> None:
    """A faultless picture of 8 by 8 pixels."""
    await exchange.reply(png.pattern(0x0F0F_F0F0_33CC_AA55), "image/png")


@fault("pixel-bomb.png")
async def pixel_bomb(exchange: FaultExchange) -> None:
    """A PNG of about 110 KB that has 900 million pixels."""
    await exchange.reply(await asyncio.to_thread(PIXELS), "image/png")


@fault("truncated.png")
async def truncated(exchange: FaultExchange) -> None:
    """A PNG that ends in the middle of its pixels."""
    whole = png.pattern(0x0F0F_F0F0_33CC_AA55)
    await exchange.reply(whole[: len(whole) // 2], "image/png")


@fault("images")
async def images(exchange: FaultExchange) -> None:
    """A page that shows all of these pictures."""
    names = ["image.png", "pixel-bomb.png", "truncated.png", "lying-type"]
    await exchange.page("Pictures", "".join(f'<img src="/{name}" alt="{name}">' for name in names))
