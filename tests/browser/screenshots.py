"""`make screenshots`: the pictures of the dashboard in the docs, taken in a real browser.

python -m tests.browser.screenshots                 docs/pictures
python -m tests.browser.screenshots --all DIR       every page, wide and narrow, light and dark
"""

import argparse
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import httpx
from playwright.sync_api import Page, expect

from sanderling.testing import DAY, SyntheticWeb
from tests.browser import rendered_screenshots
from tests.browser.chromium import chromium, look
from tests.waiting import PATIENCE
from tests.web.served import Served, running

PICTURES = Path(__file__).parents[2] / "docs" / "pictures"
CRAWL = "shorebirds"
expect.set_options(timeout=PATIENCE * 1000)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", type=Path, metavar="DIR", help="every page in four ways, to look at")
    chosen = parser.parse_args()
    web = SyntheticWeb(hosts=1, pages=1200, seed=11, change_rate=0.6)
    with (
        tempfile.TemporaryDirectory() as home,
        web.serve() as site,
        running(Path(home, "crawls"), "--allow-private") as server,
        chromium() as page,
    ):
        _shoot(page, site.url, server, site.clock.advance, chosen.all)
        rendered_screenshots.shoot(page, chosen.all or PICTURES)
    return 0


def _shoot(page: Page, seed: str, server: Served, advance: Callable[[float], object], everything: Path | None) -> None:
    look(page)
    page.goto(f"{server.url}/new")
    page.locator("#seeds").fill(seed)
    page.locator("#name").fill(CRAWL)
    _shot(page, "new", everything)
    page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    page.locator("[name=delay]").fill("10ms")
    page.get_by_role("button", name="Start the crawl").click()
    home = f"{server.url}/crawls/{CRAWL}"
    page.wait_for_url(home)
    body = page.locator("body")
    page.locator(".tile svg").nth(2).wait_for()
    expect(body).to_contain_text(re.compile(r"Pages\s+\d{3}\s"), use_inner_text=True)
    _shot(page, "live", everything, to_docs=True)
    expect(body).to_contain_text("Nothing is left to visit")
    _shot(page, "finished", everything)
    advance(6 * DAY)
    httpx.post(f"{server.url}/api/v1/crawls/{CRAWL}/start", json={"mode": "again"}, headers={"X-Sanderling": "1"})
    page.goto(home)
    expect(body).to_contain_text("Nothing is left to visit")
    for name in ("pages", "changes", "freshness", "hosts"):
        page.goto(f"{home}/{name}")
        if name == "freshness":
            page.locator("main svg").first.wait_for()
        _shot(page, name, everything)
    page.goto(f"{home}/search?q=the+and")
    page.locator("mark").first.wait_for()
    expect(body).not_to_contain_text("being indexed")
    _shot(page, "search", everything, to_docs=True)
    page.goto(f"{home}/changes?kind=text")
    diff = str(page.locator("a[href*='/diff?to=']").first.evaluate("each => each.href"))
    diff = diff.partition("?")[0]
    page.goto(diff)
    _shot(page, "diff", everything, to_docs=True)
    for name, address in (("page", diff.removesuffix("/diff")), ("paragraphs", diff.replace("/diff", "/paragraphs")),
                          ("links", diff.replace("/diff", "/links")), ("crawls", server.url),
                          ("error", f"{home}/nothing")):  # fmt: skip
        page.goto(address)
        _shot(page, name, everything, to_docs=name == "page")


def _shot(page: Page, name: str, everything: Path | None, to_docs: bool = False) -> None:
    if everything is None:
        if to_docs:
            page.screenshot(path=PICTURES / f"dashboard-{name}.png")
        return
    for width in (1200, 360):
        for dark in (False, True):
            look(page, width, dark)
            page.screenshot(path=everything / f"{name}-{width}-{'dark' if dark else 'light'}.png", full_page=True)
    look(page)


if __name__ == "__main__":
    sys.exit(main())
