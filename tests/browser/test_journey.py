"""A user's way through the dashboard in a real browser: a new crawl, a search, a diff, and the
login."""

import re
from pathlib import Path
from subprocess import DEVNULL

import pytest
from playwright.sync_api import Page, Route, expect

from sanderling.server.requests import remote
from sanderling.server.run_folder import LINK
from sanderling.testing import DAY, SyntheticWeb
from tests.browser.chromium import installed, look
from tests.browser.examining import examine, findings
from tests.conftest import FAST, PATIENT, started
from tests.search_library import Library
from tests.waiting import PATIENCE, until
from tests.web.served import running

pytestmark = pytest.mark.skipif(installed() is None, reason="there is no Chromium here")
SECRET = "low-water-at-seven-in-the-morning"
# Moves the animations forward, as if the page was not renewed for long. Returns whether it says so.
OVERDUE = """() => {
    document.getAnimations().filter(each => each.animationName === "overdue").forEach(each => each.finish());
    return getComputedStyle(document.querySelector(".stale")).visibility === "visible";
}"""
# The number of tables that are wider than their place.
WIDER = "[...document.querySelectorAll('.scroll')].filter(each => each.scrollWidth > each.clientWidth).length"
expect.set_options(timeout=PATIENCE * 1000)


def test_from_an_empty_server_to_a_search_and_a_diff(page: Page, tmp_path: Path) -> None:
    home = tmp_path / "crawls"
    with SyntheticWeb(pages=40, seed=7, change_rate=0.5).serve() as site, running(home, "--allow-private") as server:
        tabs = page.get_by_role("navigation", name="This crawl")
        page.goto(server.url)
        examine(page, "no crawl yet")
        page.get_by_role("link", name="New crawl").first.click()
        page.locator("#seeds").fill(site.url)
        page.locator("#name").fill("tide")
        expect(page.locator("#command")).to_contain_text("tide")
        examine(page, "new crawl")
        site.hold(after=5)  # so that it is still running when the browser opens the page
        page.get_by_role("button", name="Start the crawl").click()
        page.wait_for_url("**/crawls/tide")
        page.evaluate("window.stayed = true")
        page.wait_for_function(OVERDUE)
        expect(page.locator(".stale")).to_be_hidden()  # it was renewed
        site.release()
        expect(page.locator("body")).to_contain_text("Nothing is left to visit")
        assert page.evaluate("window.stayed") is True  # it renewed itself, without a reload
        examine(page, "overview")

        tabs.get_by_role("link", name="Search").click()
        page.locator("#q").fill("the")
        page.locator("#q").press("Enter")
        expect(page.locator("#results mark").first).to_be_visible()
        expect(page.locator("body")).not_to_contain_text("being indexed")
        examine(page, "search")
        page.locator("#narrower").click()
        page.locator("#q").fill("and")
        page.locator("#q").press("Enter")
        expect(page.locator("body")).to_contain_text("Only within the results of the")
        examine(page, "search within")
        page.locator("#hit-1").click()
        expect(page.locator("body")).to_contain_text("Version 1")
        examine(page, "page")

        site.clock.advance(5 * DAY)
        tabs.get_by_role("link", name="Overview").click()
        site.hold(after=5)
        page.get_by_role("button", name="Visit all again").click()
        expect(page.locator("body")).not_to_contain_text("Nothing is left to visit")
        site.release()
        expect(page.locator("body")).to_contain_text("Nothing is left to visit")
        tabs.get_by_role("link", name="Changes").click()
        expect(page).to_have_url(re.compile("/changes$"))
        examine(page, "changes")
        page.goto(f"{server.url}/crawls/tide/changes?kind=text")
        page.locator("a[href*='/diff?to=']").first.click()
        expect(page.locator(".diff tr:not(.same):not(.gap) td").first).to_be_visible()
        examine(page, "diff")
        for tab, shows in (("Pages", "fetched"), ("Freshness", "Fresh now"), ("Hosts", "127.0.0.1")):
            tabs.get_by_role("link", name=tab).click()
            expect(page).to_have_url(re.compile(f"/{tab.lower()}$"))
            expect(page.locator("main")).to_contain_text(shows)  # not the note that is shown before it
            examine(page, tab)


def test_a_button_that_starts_a_crawl_says_so_at_once(page: Page, crawled: Path) -> None:
    """The request never arrives, so that the page with the button stays."""
    sent: list[str] = []

    def swallow(route: Route) -> None:
        sent.append(route.request.post_data or "")
        route.fulfill(status=204)

    with running(crawled) as server:
        for path, name, says in (
            ("new", "Start the crawl", 'name="seeds"'),
            ("crawls/small", "Refresh", "action=refresh"),
        ):
            page.goto(f"{server.url}/{path}")
            page.route("**/*", swallow)
            page.get_by_role("button", name=name).click()
            expect(page.get_by_role("button", name="Starting…")).to_be_disabled()
            page.unroute("**/*")
            assert says in sent[-1], "the button is part of what is sent"


