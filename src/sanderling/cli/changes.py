"""`sanderling changes`: what changed, newest first."""

import argparse
import json
import sys
import time
from collections.abc import Iterator
from itertools import islice

from sanderling.cli.folders import add_folder, reading
from sanderling.cli.screen import harmless
from sanderling.cli.versions import moment, said, when
from sanderling.model import ChangeKind, VersionRow

_ABOUT = """Lists what changed, newest first: pages that are new, that changed and that are gone.

What changes on most visits (a counter, an advertisement) and pages that go to and fro between versions are no news and
are left out; --all shows them too, and the changes that no reader sees.
"""


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "changes", help="what changed, newest first", description=_ABOUT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    add_folder(parser)
    parser.add_argument("--since", metavar="WHEN", help="only since then: 2026-11-01, '2026-11-01 12:00', 3h, 7d")
    parser.add_argument(
        "--kind", action="append", choices=[each.name.lower() for each in ChangeKind if each.name],
        help="only changes of this kind (repeatable)",
    )  # fmt: skip
    parser.add_argument("--min-significance", type=float, default=0.0, metavar="S", help="only from this on, 0 to 1")
    parser.add_argument("--limit", type=int, metavar="N", help="at most so many")
    parser.add_argument("--all", action="store_true", help="also what is no news")
    parser.add_argument("--json", action="store_true", help="print one JSON object a line")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    since = moment(options.since, time.time()) if options.since else 0.0
    wanted = ChangeKind(0)
    for name in options.kind or ():
        wanted |= ChangeKind[name.upper()]
    with reading(options.dir) as (_, store):
        found = selected(store.changes(), since, wanted, options.min_significance, options.all)
        for version in islice(found, options.limit):
            sys.stdout.write((as_json(version) if options.json else _line(version)) + "\n")
    return 0


def selected(
    newest_first: Iterator[VersionRow], since: float, kinds: ChangeKind, significance: float, everything: bool
) -> Iterator[VersionRow]:
    """The versions that are worth telling. Commits come in the order of time, give or take the length of a report."""
    slack = 600.0
    for version in newest_first:
        if version.at < since - slack:
            return
        if version.at < since or version.significance < significance or (kinds and not version.kinds & kinds):
            continue
        if everything or (version.news and version.kinds):
            yield version


def as_json(version: VersionRow) -> str:
    return json.dumps(
        {
            "url": version.url, "at": version.at, "kinds": version.kinds.names, "significance": version.significance,
            "degree": version.degree, "summary": version.summary, "news": version.news,
        },
        ensure_ascii=False,
    )  # fmt: skip


def _line(version: VersionRow) -> str:
    return f"{when(version.at)}  {said(version):24}  {harmless(version.url)}  {harmless(version.summary)}"
