"""An archived page looks like the live one: both side by side, compared by pixels. It asks
for nothing but archived files."""

import io
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image, ImageChops
from playwright.sync_api import Page

from sanderling.urls import identity
from sanderling.web.api.inputs import named
from tests import complete_page
from tests.browser.chromium import CannotStart, chromium, installed
from tests.conftest import FAST, Run
from tests.servers import PageServer
from tests.web.served import running

pytestmark = pytest.mark.skipif(installed() is None, reason="there is no Chromium here")
# Antialiasing at the edges of pictures may differ.
MOST = 0.02


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    try:
        with chromium() as opened:
            opened.set_viewport_size({"width": 900, "height": 900})
            yield opened
    except CannotStart as error:
        pytest.skip(f"Chromium cannot be started here: {error}")


def share_that_differs(one: bytes, other: bytes) -> float:
    """How many of all pixels of two pictures are not about the same."""
    first, second = (Image.open(io.BytesIO(each)).convert("RGB") for each in (one, other))
    assert first.size == second.size
    difference = ImageChops.difference(first, second).convert("L").point(lambda value: 255 * (value > 16))
    return difference.histogram()[255] / (first.size[0] * first.size[1])


def test_the_archived_copy_looks_like_the_page(page: Page, sanderling: Run, tmp_path: Path) -> None:
    other = PageServer(complete_page.files_elsewhere())
    home = PageServer({"/": complete_page.page(other.origin), **complete_page.files()})
    with other, home:
        page.goto(f"{home.origin}/")
        page.wait_for_load_state("networkidle")
        live = page.screenshot()
        sanderling(
            "crawl", f"{home.origin}/", "-d", tmp_path / "copy", "--requisites", "--allow-private", "--render", "never", *FAST
        )  # fmt: skip
    with running(tmp_path) as server:
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto(f"{server.url}/crawls/copy/pages/{named(identity(home.origin + '/'))}")
        archived = page.get_by_role("link", name=re.compile("^Archived copy")).first.get_attribute("href")
        del asked[:]
        page.goto(f"{archived}&bar=false")
        page.wait_for_load_state("networkidle")
        replayed = page.screenshot()
        shown = page.frame_locator("iframe").first.locator("p").evaluate("element => getComputedStyle(element).color")
        asked_of_the_archive = [*asked]
        page.goto(str(archived))
        bar = page.get_by_role("note").inner_text()
    assert share_that_differs(live, replayed) <= MOST

    sanderling("export", tmp_path / "copy", "--format", "site", "-o", tmp_path / "site")
    del asked[:]
    page.goto((tmp_path / "site" / "index.html").as_uri())
    page.get_by_role("link", name="Everything").click()
    page.wait_for_load_state("networkidle")
    assert share_that_differs(live, page.screenshot()) <= MOST
    assert {url.partition(":")[0] for url in asked} <= {"file", "data"}
    asked = [url for url in asked_of_the_archive if not url.startswith("data:")]
    assert shown == "rgb(128, 0, 128)"  # the frame has its style sheet
    origin = str(archived).partition("/copy/")[0]
    assert {url.partition("/copy/")[0] for url in asked} == {origin}
    assert len(asked) > 20 and f"Archived copy of {home.origin}/" in bar and "Live page" in bar
