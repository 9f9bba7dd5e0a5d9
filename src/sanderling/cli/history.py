"""`sanderling history`: the versions of one page."""

import argparse
import json
import sys

from sanderling.cli.folders import add_page
from sanderling.cli.output import write_json
from sanderling.model import VersionRow
from sanderling.presenting.screen import harmless, size
from sanderling.presenting.versions import kinds_in_words, versions_of, when
from sanderling.repository.opening import reading
from sanderling.telling.selection import told


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser("history", description="Lists the versions of a page, oldest first.")
    add_page(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object per line")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    with reading(options.dir) as (_, store):
        versions = versions_of(store, options.url)
    for number, version in enumerate(versions, 1):
        if options.json:
            row = {
                "version": number, "at": version.at, "status": version.status, "kinds": version.kinds.names,
                "significance": version.significance, "degree": version.degree, "summary": version.summary,
                "excerpt": version.excerpt,
                "news": version.news, "digest": version.digest, "size": version.size, "mime": version.mime,
                "extracted": version.extracted,
            }  # fmt: skip
            write_json(json.dumps(row, ensure_ascii=False))
        else:
            line = f"{number:3}  {when(version.at)}  {version.status}  {size(version.size):>10}  {_told(version)}"
            sys.stdout.write(f"{line}{'' if version.news else '  (no news)'}\n")
    return 0


def _told(version: VersionRow) -> str:
    """The kinds of a change and what it was, which for some is the same."""
    kinds, summary = kinds_in_words(version), harmless(told(version))
    if summary.startswith(kinds):
        return summary
    return f"{kinds}: {summary}" if version.kinds else summary
