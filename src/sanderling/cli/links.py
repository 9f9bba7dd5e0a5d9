"""`sanderling links`: the link index, asked about one URL."""

import argparse
import sys

import msgspec

from sanderling.cli.folders import add_folder
from sanderling.cli.output import write_json
from sanderling.model import State
from sanderling.presenting.screen import harmless
from sanderling.presenting.versions import page_named
from sanderling.repository.opening import reading
from sanderling.urls import identity

_ABOUT = """Lists the pages that link to a URL, or the URLs that a page links to.

Each is listed with its state: fetched, queued, excluded (known, not followed) and so on. A link to another name of a URL
counts as a link to it. --in reads all links once, which takes seconds for a million pages.
"""


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "links", description=_ABOUT,
    )  # fmt: skip
    add_folder(parser)
    parser.add_argument("url", help="a URL that the crawl knows")
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--in", dest="incoming", action="store_true", help="list the pages that link to it")
    which.add_argument(
        "--out", dest="outgoing", action="store_true", help="list the URLs that it links to, in their order on the page"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object per line: url, state")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    with reading(options.dir) as (_, store):
        id = identity(page_named(store, options.url))
        ids = store.linking(id) if options.incoming else list(memoryview(store.links_of(id)).cast("q"))
        found = store.known(ids)
    rows = [(found[each][0], State(found[each][1]).name.lower()) for each in ids if each in found]
    for url, state in sorted(rows) if options.incoming else rows:
        if options.json:
            write_json(msgspec.json.encode({"url": url, "state": state}))
        else:
            sys.stdout.write(f"{state:9} {harmless(url)}\n")
    return 0
