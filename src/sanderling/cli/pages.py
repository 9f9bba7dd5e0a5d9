"""`sanderling pages`: the visited URLs and what is known about each."""

import argparse
import sys
import time
from itertools import chain

import msgspec

from sanderling.cli.folders import add_folder, reading
from sanderling.cli.screen import harmless, size
from sanderling.model import State


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "pages",
        help="list visited URLs",
        description="Lists every URL that answered or failed, in no particular order.",
    )
    add_folder(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object a line")
    parser.add_argument(
        "--state", choices=["fetched", "failed", "gone", "queued", "excluded"], help="only URLs in this state"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    encode = msgspec.json.Encoder().encode
    with reading(options.dir) as (_, store):
        for page in chain(store.pages(), store.unanswered(State[(options.state or "failed").upper()])):
            if options.state and page.state != options.state:
                continue
            if options.json:
                sys.stdout.write(encode(page).decode() + "\n")
            else:
                when = time.strftime("%Y-%m-%d %H:%M", time.localtime(page.fetched_at)) if page.status else " " * 16
                note = harmless((page.redirect and f"-> {page.redirect}") or page.title or page.reason)
                sys.stdout.write(
                    f"{page.status or '---'}  {when}  {size(page.size):>10}  {harmless(page.url)}  {note}\n"
                )
    return 0
