"""`sanderling blame`: when each paragraph of a page first appeared and was last edited."""

import argparse
import json
import sys
import time

from sanderling.change.comparison import blame
from sanderling.cli.folders import add_page
from sanderling.cli.output import write_json
from sanderling.model import ChangeKind
from sanderling.presenting.screen import harmless
from sanderling.presenting.versions import paragraphs_of, versions_of
from sanderling.repository.opening import reading


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "blame",
        description="Shows for every paragraph of a page when it first appeared and when it was last edited.",
    )  # fmt: skip
    add_page(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object per line")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    with reading(options.dir) as (folder, store):
        versions = [each for each in versions_of(store, options.url) if not each.kinds & ChangeKind.GONE]
        texts = [paragraphs_of(folder, version) for version in versions]
    for paragraph, origin in zip(texts[-1] if texts else [], blame(texts), strict=True):
        first, edited = versions[origin.first].at, versions[origin.edited].at
        if options.json:
            row = {"first_seen": first, "last_edited": edited, "text": paragraph}
            write_json(json.dumps(row, ensure_ascii=False))
        else:
            sys.stdout.write(f"{_day(first)}  {_day(edited)}  {harmless(paragraph)}\n")
    return 0


def _day(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(at))
