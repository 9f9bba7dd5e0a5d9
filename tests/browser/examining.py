"""Finds accessibility problems of a page: those of axe-core, and content wider than the window."""

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from tests.browser.chromium import look

_GRAVE = ("serious", "critical")


def findings(page: Page) -> list[str]:
    """All serious problems of the page in its current state."""
    found = [
        f"{each['id']}: {each['help']}: {node['html'][:120]}"
        for each in Axe().run(page).response["violations"]
        if each["impact"] in _GRAVE
        for node in each["nodes"]
    ]
    wide, room = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    return [*found, f"{wide} pixels wide where there are {room}"] if wide > room else found


def examine(page: Page, where: str) -> None:
    """Checks a page in light and dark mode, and on other screens."""
    page.wait_for_load_state()
    for width in (1200, 360):
        for dark in (False, True):
            look(page, width, dark)
            found = findings(page)
            for _ in range(50):
                if not found:
                    break
                page.wait_for_timeout(200)  # a problem that exists only while a page renews itself does not count
                found = findings(page)
            assert found == [], (where, width, "dark" if dark else "light", found)
    look(page)
