"""Pictures of pages that have settled."""

import base64
import io
import time

import msgspec
from PIL import Image

from sanderling.browser.devtools import CallRefused
from sanderling.browser.tab import Tab, TimedOut
from sanderling.model import LARGEST_SCREENSHOT

# Pages may be endless; the picture shows so much of them. In CSS pixels.
WIDEST, TALLEST = 1280, 8192
_QUALITY = 70
# Even a tall page takes less than a second.
_TO_CAPTURE = 10.0
# Text and plain areas take less without loss than with it, and photographs take more. Of 12 pages
# (documentation and dashboards), those whose PNG had at most 2.3 times the bytes were smaller
# without loss, and those from 3.2 times on were not. It is not tried where there is little to save.
_WORTH_TRYING = 48 << 10
_PLAIN = 2.7


async def screenshot(tab: Tab) -> bytes:
    """The page as its reader sees it, from its top, as WebP. Empty if the browser cannot make one,
    or only a huge one."""
    deadline = time.monotonic() + _TO_CAPTURE
    picture = b""
    try:
        metrics: msgspec.Raw = await tab.within(tab.call("Page.getLayoutMetrics"), deadline)
        extent = msgspec.json.decode(metrics)["cssContentSize"]
        width, height = min(max(1, extent["width"]), WIDEST), min(max(1, extent["height"]), TALLEST)
        wanted = {"captureBeyondViewport": True, "clip": {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}}
        picture = await _captured(tab, {**wanted, "format": "webp", "quality": _QUALITY}, deadline)
        if len(picture) > _WORTH_TRYING:
            picture = smaller(picture, await _captured(tab, {**wanted, "format": "png"}, deadline))
    except CallRefused:
        pass
    except TimedOut:
        tab.healthy = False  # it may still be at it, so no other page gets this tab
    return picture if len(picture) <= LARGEST_SCREENSHOT else b""


async def _captured(tab: Tab, wanted: dict[str, object], deadline: float) -> bytes:
    answer: msgspec.Raw = await tab.within(tab.call("Page.captureScreenshot", wanted), deadline)
    return base64.b64decode(msgspec.json.decode(answer)["data"])


def smaller(lossy: bytes, png: bytes) -> bytes:
    """The smaller of two screenshots as WebP: one with loss, and one made of a PNG without."""
    if len(png) > _PLAIN * len(lossy):
        return lossy
    try:
        with Image.open(io.BytesIO(png), formats=["PNG"]) as picture:
            if picture.width * picture.height > WIDEST * TALLEST:
                return lossy
            made = io.BytesIO()
            # With quality (here: effort) 0 it takes half the time and up to twice the bytes.
            picture.convert("RGB").save(made, "WEBP", lossless=True, method=2, quality=80)
    except (OSError, ValueError, SyntaxError):
        return lossy
    return min(made.getvalue(), lossy, key=len)
