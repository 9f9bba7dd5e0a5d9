"""`sanderling broken`: the links that lead nowhere, and the pages they stand on."""

import argparse
import contextlib
import csv
import json
import sys
import time
from pathlib import Path

import msgspec

from sanderling.cli.folders import add_folder
from sanderling.cli.output import write_json
from sanderling.cli.selecting import add_with_login
from sanderling.errors import UsageError
from sanderling.files import write_whole
from sanderling.presenting.arguments import count
from sanderling.presenting.broken import BrokenLink, broken_links
from sanderling.presenting.screen import harmless, many, say
from sanderling.repository.export import LeftOut
from sanderling.repository.opening import reading, settings_for

_ABOUT = """Lists the links of a crawl that lead nowhere, those that most pages have first.

Each comes with its status or the reason, and with the pages that link to it and
the words of the link. Also listed are links to a part of a page that is not
there (#part), and links that have moved for good. The crawl itself knows how
its own pages answered: without --external nothing is fetched.

The exit code is 1 if a link is broken; moved ones do not count.

Examples:
  sanderling broken example
  sanderling broken example --external   ask the links that lead elsewhere, too
  sanderling broken example --new        only what broke since the last --new
  sanderling broken example --csv > broken.csv
"""
MEMORY = "sanderling.broken"
# When each was first seen, for feeds and lists.
SEEN = "sanderling.broken-since"
_KINDS = {"broken": "broken", "fragment": "to a part that is not there", "redirect": "moved for good"}
_SHOWN = 5
_SAY_EVERY = 5.0


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser("broken", description=_ABOUT)
    add_folder(parser)
    parser.add_argument(
        "--external",
        action="store_true",
        help="also ask, once each, links that lead out of scope, and images, scripts and style sheets",
    )
    parser.add_argument("--new", action="store_true", help="only what is broken since the last look with --new")
    parser.add_argument("--no-redirects", action="store_true", help="leave out links that have moved")
    parser.add_argument("--limit", type=count, metavar="N", help="maximum number of targets")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--json", action="store_true", help="print one JSON object per line, a line for each target")
    how.add_argument("--csv", action="store_true", help="print a table, a row for each link")
    add_with_login(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    left_out = LeftOut()
    with reading(options.dir) as (folder, store):
        settings, _ = settings_for(folder, {})
        found = broken_links(
            folder, store, settings, external=options.external, with_login=options.with_login, left_out=left_out,
            progress=_Progress(),
        )  # fmt: skip
    if options.no_redirects:
        found = [each for each in found if each.kind != "redirect"]
    found = _dated(found, folder.path / SEEN, options.external)
    if options.new:
        found = _since_last(found, folder.path / MEMORY)
    shown = found[: options.limit] if options.limit else found
    if options.csv:
        _write_table(shown)
    elif options.json:
        for each in shown:
            write_json(msgspec.json.encode(each))
    else:
        _write(shown, found, options.new)
    if left_out.count:
        say(f"left out {many(left_out.count, 'page')} that cannot be read, the first: {harmless(left_out.first)}")
    return int(any(each.kind != "redirect" for each in found))


class _Progress:
    """Says now and then how far it is, if it takes long."""

    def __init__(self) -> None:
        self._said = time.monotonic()

    def __call__(self, what: str, done: int, of: int) -> None:
        if time.monotonic() - self._said > _SAY_EVERY:
            self._said = time.monotonic()
            say(f"{what} {done:,} of {many(of, 'page' if what == 'read' else 'link')}")


def _dated(found: list[BrokenLink], memory: Path, external: bool) -> list[BrokenLink]:
    """With the time when each was first seen like this. A link that was mended is forgotten, unless
    only --external would see that."""
    try:
        before = msgspec.json.decode(memory.read_bytes(), type=dict[str, tuple[float, bool]])
    except (OSError, msgspec.MsgspecError):
        before = {}
    now = time.time()
    seen = {each.key: before.get(each.key, (now, external)) for each in found}
    unasked = {key: kept for key, kept in before.items() if kept[1] and not external}
    with contextlib.suppress(OSError):  # who may only read the folder sees the list all the same
        write_whole(memory, msgspec.json.encode(unasked | seen))
    return [msgspec.structs.replace(each, since=seen[each.key][0]) for each in found]


def _since_last(found: list[BrokenLink], memory: Path) -> list[BrokenLink]:
    try:
        before = set(json.loads(memory.read_bytes())) if memory.exists() else set()
    except (ValueError, TypeError):
        raise UsageError(f"{memory} is damaged; delete it to start again") from None
    write_whole(memory, json.dumps(sorted(each.key for each in found)).encode())
    return [each for each in found if each.key not in before]


def _write_table(found: list[BrokenLink]) -> None:
    table = csv.writer(sys.stdout)
    table.writerow(["kind", "url", "status", "reason", "target", "page", "words"])
    for each in found:
        for link in each.links:
            row = (each.kind, each.url, each.status or "", each.reason, each.target, link.url, link.words)
            table.writerow([_no_formula(str(cell)) for cell in row])


def _no_formula(cell: str) -> str:
    """Spreadsheets calculate what begins like this."""
    return f"'{cell}" if cell.startswith(("=", "+", "-", "@")) else harmless(cell)


def _write(shown: list[BrokenLink], found: list[BrokenLink], new: bool) -> None:
    for each in shown:
        leads = f" -> {each.target}" if each.target else ""
        sys.stdout.write(f"{each.status or '---'}  {harmless(each.url + leads)}\n")
        sys.stdout.write(f"     {harmless(each.reason)}; on {many(each.pages, 'page')}:\n")
        for link in each.links[:_SHOWN]:
            words = f'  "{link.words[:60]}"' if link.words else ""
            sys.stdout.write(f"     {harmless(link.url + words)}\n")
        if each.pages > _SHOWN:
            sys.stdout.write(f"     and {each.pages - _SHOWN:,} more\n")
    if len(shown) < len(found):
        sys.stdout.write(f"and {len(found) - len(shown):,} more\n")
    counts = [(sum(each.kind == kind for each in found), what) for kind, what in _KINDS.items()]
    told = ", ".join(f"{number:,} {what}" for number, what in counts if number)
    sys.stdout.write(f"{told or ('nothing broke since the last look' if new else 'no broken links')}\n")
