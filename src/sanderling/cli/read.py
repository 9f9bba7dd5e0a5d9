"""`sanderling read`: one page of the web as Markdown, now."""

import argparse
import sys

from sanderling.library.now import read_now
from sanderling.library.options import CrawlOptions
from sanderling.library.page import Page
from sanderling.presenting.screen import harmless

_ABOUT = """Fetches one page now and prints its main content as Markdown. Nothing is stored.

robots.txt is respected, redirects are followed, and a page that needs JavaScript is rendered if there is a browser.

Examples:
  sanderling read https://example.org/
  sanderling read https://example.org/ --text
"""


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "read",
        description=_ABOUT,
    )  # fmt: skip
    parser.add_argument("url", help="the page")
    parser.add_argument("--text", action="store_true", help="print all visible text instead")
    parser.add_argument("--ignore-robots", action="store_true", help="also read what robots.txt disallows")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    def shown(page: Page) -> str:
        return page.text() if options.text else page.markdown()

    chosen: CrawlOptions = {"ignore_robots": options.ignore_robots}
    text = read_now(options.url, shown, chosen).strip()
    sys.stdout.write("".join(f"{harmless(line)}\n" for line in text.split("\n")))
    return 0
