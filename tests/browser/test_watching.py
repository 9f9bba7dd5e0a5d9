"""Watching in a real browser: an element is picked by a click, its change is seen on the first
page, and the watch is edited, paused and removed."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from sanderling.settings import load
from tests.browser.chromium import installed
from tests.browser.examining import examine
from tests.servers import PageServer
from tests.test_watch import Shop
from tests.waiting import until
from tests.web.served import running

pytestmark = pytest.mark.skipif(installed() is None, reason="there is no Chromium here")


def reload_until(page: Page, part: Locator, text: str) -> None:
    def there() -> bool:
        page.reload()
        return text in part.inner_text()

    until(there)


def test_a_price_is_picked_by_a_click_and_its_change_is_seen(page: Page, tmp_path: Path) -> None:
    home = tmp_path / "crawls"
    with Shop() as shop, running(home, "--allow-private") as server:
        page.goto(server.url)
        page.get_by_role("link", name="Watch a page").click()
        page.get_by_label("Address of the page").fill(shop.url)
        page.get_by_role("button", name="Load the page").click()
        page.frame_locator("#copy").get_by_text("79.00").click()
        expect(page.get_by_label("Part of the page")).to_have_value(".price")
        expect(page.locator("#matches")).to_contain_text("79.00")
        page.get_by_label("Part of the page").fill(".prize")
        expect(page.locator("#matches")).to_contain_text("Nothing on the page matches")
        page.get_by_label("Part of the page").fill(".price")
        expect(page.locator("#matches")).to_contain_text("79.00")
        examine(page, "watch a page")
        page.get_by_label("Every").fill("often")
        page.get_by_role("button", name="Watch it").click()
        expect(page.get_by_role("alert")).to_contain_text("'often' is not a time such as 10m")
        page.get_by_label("Every").fill("1s")
        page.get_by_label("Tags").fill("shop")
        page.get_by_role("button", name="Watch it").click()
        page.wait_for_url("**/watches")
        listed = page.get_by_role("region", name="Watched pages")
        expect(listed).to_contain_text("watching")
        reload_until(page, listed, "79.00")

        shop.price = "75.00"
        news = page.get_by_role("region", name="Newest changes")
        page.goto(server.url)
        reload_until(page, news, "79.00 → 75.00")
        examine(page, "news")
        page.get_by_role("navigation", name="All crawls").get_by_role("link", name="Watches").click()
        expect(listed).to_contain_text("75.00")
        page.get_by_role("link", name="#shop").first.click()
        examine(page, "watches")

        listed.get_by_role("link", name="Edit").click()
        page.get_by_label("Title").fill("Kettle")
        page.get_by_role("button", name="Save").click()
        page.wait_for_url("**/watches")
        expect(listed).to_contain_text("Kettle")
        listed.get_by_role("button", name="Pause").click()
        expect(listed).to_contain_text("paused")
        (watch,) = load(home / "watches" / "sanderling.toml")[0].watch
        assert (watch.title, watch.tags, watch.every, watch.paused) == ("Kettle", ("shop",), 1.0, True)
        listed.get_by_role("button", name="Remove").click()
        expect(page.get_by_role("heading", name="Nothing is watched")).to_be_visible()


def test_no_script_of_a_page_runs_in_its_copy(page: Page, tmp_path: Path) -> None:
    hostile = b"""<title>x</title><script>parent.postMessage({picked: "script"}, "*")</script>
        <img src=x onerror="parent.postMessage({picked: 'event'}, '*')"><svg onload="parent.postMessage({picked: 'svg'}, '*')">
        </svg><base href=http://evil.example/><a id=there href=javascript:top.location='http://evil.example/'>there</a>"""
    with PageServer({"/": hostile}) as site, running(tmp_path, "--allow-private") as server:
        page.goto(f"{server.url}/watches/new?url={site.origin}/")
        page.frame_locator("#copy").get_by_text("there").click()
        expect(page.get_by_label("Part of the page")).to_have_value("#there")
        expect(page.locator("#matches")).to_contain_text("1 match")
        expect(page).to_have_url(re.compile("/watches/new"))
