"""An archived page looks like the live one: both side by side, compared by pixels, in the
dashboard, in pywb, as a site on a disk and as one file. It asks for nothing but archived files."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page

from sanderling.presenting.mirror import path_of
from tests import complete_page
from tests.browser.chromium import CannotStart, chromium, installed
from tests.browser.looks import HEIGHT, WIDTH, archived_copy, picture, picture_in_pywb, share_that_differs
from tests.conftest import FAST, Run
from tests.replaying import PYWB, collection, pywb
from tests.servers import PageServer
from tests.web.served import running

pytestmark = pytest.mark.skipif(installed() is None, reason="there is no Chromium here")
# Antialiasing at the edges of pictures may differ.
MOST = 0.02


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    try:
        with chromium() as opened:
            opened.set_viewport_size({"width": WIDTH, "height": HEIGHT})
            yield opened
    except CannotStart as error:
        pytest.skip(f"Chromium cannot be started here: {error}")


def test_the_archived_copy_looks_like_the_page(page: Page, sanderling: Run, tmp_path: Path) -> None:
    other = PageServer(complete_page.files_elsewhere())
    home = PageServer({"/": complete_page.page(other.origin), **complete_page.files()})
    folder = tmp_path / "shelf" / "copy"
    folder.parent.mkdir()
    with other, home:
        live = picture(page, f"{home.origin}/")
        sanderling(
            "crawl", f"{home.origin}/", "-d", folder, "--requisites", "--allow-private", "--render", "never", *FAST
        )  # fmt: skip
        url = f"{home.origin}/"
        place = collection(folder, sanderling)
    asked: list[str] = []
    with running(folder.parent) as server:
        archived = archived_copy(page, server.url, "copy", url)
        page.on("request", lambda request: asked.append(request.url))
        assert share_that_differs(live, picture(page, f"{archived}&bar=false")) <= MOST
        asked_of_the_archive = [each for each in asked if not each.startswith("data:")]
        shown = page.frame_locator("iframe").first.locator("p").evaluate("element => getComputedStyle(element).color")
        page.goto(archived)
        bar = page.get_by_role("note").inner_text()
    assert shown == "rgb(128, 0, 128)"  # the frame has its style sheet
    origin = archived.partition("/copy/")[0]
    assert {each.partition("/copy/")[0] for each in asked_of_the_archive} == {origin}
    assert len(asked_of_the_archive) > 20 and f"Archived copy of {url}" in bar and "Live page" in bar

    for form in ("site", "single"):
        assert sanderling("export", folder, "--format", form, "-o", tmp_path / form).code == 0
        del asked[:]
        assert share_that_differs(live, picture(page, (tmp_path / form / path_of(url, True)).as_uri())) <= MOST, form
        assert {each.partition(":")[0] for each in asked} <= {"file", "data"}
        assert form == "site" or [each.partition(":")[0] for each in asked].count("file") == 1

    if (PYWB / "wayback").exists():
        with pywb(place) as replay:
            in_pywb = picture_in_pywb(page, f"{replay}/all/{time.strftime('%Y%m%d%H%M%S', time.gmtime())}/{url}")
        assert share_that_differs(live, in_pywb) <= MOST
