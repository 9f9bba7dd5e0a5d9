"""`sanderling digest`: what happened on each site, short enough for a mail."""

import argparse
import json
import sys

from sanderling.cli.folders import add_folder
from sanderling.cli.output import write_json
from sanderling.cli.selecting import add_filters, wanted
from sanderling.presenting.arguments import count
from sanderling.presenting.screen import harmless
from sanderling.presenting.versions import when
from sanderling.repository.opening import reading
from sanderling.telling.digest import MOST_PAGES, as_markdown, as_tables, as_text, digest


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "digest",
        description="Summarises the pages that changed, appeared and disappeared on each site, the most significant first.",
    )  # fmt: skip
    add_folder(parser)
    add_filters(parser, since="7d")
    parser.add_argument(
        "--most",
        type=count,
        metavar="N",
        default=MOST_PAGES,
        help=f"maximum pages per group and site (default: {MOST_PAGES})",
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print one JSON object, with every page")
    form.add_argument("--markdown", action="store_true", help="print Markdown")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    with reading(options.dir) as (_, store):
        chosen = wanted(options, store)
        sites = digest(chosen.of(store.changes()))
    if options.json:
        write_json(json.dumps({"since": chosen.since, "sites": as_tables(sites)}, ensure_ascii=False))
        return 0
    lines = [f"{'# ' if options.markdown else ''}Changes since {when(chosen.since)}", ""]
    lines += as_markdown(sites, options.most) if options.markdown else as_text(sites, options.most)
    if not sites:
        lines.append("Nothing.")
    sys.stdout.write("\n".join(map(harmless, lines)).rstrip() + "\n")
    return 0
