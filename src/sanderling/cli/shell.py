"""`sanderling shell`: a Python prompt with one page of the web."""

import argparse
import code
import sys
from typing import Any

from sanderling.library.now import read_now
from sanderling.library.options import CrawlOptions
from sanderling.library.page import Page
from sanderling.presenting.screen import harmless

_ABOUT = """Fetches one page and starts Python with it, to try selectors before you write an extractor.

  page                 the page: page.text(), page.main, page.markdown(),
                       page.links, page.metadata, page.headers
  css('h1')            the elements that a CSS selector matches
  xpath('//h1/text()') what an XPath expression selects
  fetch(URL)           fetches another page, for page, css and xpath

Example:
  sanderling shell https://example.org/
"""


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "shell",
        description=_ABOUT,
    )  # fmt: skip
    parser.add_argument("url", help="the page")
    parser.add_argument("--ignore-robots", action="store_true", help="also read what robots.txt disallows")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    chosen: CrawlOptions = {"ignore_robots": options.ignore_robots}
    names: dict[str, Any] = {}

    def fetch(url: str) -> Page:
        def kept(page: Page) -> Page:
            page.body()  # stays in memory when the folder goes
            return page

        page = names["page"] = read_now(url, kept, chosen)
        tree = names["tree"] = page.tree
        names["css"] = tree.select if tree is not None else None
        names["xpath"] = tree.xpath if tree is not None else None
        return page

    names["fetch"] = fetch
    page = fetch(options.url)
    banner = f"{harmless(page.url)}: {page.status}, {harmless(page.title)!r}; page, css(...), xpath(...), fetch(URL)"
    code.interact(banner, local=names, exitmsg="" if sys.stdin.isatty() else None)
    return 0
