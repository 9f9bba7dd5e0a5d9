"""`sanderling changes`: what changed, newest first, or as it is found."""

import argparse
import json
import sys
from collections.abc import Iterator
from itertools import islice
from typing import Protocol

import msgspec

from sanderling.change.verdict import Degree
from sanderling.cli.folders import add_folder, waiting
from sanderling.cli.selecting import add_filters, wanted
from sanderling.errors import UsageError
from sanderling.model import VersionRow
from sanderling.presenting.arguments import count
from sanderling.presenting.screen import harmless, harmless_json, many, say
from sanderling.presenting.versions import kinds_in_words, when
from sanderling.repository.opening import reading
from sanderling.repository.store import ChangeStore, Notes, PageStore, Totals
from sanderling.telling.baseline import baseline
from sanderling.telling.edits import TOGETHER, Edit, edits
from sanderling.telling.selection import ChangeFilter, as_table, told
from sanderling.telling.shares import add_unchanged, all_hosts, shares_by_host
from sanderling.telling.stored import following

_ABOUT = """Lists pages that are new, changed or gone, newest first.

The pages that the first crawl found are the baseline. They are not listed; --baseline lists them too.

Three kinds of changes are left out: parts that change on most visits (a counter, an advertisement), pages that switch
back and forth between versions, and changes that no reader sees. --all shows them too.

The same change on many pages, such as a new entry of a menu, is listed once. --each lists every
page, and so does --json, where `edit` is the same for these pages.

--summary counts instead: for each host the shares of the six degrees of change (no change, no text change, small,
medium, large, complete) among the visits to known pages, the kinds, and the pages that are new or gone. Visits without
a change have no date, so --since leaves them out.

With --follow the command runs until Ctrl-C. It prints the changes that a crawl in another process finds when they are
committed, oldest first. --since also prints earlier changes. If the database is not available, the command waits.
"""

# This many lines are aligned before the first of them is shown.
_ALIGNED = 1000
# Further pages of an edit that are named.
_MOST_PAGES = 3


class BaselineStore(ChangeStore, Notes, Totals, Protocol):
    """Changes, and which of them are the baseline."""


class CountingStore(BaselineStore, PageStore, Protocol):
    """Changes, and how often each page was visited."""


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "changes", description=_ABOUT,
    )  # fmt: skip
    add_folder(parser)
    add_filters(parser, login=True)
    parser.add_argument("--each", action="store_true", help="list every page of a change that many pages have")
    parser.add_argument("--summary", action="store_true", help="count changes by host, degree and kind instead")
    parser.add_argument("--limit", type=count, metavar="N", help="maximum number of changes")
    parser.add_argument(
        "--follow", action="store_true", help="print the changes that a running crawl finds, until Ctrl-C"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object per line")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    if options.summary and options.follow:
        raise UsageError("--summary counts what there is, so it does not go with --follow")
    with reading(options.dir, waiting() if options.follow else None) as (_, store):
        chosen = wanted(options, store)
        if options.summary:
            for line in _summary(store, chosen, options.json):
                sys.stdout.write(line + "\n")
            return 0
        if chosen.after and not options.json:
            _say_baseline(store)
        found = _as_they_come(store, chosen) if options.follow else chosen.of(store.changes())
        together = 1 if options.each or options.follow else TOGETHER
        lines = (
            map(_in_json, islice(found, options.limit))
            if options.json
            else _in_columns(islice(edits(found, together), options.limit), 1 if options.follow else _ALIGNED)
        )
        for line in lines:
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


def _summary(store: CountingStore, chosen: ChangeFilter, as_json: bool) -> Iterator[str]:
    hosts = shares_by_host(chosen.of(store.changes()))
    dated = bool(chosen.since)
    if not dated:
        add_unchanged(hosts, store.pages(), others=not chosen.hosts)
    busiest = sorted(hosts.values(), key=lambda each: (-each.degrees.total() - each.new - each.gone, each.host))
    if as_json:
        yield from (json.dumps(msgspec.to_builtins(each), ensure_ascii=False) for each in busiest)
        return
    degrees = [each for each in Degree if each != Degree.NONE or not dated]
    rows = [*busiest, all_hosts(busiest)] if len(busiest) != 1 else busiest
    wide = max(len(each.host) for each in rows)
    yield f"{'':{wide}}  visits  " + "  ".join(degrees) + "  new  gone  kinds"
    for each in rows:
        total = each.degrees.total()
        shares = "  ".join(f"{each.degrees[name] / (total or 1):{len(name)}.1%}" for name in degrees)
        kinds = ", ".join(f"{name} {times}" for name, times in each.kinds.most_common()) or "-"
        yield f"{harmless(each.host):{wide}}  {total:6,}  {shares}  {each.new:3,}  {each.gone:4,}  {kinds}"


def _in_json(version: VersionRow) -> str:
    return harmless_json(json.dumps(as_table(version), ensure_ascii=False))


def _in_columns(found: Iterator[Edit], at_once: int) -> Iterator[str]:
    """The column of kinds is as wide as it has to be: four of them take half of a line, and few
    changes are of so many."""
    width = 0
    while part := list(islice(found, at_once)):
        width = max(width, *(len(kinds_in_words(edit.shown)) for edit in part))
        for edit in part:
            version = edit.shown
            yield f"{when(edit.at)}  {kinds_in_words(version):{width}}  {harmless(version.url)}  {harmless(told(version))}"
            if edit.others:
                listed = " ".join(harmless(each.url) for each in edit.others[:_MOST_PAGES])
                yield f"  the same on {many(len(edit.others), 'more page')}: {listed}" + " …" * (
                    len(edit.others) > _MOST_PAGES
                )
