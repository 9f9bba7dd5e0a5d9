"""Pictures of a rendered page in the dashboard: its states, and what differs between two of its
screenshots."""

import subprocess
import tempfile
from pathlib import Path

from playwright.sync_api import Page

from sanderling.urls import identity
from tests.browser.chromium import look
from tests.conftest import FAST, command
from tests.rendering.stateful import stateful
from tests.servers import PageServer
from tests.web.served import running

STYLE = b"""<style>body { font: 20px sans-serif; margin: 40px; max-width: 900px; background: #f4f8fb; color: #1d3557 }
h1 { font-size: 44px } .tab { margin-right: 16px; color: #1a66a8 } #panel { background: #fff; padding: 8px 20px }</style></head>"""


def shoot(page: Page, pictures: Path) -> None:
    table = stateful(entries=3, total=15)
    table["/"] = bytes(table["/"]).replace(b"</head>", STYLE)  # type: ignore[arg-type]
    with tempfile.TemporaryDirectory() as home, PageServer(table) as site:
        folder = Path(home, "shorebirds")
        flags = (*FAST, "--render", "always", "--states", 8, "--screenshots", "--clients", 1)
        subprocess.run(command("crawl", site.origin + "/", "-d", folder, *flags), check=True)
        site.table["/"] = bytes(table["/"]).replace(
            b"Content is behind events here.", b"Seen today: two hundred birds."
        )  # type: ignore[arg-type]
        subprocess.run(command("crawl", "-d", folder, "--again", *flags), check=True)
        with running(home) as server:
            look(page)
            at = f"{server.url}/crawls/shorebirds/pages/{identity(site.origin + '/') & (1 << 64) - 1:016x}"
            for name, address in (("states", at), ("visual-diff", f"{at}/diff")):
                page.goto(address)
                if name == "visual-diff":
                    page.locator("figure img").last.scroll_into_view_if_needed()
                else:
                    page.locator("#states").wait_for()
                page.wait_for_load_state("networkidle")
                page.screenshot(path=pictures / f"dashboard-{name}.png")
