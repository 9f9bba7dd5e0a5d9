"""`sanderling changes`: what changed, newest first, or as it is found."""

import argparse
import json
import sys
from collections.abc import Iterator
from itertools import islice
from typing import Protocol

import msgspec

from sanderling.cli.folders import add_folder, waiting
from sanderling.cli.selecting import add_filters, wanted
from sanderling.model import VersionRow
from sanderling.presenting.arguments import count
from sanderling.presenting.screen import harmless, harmless_json, many, say
from sanderling.presenting.versions import kinds_in_words, when
from sanderling.repository.opening import reading
from sanderling.repository.store import ChangeStore, Notes, Totals
from sanderling.telling.baseline import baseline
from sanderling.telling.selection import ChangeFilter, as_table
from sanderling.telling.stored import following

_ABOUT = """Lists pages that are new, changed or gone, newest first.

The pages that the first crawl found are the baseline. They are not listed; --baseline lists them too.

Three kinds of changes are left out: parts that change on most visits (a counter, an advertisement), pages that switch
back and forth between versions, and changes that no reader sees. --all shows them too.

With --follow the command runs until Ctrl-C. It prints the changes that a crawl in another process finds when they are
committed, oldest first. --since also prints earlier changes. If the database is not available, the command waits.
"""

# So many lines are aligned before the first of them is shown.
_ALIGNED = 1000


class BaselineStore(ChangeStore, Notes, Totals, Protocol):
    """Changes, and which of them are the baseline."""


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "changes", description=_ABOUT,
    )  # fmt: skip
    add_folder(parser)
    add_filters(parser, login=True)
    parser.add_argument("--limit", type=count, metavar="N", help="maximum number of changes")
    parser.add_argument(
        "--follow", action="store_true", help="print the changes that a running crawl finds, until Ctrl-C"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object per line")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    with reading(options.dir, waiting() if options.follow else None) as (_, store):
        chosen = wanted(options, store)
        if chosen.after and not options.json:
            _say_baseline(store)
        found = _as_they_come(store, chosen) if options.follow else chosen.of(store.changes())
        found = islice(found, options.limit)
        for line in map(_in_json, found) if options.json else _in_columns(found, 1 if options.follow else _ALIGNED):
            sys.stdout.write(line + "\n")
            if options.follow:
                sys.stdout.flush()
    return 0


def _say_baseline(store: BaselineStore) -> None:
    found = baseline(store)
    pages = store.counts().pages if found.open else found.pages
    if pages:
        say(
            f"{many(pages, 'page')} of the first crawl {'are' if pages != 1 else 'is'} the baseline; --baseline lists them"
        )


def _as_they_come(store: BaselineStore, chosen: ChangeFilter) -> Iterator[VersionRow]:
    """What is wanted of the past, the oldest first, and then what is new."""
    newest = store.newest_version()
    if chosen.since:
        yield from reversed(list(chosen.of(store.changes(newest + 1))))
    for version in following(store, newest):
        if version.number <= chosen.after:  # the first crawl may have ended since
            chosen = msgspec.structs.replace(chosen, after=baseline(store).number)
        if chosen.takes(version):
            yield version


def _in_json(version: VersionRow) -> str:
    return harmless_json(json.dumps(as_table(version), ensure_ascii=False))


def _in_columns(found: Iterator[VersionRow], at_once: int) -> Iterator[str]:
    """The column of kinds is as wide as it has to be: four of them take half of a line, and few
    changes are of so many."""
    width = 0
    while part := list(islice(found, at_once)):
        width = max(width, *(len(kinds_in_words(version)) for version in part))
        for version in part:
            yield f"{when(version.at)}  {kinds_in_words(version):{width}}  {harmless(version.url)}  {harmless(version.summary)}"
