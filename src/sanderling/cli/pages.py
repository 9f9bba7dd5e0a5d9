"""`sanderling pages`: the visited URLs and what is known about each."""

import argparse
import sys
import time
from itertools import chain, islice

import msgspec

from sanderling.cli.duplicates import named_groups
from sanderling.cli.folders import add_folder
from sanderling.cli.output import write_json
from sanderling.errors import UsageError
from sanderling.model import State
from sanderling.presenting.arguments import count
from sanderling.presenting.screen import harmless, size
from sanderling.repository.opening import reading
from sanderling.urls import document_of, is_state


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "pages",
        description="Lists every URL that answered or failed, in no particular order.",
    )
    add_folder(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object per line")
    parser.add_argument("--limit", type=count, metavar="N", help="maximum number of URLs")
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--state", choices=["fetched", "failed", "gone", "queued", "excluded"], help="only URLs in this state"
    )
    which.add_argument("--held", action="store_true", help="list the URLs that are held back, with the reason")
    parser.add_argument(
        "--states", action="store_true", help="also list the states behind the events of rendered pages"
    )
    parser.add_argument(
        "--near", action="store_true", help="with --json: for each page, name another page with nearly the same text"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    if options.near and not options.json:
        raise UsageError("--near works only with --json; `sanderling duplicates` lists near-duplicates")
    encode = msgspec.json.Encoder().encode
    with reading(options.dir) as (_, store):
        near = {url: group[0] for group in named_groups(store) for url in group[1:]} if options.near else {}
        answered = () if options.held else store.pages()
        state = State.KNOWN if options.held else State[(options.state or "failed").upper()]
        listed = chain(answered, store.unanswered(state))
        chosen = (page for page in listed if not options.state or page.state == options.state)
        if not options.states:
            chosen = (page for page in chosen if not is_state(page.url))
        for page in islice(chosen, options.limit):
            if options.json:
                if is_state(page.url):
                    page = msgspec.structs.replace(page, state_of=document_of(page.url))
                if page.url in near:
                    page = msgspec.structs.replace(page, near=near[page.url])
                write_json(encode(page))
            else:
                when = time.strftime("%Y-%m-%d %H:%M", time.localtime(page.fetched_at)) if page.status else " " * 16
                note = harmless((page.redirect and f"-> {page.redirect}") or page.title or page.reason)
                sys.stdout.write(
                    f"{page.status or '---'}  {when}  {size(page.size):>10}  {harmless(page.url)}  {note}\n"
                )
    return 0
