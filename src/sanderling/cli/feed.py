"""`sanderling feed`: what changed, as an Atom feed."""

import argparse
from pathlib import Path

from sanderling.cli.folders import add_folder
from sanderling.cli.output import written
from sanderling.cli.selecting import add_filters, wanted
from sanderling.errors import UsageError
from sanderling.presenting.arguments import count, pathname
from sanderling.repository.opening import reading
from sanderling.telling.atom import MOST_ENTRIES
from sanderling.telling.stored import feed
from sanderling.urls import as_written

_ABOUT = """Writes the changes as an Atom feed (RFC 4287) for any feed reader: one entry per edit, newest first.
The same change on many pages is one entry.

With -o the file is replaced in one step, so a web server can serve it at any time. With --host it is the feed of one
site.
"""


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "feed", description=_ABOUT,
    )  # fmt: skip
    add_folder(parser)
    add_filters(parser)
    parser.add_argument(
        "--limit",
        type=count,
        metavar="N",
        default=MOST_ENTRIES,
        help=f"maximum number of entries (default: {MOST_ENTRIES})",
    )
    parser.add_argument("--address", metavar="URL", help="the URL from which readers will fetch the feed")
    parser.add_argument(
        "-o",
        "--output",
        type=pathname,
        default=Path("-"),
        metavar="FILE",
        help="the file to write (default: -, standard output)",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    if options.address is not None and not as_written(options.address):
        raise UsageError(f"--address {options.address!r} is not an http:// or https:// address")
    with reading(options.dir) as (folder, store):
        made = feed(store, wanted(options, store), options.limit, options.address)
    with written(options.output, folder) as file:
        file.write(made)
    return 0
