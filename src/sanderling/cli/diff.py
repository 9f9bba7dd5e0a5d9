"""`sanderling diff`: what differs between two versions of a page."""

import argparse
import sys

from sanderling.change import Verdict
from sanderling.change.structure import LevelChange
from sanderling.cli.folders import add_page
from sanderling.cli.output import write_json
from sanderling.errors import UsageError
from sanderling.model import VersionRow
from sanderling.presenting.arguments import positive
from sanderling.presenting.diff import as_html, as_json, as_text
from sanderling.presenting.difference import difference
from sanderling.presenting.screen import colourful, harmless
from sanderling.presenting.versions import versions_of, when
from sanderling.repository.opening import reading

_ABOUT = """Shows what differs between versions A and B of a page, by default the last two. Versions are numbered from 1 as
`sanderling history` lists them.

The rules of the crawl and its learned noise apply, as in `sanderling changes`. --noise also shows what they leave out,
in grey.
"""


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "diff",
        description=_ABOUT,
    )  # fmt: skip
    add_page(parser)
    parser.add_argument("a", nargs="?", type=positive, help="the older version")
    parser.add_argument("b", nargs="?", type=positive, help="the newer version")
    parser.add_argument("--html", action="store_true", help="print an HTML page with both versions side by side")
    parser.add_argument("--kinds", action="store_true", help="print only the kinds of change, the place and the nodes")
    parser.add_argument("--json", action="store_true", help="print one JSON object; with --kinds without paragraphs")
    parser.add_argument("--noise", action="store_true", help="also show, in grey, changes that are not news")
    parser.add_argument(
        "--color", choices=["auto", "always", "never"], default="auto", help="use colours (default: auto)"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    with reading(options.dir) as (folder, store):
        versions = versions_of(store, options.url)
        if len(versions) == 1 and options.a is None:
            alone = f"there is only one version, of {when(versions[0].at)}: nothing to compare"
            if options.json:
                raise UsageError(alone)
            sys.stdout.write(f"{alone}\n")
            return 0
        older, newer = _chosen(versions, options.a, options.b)
        both = versions[older - 1], versions[newer - 1]
        found = difference(
            folder, store, both, versions[older - 1 : newer], places=not options.json, noise=options.noise
        )
    if options.json:
        write_json(as_json(versions[0].url, (older, newer), found, paragraphs=not options.kinds))
        return 0
    if options.kinds:
        sys.stdout.write(_kinds(found.verdict, found.summary))
        return 0
    titles = [f"version {n}, {when(versions[n - 1].at)}" for n in (older, newer)]
    if options.html:
        sys.stdout.write(as_html(versions[0].url, titles, found))
    else:
        colour = options.color == "always" or (options.color == "auto" and colourful(sys.stdout))
        sys.stdout.write(as_text(titles, found, colour))
    return 0


def _chosen(versions: list[VersionRow], a: int | None, b: int | None) -> tuple[int, int]:
    count = len(versions)
    newer = b or count
    older = a or max(1, newer - 1)
    for number in (older, newer):
        if not 1 <= number <= count:
            raise UsageError(f"there is no version {number}: this page has {count}")
    return older, newer


def _kinds(verdict: Verdict | None, summary: str) -> str:
    if verdict is None:
        return "not comparable: one of the versions has no text\n"
    lines = [
        ("kinds", ", ".join(verdict.kinds) or "none"),
        ("significance", f"{verdict.significance:.3f}"),
        ("degree", str(verdict.degree)),
        ("place", verdict.place),
        ("levels", ", ".join(map(_level, verdict.levels))),
        ("inserted", ", ".join(verdict.inserted)),
        ("deleted", ", ".join(verdict.deleted)),
        ("summary", summary),
    ]
    return "".join(f"{name:14}{harmless(value)}\n" for name, value in lines if value)


def _level(change: LevelChange) -> str:
    counts = [f"{n:,} {what}" for n, what in ((change.inserted, "inserted"), (change.deleted, "deleted")) if n]
    return f"{change.level} ({', '.join(counts)})"
