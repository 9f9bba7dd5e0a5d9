"""Pictures of pages that have settled."""

import base64
import time

import msgspec

from sanderling.browser.devtools import CallRefused
from sanderling.browser.tab import Tab, TimedOut
from sanderling.model import LARGEST_SCREENSHOT

# Pages may be endless; the picture shows so much of them. In CSS pixels.
WIDEST, TALLEST = 1280, 8192
_QUALITY = 70
# Even a tall page takes less than a second.
_TO_CAPTURE = 10.0


async def screenshot(tab: Tab) -> bytes:
    """The page as its reader sees it, from its top, as WebP. Empty if the browser cannot make one,
    or only a huge one."""
    deadline = time.monotonic() + _TO_CAPTURE
    try:
        metrics: msgspec.Raw = await tab.within(tab.call("Page.getLayoutMetrics"), deadline)
        extent = msgspec.json.decode(metrics)["cssContentSize"]
        width, height = min(max(1, extent["width"]), WIDEST), min(max(1, extent["height"]), TALLEST)
        wanted = {
            "format": "webp",
            "quality": _QUALITY,
            "captureBeyondViewport": True,
            "clip": {"x": 0, "y": 0, "width": width, "height": height, "scale": 1},
        }
        answer: msgspec.Raw = await tab.within(tab.call("Page.captureScreenshot", wanted), deadline)
    except CallRefused:
        return b""
    except TimedOut:
        tab.healthy = False  # it may still be at it, so no other page gets this tab
        return b""
    picture = base64.b64decode(msgspec.json.decode(answer)["data"])
    return picture if len(picture) <= LARGEST_SCREENSHOT else b""
