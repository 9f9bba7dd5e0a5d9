"""A real Chromium, driven by Playwright. `python -m tests.browser.chromium` installs one if there
is none."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Error, Page, sync_playwright

from sanderling.browser.finding import find
from tests.waiting import PATIENCE

_QUIETLY = (
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


# For the tests of rendering: it starts in a fifth of the processor time of a whole browser, and
# needs a third for each page. The dashboard is tested in a whole browser.
SHELL = "chromium-headless-shell"


def installed() -> str | None:
    """The whole browser first; else what Sanderling would take, such as the headless shell."""
    whole = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    return whole or (str(found) if (found := find(None)) is not None else None)


class CannotStart(Exception):
    """Chromium is installed but cannot run on this machine."""


@contextmanager
def chromium() -> Iterator[Page]:
    with sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=installed(), args=_QUIETLY, timeout=PATIENCE * 1000)
        except Error as error:
            raise CannotStart(str(error)) from error
        page = browser.new_page()
        page.set_default_timeout(PATIENCE * 1000)
        yield page
        browser.close()


def look(page: Page, width: int = 1200, dark: bool = False) -> None:
    """The size of the window, and whether the system is dark."""
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme="dark" if dark else "light")


def fetch() -> None:
    """Installs Debian's Chromium if allowed, whole and as headless shell. Without a browser, the
    tests here are skipped."""
    missing = ["chromium"] * (installed() is None) + [SHELL] * (shutil.which(SHELL) is None)
    if not missing:
        return
    steps = [["apt-get", "update", "-qq"], ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *missing]]
    if os.geteuid() == 0 and shutil.which("apt-get"):
        sys.stderr.write("fetching Chromium for the tests of the dashboard ...\n")
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        for step in steps:
            subprocess.run(step, env=environment, stdout=subprocess.DEVNULL, check=False)
    if installed() is None:
        sys.stderr.write(
            "Chromium could not be fetched, so the tests in a browser are skipped: apt-get install chromium\n"
        )


if __name__ == "__main__":
    fetch()
