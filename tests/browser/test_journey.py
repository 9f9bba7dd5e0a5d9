"""What people do, in a real browser: from an empty server to a finished crawl, a search and a diff; and the door."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sanderling.testing import DAY, SyntheticWeb
from tests.browser.chromium import Browser, chromium, installed
from tests.browser.examining import findings
from tests.web.served import running

pytestmark = pytest.mark.skipif(installed() is None, reason="there is no Chromium here")
SECRET = "low-water-at-seven-in-the-morning"


@pytest.fixture(scope="module")
def started() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def browser(started: Browser) -> Browser:
    started.look()
    started.said.clear()
    return started


def examine(browser: Browser, where: str) -> None:
    """Looks at a page as people with other eyes and other screens do."""
    for width in (1200, 360):
        for dark in (False, True):
            browser.look(width, 800, dark)
            assert findings(browser) == [], (where, width, "dark" if dark else "light")
    browser.look()


def test_from_an_empty_server_to_a_search_and_a_diff(browser: Browser, tmp_path: Path) -> None:
    home = tmp_path / "crawls"
    with SyntheticWeb(pages=40, seed=7, change_rate=0.5).serve() as site, running(home, "--allow-private") as server:
        browser.go(server.url)
        examine(browser, "no crawl yet")
        browser.click("a", "New crawl")
        browser.until("location.pathname === '/new' && document.readyState === 'complete'")
        browser.fill("#seeds", site.url)
        browser.fill("#name", "tide")
        browser.until("document.querySelector('#command').innerText.includes('tide')")
        examine(browser, "new crawl")
        browser.click("button", "Start the crawl")
        browser.until("location.pathname === '/crawls/tide' && document.readyState === 'complete'")
        browser.run("window.stayed = true")
        browser.until("document.body.innerText.includes('Nothing is left to visit')")
        assert browser.run("window.stayed") is True  # it renewed itself; nobody loaded it again
        examine(browser, "overview")

        browser.click("nav a", "Search")
        browser.until("location.pathname.endsWith('/search') && document.readyState === 'complete'")
        browser.fill("#q", "the")
        browser.click("form button", "Search")
        browser.until("document.querySelector('#results mark')")
        browser.until("!document.body.innerText.includes('being indexed')")
        examine(browser, "search")
        browser.click("#hit-1")
        browser.until("location.pathname.includes('/pages/') && document.body.innerText.includes('Version 1')")

        site.clock.advance(5 * DAY)
        browser.click("nav a", "Overview")
        browser.until("document.body.innerText.includes('Visit all again') && (window.before = true)")
        browser.click("button", "Visit all again")
        browser.until("!window.before && document.body.innerText.includes('Nothing is left')")
        browser.click("nav a", "Changes")
        browser.until("location.pathname.endsWith('/changes') && document.readyState === 'complete'")
        examine(browser, "changes")
        browser.go(f"{server.url}/crawls/tide/changes?kind=text")
        browser.click("a[href$='/diff']")
        browser.until(
            "location.pathname.endsWith('/diff') && document.querySelector('.diff tr:not(.same):not(.gap) td')"
        )
        examine(browser, "diff")
        for tab in ("Pages", "Freshness", "Hosts"):
            browser.click("nav a", tab)
            browser.until(f"location.pathname.endsWith('/{tab.lower()}') && document.readyState === 'complete'")
            examine(browser, tab)
        assert browser.said == []


def test_what_is_wrong_is_found(browser: Browser) -> None:
    browser.go(
        "data:text/html,<p style='color:%23aaa;background:%23fff'>faint</p><button></button><p id=a></p><p id=a>"
    )
    found = findings(browser)
    for wrong in ("a button without a name", "no main", "faint: 2.32", "two elements with the id a", "no language"):
        assert any(each.startswith(wrong) for each in found), (wrong, found)


def test_the_door(browser: Browser, crawled: Path) -> None:
    with running(crawled, "--token", SECRET) as server:
        browser.go(f"{server.url}/crawls/small")
        assert browser.run("location.pathname") == "/login"
        examine(browser, "login")
        browser.fill("#password", "high-water")
        browser.click("button", "Log in")
        browser.until("document.querySelector('[role=alert]')")
        browser.fill("#password", SECRET)
        browser.click("button", "Log in")
        browser.until("location.pathname === '/crawls/small' && document.querySelector('h1')")
        browser.click("button", "Log out")
        browser.until("location.pathname === '/login'")
        browser.go(f"{server.url}/crawls/small/search")
        assert browser.run("location.pathname") == "/login"
