"""`sanderling check`: whether a crawl folder is sound, and what can be done where it is not."""

import argparse
import json
import sys
from collections.abc import Iterator

import msgspec

from sanderling.cli.folders import add_folder
from sanderling.errors import BadIndex
from sanderling.presenting.screen import NowAndThen, harmless, harmless_json, say
from sanderling.repository import checking, lost
from sanderling.repository.checking import Finding
from sanderling.repository.folder import Folder, hold
from sanderling.repository.opening import open_store, reading
from sanderling.repository.store import Store

_ABOUT = """Checks a crawl folder and says what is wrong and what can be done.

By default it compares the sizes of the archives with what the database says, which takes no time.
With --deep it reads every record of every archive and compares digests, places, links, totals and
the search index with the database.

With --repair, pages whose copy is damaged or missing are fetched whole at their next visit (with
`sanderling crawl --again` or `sanderling refresh`). Nothing is deleted.

The exit code is 0 if nothing is damaged, else 1. Archived bytes that were set aside are named, and are
no damage: their pages were fetched again.
"""


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser("check", description=_ABOUT)
    add_folder(parser)
    parser.add_argument("--deep", action="store_true", help="read every record, digest, link and index entry")
    parser.add_argument("--repair", action="store_true", help="have damaged pages fetched again at their next visit")
    parser.add_argument("--json", action="store_true", help="print one JSON object for each finding")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    with reading(options.dir) as (folder, store):
        findings = list(_findings(folder, store, options.deep))
    for each in findings:
        sys.stdout.write(_line(each, options.json))
    if options.repair and any(each.lost for each in findings):
        _repair(Folder(options.dir), findings)
    if not options.json:
        sys.stdout.write(_summary(findings, options.deep))
    return 0 if all(each.what == checking.SET_ASIDE for each in findings) else 1


def _findings(folder: Folder, store: Store, deep: bool) -> Iterator[Finding]:
    yield from checking.look(folder, store)
    if deep:
        progress = NowAndThen()
        yield from checking.read_everything(
            folder, store, lambda done, whole: progress.say(f"checked {done:,} of {whole:,}")
        )
        yield from _index(folder, store)


def _index(folder: Folder, store: Store) -> Iterator[Finding]:
    from sanderling.search.indexing import entries  # late: the index takes a moment to load

    try:
        indexed, expected = entries(folder, store)
    except BadIndex as error:
        yield Finding("index", str(folder.index), str(error))
        return
    if indexed > expected:
        detail = f"the search index has {indexed:,} versions up to the one it ends with, the database {expected:,}"
        yield Finding("index", str(folder.index), detail, f"`sanderling reindex {folder.path}` makes a new one")


def _repair(folder: Folder, findings: list[Finding]) -> None:
    with hold(folder):
        store = open_store(folder, readonly=False)
        try:
            pages = lost.give_up(store, [each.lost for each in findings if each.lost is not None])
        finally:
            store.close()
    say(f"{pages:,} page{'s' * (pages != 1)} will be fetched whole at the next visit")


def _line(finding: Finding, as_json: bool) -> str:
    if as_json:
        return harmless_json(json.dumps(msgspec.to_builtins(finding))) + "\n"
    remedy = f" ({finding.remedy})" if finding.remedy else ""
    return f"{finding.what:9} {harmless(finding.detail)}{harmless(remedy)}\n"


def _summary(findings: list[Finding], deep: bool) -> str:
    if findings:
        return f"{len(findings):,} finding{'s' * (len(findings) != 1)}\n"
    return "sound: every record, digest, link and total is right\n" if deep else "sound: all archives are there\n"
