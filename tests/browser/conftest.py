"""One browser for the tests of a module: while it is open, no other test of the process may run an
event loop. And a page in it that must not complain."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.chromium import CannotStart, chromium, look
from tests.waiting import PATIENCE

expect.set_options(timeout=PATIENCE * 1000)


@pytest.fixture(scope="module")
def opened() -> Iterator[Page]:
    try:
        with chromium() as page:
            yield page
    except CannotStart as error:
        pytest.skip(f"Chromium cannot be started here: {error}")


@pytest.fixture
def page(opened: Page) -> Iterator[Page]:
    """A page whose scripts and styles must load without errors. Refused requests do not count."""
    complaints: list[str] = []
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
    look(opened)
    yield opened
    opened.goto("about:blank")
    assert [each for each in complaints if not each.startswith("Failed to load resource")] == []
