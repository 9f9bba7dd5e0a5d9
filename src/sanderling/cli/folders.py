"""What the reading commands share: the folder argument and opening it."""

import argparse
import time

from sanderling.presenting.arguments import pathname
from sanderling.presenting.screen import say
from sanderling.repository.store import WhileAway

# How often a database that went away is looked for.
AWAY_PAUSE = 0.5


def add_folder(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("dir", type=pathname, help="the crawl folder")


def add_page(parser: argparse.ArgumentParser) -> None:
    add_folder(parser)
    parser.add_argument("url", help="the page")


def waiting() -> WhileAway:
    """For a command that goes on until it is stopped: it waits for a database that went away, and
    says so."""
    since: list[float] = []

    def wait(reason: str) -> None:
        if not reason:
            say(f"the database is back after {time.monotonic() - since.pop():.1f} s")
            return
        if not since:
            since.append(time.monotonic())
            say(f"the database went away ({reason}); waiting for it")
        time.sleep(AWAY_PAUSE)

    return wait
