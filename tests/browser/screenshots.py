"""`make screenshots`: the pictures of the dashboard in the docs, taken in a real browser.

python -m tests.browser.screenshots                 docs/pictures
python -m tests.browser.screenshots --all DIR       every page, wide and narrow, light and dark
"""

import argparse
import sys
import tempfile
from pathlib import Path

import httpx

from sanderling.testing import DAY, SyntheticWeb
from tests.browser.chromium import Browser, chromium, write
from tests.web.served import Served, running

PICTURES = Path(__file__).parents[2] / "docs" / "pictures"
CRAWL = "shorebirds"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", type=Path, metavar="DIR", help="every page in four ways, to look at")
    chosen = parser.parse_args()
    web = SyntheticWeb(hosts=1, pages=1200, seed=11, change_rate=0.6)
    with (
        tempfile.TemporaryDirectory() as home,
        web.serve() as site,
        running(Path(home, "crawls"), "--allow-private") as server,
        chromium() as browser,
    ):
        _shoot(browser, site.url, server, site.clock.advance, chosen.all)
    return 0


def _shoot(browser: Browser, seed: str, server: Served, advance: object, everything: Path | None) -> None:
    browser.look()
    browser.go(f"{server.url}/new")
    browser.fill("#seeds", seed)
    browser.fill("#name", CRAWL)
    _shot(browser, "new", everything)
    browser.run("document.querySelectorAll('details').forEach(each => each.open = true)")
    browser.fill("[name=delay]", "10ms")
    browser.click("button", "Start the crawl")
    home = f"{server.url}/crawls/{CRAWL}"
    browser.until(f"location.pathname === '/crawls/{CRAWL}' && document.readyState === 'complete'")
    browser.until(
        "document.querySelectorAll('.tile svg').length > 2 && /[0-9]{3} pages|Pages\\s+[0-9]{3}/.test(document.body.innerText)"
    )
    _shot(browser, "live", everything, to_docs=True)
    browser.until("document.body.innerText.includes('Nothing is left to visit')")
    _shot(browser, "finished", everything)
    advance(6 * DAY)  # type: ignore[operator]
    httpx.post(f"{server.url}/api/v1/crawls/{CRAWL}/start", json={"mode": "again"}, headers={"X-Sanderling": "1"})
    browser.go(home)
    browser.until("document.body.innerText.includes('Nothing is left to visit')")
    for name in ("pages", "changes", "freshness", "hosts"):
        browser.go(f"{home}/{name}")
        if name == "freshness":
            browser.until("document.querySelector('main svg')")
        _shot(browser, name, everything)
    browser.go(f"{home}/search?q=the+and")
    browser.until("document.querySelector('mark') && !document.body.innerText.includes('being indexed')")
    _shot(browser, "search", everything, to_docs=True)
    browser.go(f"{home}/changes?kind=text")
    page = str(browser.run("document.querySelector('a[href$=\"/diff\"]').href"))
    browser.go(page)
    _shot(browser, "diff", everything, to_docs=True)
    for name, address in (("page", page.removesuffix("/diff")), ("paragraphs", page.replace("/diff", "/paragraphs")),
                          ("links", page.replace("/diff", "/links")), ("crawls", server.url),
                          ("error", f"{home}/nothing")):  # fmt: skip
        browser.go(address)
        _shot(browser, name, everything, to_docs=name == "page")


def _shot(browser: Browser, name: str, everything: Path | None, to_docs: bool = False) -> None:
    if everything is None:
        if to_docs:
            write(PICTURES / f"dashboard-{name}.png", browser.picture())
        return
    for width in (1200, 360):
        for dark in (False, True):
            browser.look(width, 800, dark)
            write(everything / f"{name}-{width}-{'dark' if dark else 'light'}.png", browser.picture(whole=True))
    browser.look()


if __name__ == "__main__":
    sys.exit(main())