def test_a_page_can_be_visited_now(page: Page, tmp_path: Path) -> None:
    """While a crawl runs; the page says what becomes of it."""
    with SyntheticWeb(hosts=1, pages=40, seed=7).serve() as site, running(tmp_path, "--allow-private") as server:
        site.hold(after=3)
        folder = tmp_path / "tide"
        arguments = ("crawl", site.url, "-d", folder, *FAST, *PATIENT, "--clients", "1")
        with started(*arguments, stdout=DEVNULL, stderr=DEVNULL) as crawl:
            until(lambda: (folder / LINK).is_symlink() and remote.look(folder, PATIENCE).counts.pages == 3)
            page.goto(f"{server.url}/crawls/tide/pages?state=fetched")
            page.locator("main table a").first.click()
            page.get_by_role("button", name="Visit now").click()
            expect(page.get_by_role("status")).to_contain_text("Visit now: visited again next")
            examine(page, "a page to be visited now")
            site.release()
            assert crawl.wait(PATIENCE) == 0
        page.goto(page.url.removesuffix("/visit"))
        expect(page.get_by_role("button", name="Visit now")).to_have_count(0)


def test_words_without_end_fit_into_tables(page: Page, library: Library) -> None:
    word = "tide" * 60
    library.page(f"http://a.org/{word}", f"<p>{word}", title=word)
    with running(library.folder.path) as server:
        look(page, 360)
        page.goto(f"{server.url}/crawls/crawl/pages")
        assert page.evaluate(WIDER) == 0
        page.get_by_role("link", name=word).click()
        page.get_by_role("link", name="Paragraphs").click()
        expect(page.locator("td.prose").last).to_have_text(word)
        assert page.evaluate(WIDER) == 0


def test_what_is_wrong_is_found(page: Page) -> None:
    page.set_content("<p style='color:#aaa;background:#fff'>faint</p><button></button><div style='width:3000px'>wide")
    found = " ".join(findings(page))
    for wrong in ("color-contrast", "button-name", "html-has-lang", "pixels wide"):
        assert wrong in found


def test_the_door(page: Page, crawled: Path) -> None:
    with running(crawled, "--token", SECRET) as server:
        page.goto(f"{server.url}/crawls/small")
        expect(page).to_have_url(re.compile("/login"))
        examine(page, "login")
        page.locator("#password").fill("high-water")
        page.get_by_role("button", name="Log in").click()
        expect(page.get_by_role("alert")).to_be_visible()
        page.locator("#password").fill(SECRET)
        page.get_by_role("button", name="Log in").click()
        page.wait_for_url("**/crawls/small")
        page.get_by_role("button", name="Log out").click()
        expect(page).to_have_url(re.compile("/login"))
        page.goto(f"{server.url}/crawls/small/search")
        expect(page).to_have_url(re.compile("/login"))


def test_a_focused_crawl_from_examples_that_is_taught(page: Page, tmp_path: Path) -> None:
    home = tmp_path / "crawls"
    web = SyntheticWeb(pages=80, seed=7, topics=4, locality=0.8, vanish=0.0, appear=0.0)
    with web.serve() as site, running(home, "--allow-private") as server:
        mine = [url for url in sorted(web.pages_at(0.0)) if web.topic(url) == 1][:6]
        page.goto(f"{server.url}/new")
        page.locator("#seeds").fill(site.url)
        page.locator("#name").fill("focus")
        page.locator("summary", has_text="Topic").click()
        page.locator("#topic").fill("files/are/refused")
        page.get_by_role("button", name="Start the crawl").click()
        expect(page.locator("body")).to_contain_text("topic takes words here")
        page.locator("#topic").fill("")
        page.locator("#examples").fill("\n".join(site.url.rstrip("/") + url.partition(".test")[2] for url in mine))
        examine(page, "new focused crawl")
        page.get_by_role("button", name="Start the crawl").click()
        page.wait_for_url("**/crawls/focus")
        expect(page.locator("body")).to_contain_text("Nothing is left to visit")
        page.reload()
        harvest = page.get_by_role("region", name="Topic: focus")
        expect(harvest).to_contain_text("are on the topic")
        examine(page, "overview of a focused crawl")

        page.goto(f"{server.url}/crawls/focus/pages")
        page.locator("main table a").nth(3).click()
        topic = page.get_by_role("region", name="Topic")
        expect(topic).to_contain_text("Words of the link")
        expect(topic).to_contain_text("Found on")
        examine(page, "a page of a focused crawl")
        topic.get_by_role("button", name="Not relevant").click()
        expect(topic).to_contain_text("The model was trained with it: precision")
        expect(topic).to_contain_text("You said")
        # The pages were judged by the model before. One button mends that.
        topic.get_by_role("link", name="judge all pages again").click()
        harvest = page.get_by_role("region", name="Topic: focus")
        expect(harvest).to_contain_text("judged by the model before")
        examine(page, "overview with an older judgement")
        harvest.get_by_role("button", name="Judge all pages again").click()
        expect(harvest).to_contain_text("are on the topic")
        expect(harvest).not_to_contain_text("judged by the model before")
    assert '"relevant": false' in (home / "focus" / "sanderling.topic").read_text()
