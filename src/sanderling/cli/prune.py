"""`sanderling prune`: removes versions that are not kept."""

import argparse
import json
import sys
from collections import Counter

from sanderling.cli.folders import add_folder
from sanderling.cli.output import write_json
from sanderling.errors import BadIndex, UsageError
from sanderling.presenting.screen import NowAndThen, harmless, many, say, size
from sanderling.repository import archives, pruning
from sanderling.repository.folder import Folder, hold
from sanderling.repository.opening import open_store, reading
from sanderling.repository.pruning import PruningChoice
from sanderling.retention import EXPECTED
from sanderling.server import retention
from sanderling.server.retention import ToldUntil
from sanderling.settings import load

_ABOUT = """Removes versions that are not kept from the archives, the database and the search index.

How long versions are kept is the setting `keep` of the folder, and of each watch (`sanderling watch
edit URL --keep thin`):

  all             every version (the default)
  30d, 12h        what a page has been within that time
  '100 versions'  so many of each page
  thin            all of a week, then one a day for three months, one a week
                  for two years, and one in four weeks

The last version of a page stays, and so does what somebody is still to be told of, and what other
pages in the archives refer to. Archives that were linked or are damaged stay as they are.

Runs do the same once a day, for archives of which at least a quarter can go. You can kill this
command at any time: nothing is lost, and the next run goes on.

Examples:
  sanderling prune example --keep thin --dry-run
  sanderling prune example
"""
_MOST_SHOWN = 20


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser("prune", description=_ABOUT)
    add_folder(parser)
    parser.add_argument("--keep", metavar="HOW", help=f"{EXPECTED} (default: the setting of the folder)")
    parser.add_argument("--dry-run", action="store_true", help="say what would be removed, and remove nothing")
    parser.add_argument("--json", action="store_true", help="print one JSON object for each page")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    folder = Folder(options.dir)
    folder.require()
    settings = load(folder.settings)[0]
    if not options.keep and retention.keeps_everything(settings):
        raise UsageError(
            f"{options.dir} keeps every version: give --keep, such as --keep thin, or set keep in {folder.settings}"
        )
    if options.dry_run:
        with reading(options.dir) as (_, store):
            _show(*retention.choose(folder, store, settings, options.keep or ""), "would be removed", options.json)
        return 0
    with hold(folder):
        store = open_store(folder, readonly=False)
        try:
            pruning.settle(folder, store)
            for line in (*store.messages, *archives.set_aside(folder.warcs, store.warcs())):
                say(line)
            retention.drop_what_is_forgotten(folder, store)
            choice, told = retention.choose(folder, store, settings, options.keep or "")
            progress = NowAndThen()
            freed = pruning.prune(
                folder, store, choice, lambda done, all: progress.say(f"removed {done:,} of {all:,} versions")
            )
            _show(choice, told, "removed", options.json)
            if freed.versions:
                store.compact()
                say(f"the archives are {size(freed.bytes)} smaller")
        finally:
            store.close()
    _catch_up(folder)
    return 0


def _catch_up(folder: Folder) -> None:
    """Has the index forget what was removed."""
    from sanderling.search import indexing, location  # late: the index takes a moment to load

    try:
        if folder.index.is_dir() and location.current(folder.index) is not None:
            with reading(folder.path) as (_, store):
                indexing.catch_up(folder, store)
    except BadIndex as error:
        say(f"the search index will follow later: {error}")


def _show(choice: PruningChoice, told: ToldUntil, what: str, as_json: bool) -> None:
    pages = Counter(row.url for row in choice.versions)
    for url, count in pages.most_common(None if as_json else _MOST_SHOWN):
        if as_json:
            write_json(json.dumps({"url": url, "versions": count}))
        else:
            sys.stdout.write(f"{count:8,}  {harmless(url)}\n")
    if as_json:
        return
    more = f", {len(pages) - _MOST_SHOWN:,} of them not shown" if len(pages) > _MOST_SHOWN else ""
    sys.stdout.write(f"{many(len(choice.versions), 'version')} of {many(len(pages), 'page')} {what}{more}\n")
    if choice.untold:
        sys.stdout.write(f"{many(choice.untold, 'version')} stay until {', '.join(told.waiting)} was told\n")
    if choice.based_on:
        sys.stdout.write(f"{many(choice.based_on, 'version')} stay: later visits in the archives refer to them\n")
    for name, reason in sorted(choice.stuck.items()):
        sys.stdout.write(f"{name} stays as it is: {reason}\n")
