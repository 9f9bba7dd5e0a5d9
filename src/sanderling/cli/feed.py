"""`sanderling feed`: what changed, as an Atom feed."""

import argparse
import sys
from pathlib import Path

from sanderling.cli.folders import add_folder, reading
from sanderling.cli.screen import count
from sanderling.cli.selecting import add_filters, wanted
from sanderling.errors import UsageError
from sanderling.telling.atom import MOST_ENTRIES
from sanderling.wiring.telling import feed

_ABOUT = """Writes what changed as an Atom feed (RFC 4287) that every feed reader takes: one entry a change, newest first.

With -o the file is replaced in one step, so that a web server may serve it at any moment. With --host it is the feed
of one site.
"""


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "feed", help="what changed, as an Atom feed", description=_ABOUT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    add_folder(parser)
    add_filters(parser)
    parser.add_argument(
        "--limit", type=count, metavar="N", default=MOST_ENTRIES, help=f"at most so many (default: {MOST_ENTRIES})"
    )
    parser.add_argument("--address", metavar="URL", help="where readers will fetch the feed")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="where to (default: standard output)")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    with reading(options.dir) as (_, store):
        made = feed(store, wanted(options), options.limit, options.address)
    if options.output is None:
        sys.stdout.buffer.write(made)
        return 0
    if options.output.is_dir():
        raise UsageError(f"{options.output} is a folder, not a file")
    part = options.output.with_name(options.output.name + ".part")
    part.write_bytes(made)
    part.replace(options.output)
    return 0
