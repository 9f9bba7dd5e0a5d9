"""`sanderling search`: find pages, and what they said before, by their words."""

import argparse
import contextlib
import sys
import time

import msgspec

from sanderling.cli.folders import add_folder
from sanderling.cli.output import write_json
from sanderling.cli.reindex import ReindexProgress
from sanderling.errors import IndexInUse, UsageError
from sanderling.model import ChangeKind
from sanderling.presenting.arguments import host, positive
from sanderling.presenting.screen import colourful, harmless, many, say
from sanderling.presenting.versions import moment, span, when
from sanderling.repository.folder import Folder
from sanderling.search.searching import Hit, Query, Results, Searcher, check, open_search

_ABOUT = """Finds pages by their words, best match first, with the words marked.

  word word          pages with both, in any of their forms
  "in this order"    exactly these words
  word OR word       one of them
  -word              not this one
  title:word         in the title; also headings: text: url: host: lang:
  sand*              words with this prefix
  sanderlng~         words that differ in one letter (~2: two letters)
  (a OR b) c         groups

Examples:
  sanderling search example 'sandpiper migration'
  sanderling search example '"price list" -draft' --changed 7d
  sanderling search example price --at 2026-11-01     pages as they were then
  sanderling search example price --between 2026-03 2026-04
  sanderling search example price --versions          all versions
  sanderling search example discount --within price   only in what "price" finds
  sanderling search example 'what does delivery cost' --semantic
"""
_BOLD, _PLAIN, _DIM = "\x1b[1m", "\x1b[0m", "\x1b[2m"


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "search", description=_ABOUT,
    )  # fmt: skip
    add_folder(parser)
    parser.add_argument("query", nargs="+", help="what to search for; '*' for everything that the filters allow")
    parser.add_argument(
        "--within", action="append", default=[], metavar="QUERY",
        help="only what this earlier query finds too; it does not affect the ranking (repeatable)",
    )  # fmt: skip
    parser.add_argument(
        "--semantic", action="store_true",
        help="also find pages that say it in other words; needs `pip install 'sanderling[semantic]'`",
    )  # fmt: skip
    parser.add_argument("--host", type=host, metavar="NAME", help="only this host and its subdomains")
    parser.add_argument("--lang", default="", metavar="CODE", help="only pages in this language, e.g. en")
    parser.add_argument(
        "--since", metavar="WHEN", help="only pages that are new or changed since then: 2026-11-01, 3h, 7d"
    )
    parser.add_argument("--changed", metavar="WHEN", help="only pages that changed since then; new pages do not count")
    parser.add_argument(
        "--kind", action="append", choices=[each.name.lower() for each in ChangeKind if each.name], metavar="KIND",
        help="only pages whose last change was of this kind (repeatable)",
    )  # fmt: skip
    parser.add_argument("--gone", action="store_true", help="search pages that are gone, by their last text")
    times = parser.add_mutually_exclusive_group()
    times.add_argument("--at", metavar="WHEN", help="search pages as they were at that time, or in a month: 2026-03")
    times.add_argument(
        "--between", nargs=2, metavar=("FIRST", "LAST"),
        help="search all versions that were current from then until the end of that day or month",
    )  # fmt: skip
    parser.add_argument("--versions", action="store_true", help="also search older versions")
    parser.add_argument("--limit", type=positive, default=10, metavar="N", help="hits per page (default: 10)")
    parser.add_argument("--page", type=positive, default=1, metavar="N", help="which page of hits (default: 1)")
    parser.add_argument("--json", action="store_true", help="print one JSON object per hit")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    now = time.time()
    kinds = ChangeKind(0)
    for name in options.kind or ():
        kinds |= ChangeKind[name.upper()]
    since, changed = (moment(given, now) if given is not None else 0.0 for given in (options.since, options.changed))
    first, last = options.between or (options.at, "")
    at, until = span(first, last, now) if first is not None else (0.0, 0.0)
    asked = Query(
        text=" ".join(options.query), semantic=options.semantic, within=tuple(options.within), host=options.host or "", language=options.lang, since=since, changed=changed,
        kinds=kinds, gone=options.gone, at=at, until=until, versions=options.versions, limit=options.limit,
        page=options.page,
    )  # fmt: skip
    check(asked)
    if not all(
        text.strip() for text in (asked.text, *asked.within)
    ):  # more often a variable that was never set than everybody
        raise UsageError("there are no words to look for: name some, or '*' for all that the filters leave")
    with open_search(Folder(options.dir)) as search:
        _bring_up(search, asked.semantic)
        results = search.find(asked)
        similar = _similar(search, asked) if not results.total else ""
    for note in results.notes:
        say(harmless(note))
    if results.behind:
        newer = "newer version is" if results.behind == 1 else "newer versions are"
        say(f"{results.behind:,} {newer} not indexed yet")
    if options.json:
        for hit in results.hits:
            write_json(msgspec.json.encode(hit))
    else:
        sys.stdout.write(_as_text(results, asked, colourful(sys.stdout)))
    if similar:
        say(similar)
    return 0


def _similar(search: Searcher, asked: Query) -> str:
    """Where a query of plain words finds nothing: whether words that differ in a letter would find
    something."""
    words = asked.text.split()
    if not all(word.isalnum() and len(word) > 3 for word in words):
        return ""
    fuzzy = " ".join(f"{word}~" for word in words)
    found = search.find(msgspec.structs.replace(asked, text=fuzzy, page=1)).total
    return f"did you mean something similar? '{harmless(fuzzy)}' finds {many(found, 'page')}" if found else ""


def _bring_up(search: Searcher, semantic: bool) -> None:
    """Indexes what is missing, unless the crawl's own process is at it."""
    behind = search.behind()
    if behind > 1000:
        say(f"indexing {behind:,} versions first")
    if behind:
        with contextlib.suppress(IndexInUse):
            search.catch_up(ReindexProgress())
    if semantic:
        with contextlib.suppress(IndexInUse):
            search.catch_up_meaning(ReindexProgress("reading for meaning"))


def _as_text(results: Results, asked: Query, colours: bool) -> str:
    first = (asked.page - 1) * asked.limit + 1
    lines = [_line(number, hit, colours) for number, hit in enumerate(results.hits, first)]
    end = f"{results.total:,} matching, {results.took_ms:.0f} ms"
    if results.more:
        end += f"; --page {asked.page + 1} shows more"
    return "".join(lines) + end + "\n"


def _line(number: int, hit: Hit, colours: bool) -> str:
    bold, plain, dim = (_BOLD, _PLAIN, _DIM) if colours else ("", "", "")
    notes = [when(hit.at)]
    if hit.gone:
        notes.append("gone" if hit.until is None else f"gone since {when(hit.until)}")
    elif not hit.current:
        notes.append(f"version {hit.version}" + (f" until {when(hit.until)}" if hit.until else ""))
    if hit.folded:
        notes.append(f"{hit.folded:,} more like this")
    title = f"{bold}{harmless(hit.title or hit.url)}{plain}"
    return f"{number}. {title}\n   {harmless(hit.url)}  {dim}{', '.join(notes)}{plain}\n   {_marked(hit, colours)}\n"


def _marked(hit: Hit, colours: bool) -> str:
    parts, last = [], 0
    before, after = (_BOLD, _PLAIN) if colours else ("*", "*")
    for start, end in hit.marks:
        parts += [harmless(hit.snippet_text[last:start]), before, harmless(hit.snippet_text[start:end]), after]
        last = end
    return "".join([*parts, harmless(hit.snippet_text[last:])])
