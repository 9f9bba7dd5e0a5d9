"""Pictures of live and of archived pages, and how much of them differs."""

import io
import re

from PIL import Image, ImageChops
from playwright.sync_api import Page

from sanderling.urls import identity
from sanderling.web.api.inputs import named

WIDTH, HEIGHT = 900, 900
# Shades that nobody tells apart, as at the edges of letters.
_SHADES = 16


def share_that_differs(one: bytes, other: bytes) -> float:
    """How many of all pixels of two pictures are not about the same."""
    first, second = (Image.open(io.BytesIO(each)).convert("RGB") for each in (one, other))
    assert first.size == second.size
    difference = ImageChops.difference(first, second).convert("L").point(lambda value: 255 * (value > _SHADES))
    return difference.histogram()[255] / (first.size[0] * first.size[1])


def picture(page: Page, url: str) -> bytes:
    """What the window shows of a page that has loaded."""
    page.goto(url)
    page.wait_for_load_state("networkidle")
    return page.screenshot(animations="disabled")


def archived_copy(page: Page, dashboard: str, crawl: str, url: str) -> str:
    """The address of the newest copy, as the dashboard links to it."""
    page.goto(f"{dashboard}/crawls/{crawl}/pages/{named(identity(url))}")
    return str(page.get_by_role("link", name=re.compile("^Archived copy")).first.get_attribute("href"))


def picture_in_pywb(page: Page, address: str) -> bytes:
    """What pywb shows below its banner, in a frame as large as the window was."""
    before = page.viewport_size
    assert before is not None
    page.goto(address)
    frame = page.locator("#replay_iframe")
    box = frame.bounding_box()
    assert box is not None
    page.set_viewport_size({"width": before["width"], "height": round(before["height"] * 2 - box["height"])})
    page.wait_for_load_state("networkidle")
    taken = frame.screenshot(animations="disabled")
    page.set_viewport_size(before)
    return taken
