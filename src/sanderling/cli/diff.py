"""`sanderling diff`: what differs between two versions of a page."""

import argparse
import sys
from html import escape

from sanderling.change import Verdict, explain
from sanderling.change.comparison import Piece, Words, pieces, words
from sanderling.cli.folders import reading
from sanderling.cli.screen import colourful, harmless
from sanderling.cli.typed import positive
from sanderling.cli.versions import add_page, paragraphs_of, versions_of, when
from sanderling.errors import UsageError
from sanderling.model import ChangeKind, VersionRow
from sanderling.repository import warc
from sanderling.repository.folder import Folder
from sanderling.wiring.archive import document_in

_RED, _GREEN, _BLUE, _BOLD, _PLAIN = "\x1b[31m", "\x1b[32m", "\x1b[36m", "\x1b[1m", "\x1b[0m"


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "diff", help="what differs between two versions",
        description="Shows what differs between versions A and B of a page, by default the last two. "
        "Versions are numbered from 1 as `sanderling history` lists them.",
    )  # fmt: skip
    add_page(parser)
    parser.add_argument("a", nargs="?", type=positive, help="the older version")
    parser.add_argument("b", nargs="?", type=positive, help="the newer version")
    parser.add_argument("--html", action="store_true", help="print a page that shows both side by side")
    parser.add_argument("--kinds", action="store_true", help="print only what kinds of change there are, and where")
    parser.add_argument("--color", choices=["auto", "always", "never"], default="auto", help="colours in the terminal")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    with reading(options.dir) as (folder, store):
        versions = versions_of(store, options.url)
        if len(versions) == 1 and options.a is None:
            sys.stdout.write(f"one version so far, {when(versions[0].at)}: there is nothing to compare it with\n")
            return 0
        older, newer = _chosen(versions, options.a, options.b)
        both = versions[older - 1], versions[newer - 1]
        verdict = _verdict(folder, *both)
        if options.kinds:
            sys.stdout.write(_kinds(verdict))
            return 0
        shown = pieces(*(paragraphs_of(folder, each) for each in both), places=True)
    titles = [f"version {n}, {when(versions[n - 1].at)}" for n in (older, newer)]
    told = verdict.summary if verdict else _summary(both, newer == older + 1)
    if options.html:
        sys.stdout.write(as_html(versions[0].url, titles, shown, told))
    else:
        colour = options.color == "always" or (options.color == "auto" and colourful(sys.stdout))
        sys.stdout.write(as_text(titles, shown, colour, told))
    return 0


def _chosen(versions: list[VersionRow], a: int | None, b: int | None) -> tuple[int, int]:
    count = len(versions)
    newer = b or count
    older = a or max(1, newer - 1)
    for number in (older, newer):
        if not 1 <= number <= count:
            raise UsageError(f"there is no version {number}: this page has {count}")
    return older, newer


def _verdict(folder: Folder, older: VersionRow, newer: VersionRow) -> Verdict | None:
    """What changed between two documents; nothing where one of them is none."""
    documents = [
        None if each.kinds & ChangeKind.GONE else document_in(warc.read(folder.warcs, each.stored))
        for each in (older, newer)
    ]
    if documents[0] is None or documents[1] is None:
        return None
    return explain(documents[0], documents[1])


def _summary(both: tuple[VersionRow, VersionRow], in_turn: bool) -> str:
    """What to say of versions that are no two documents."""
    for number, each in enumerate(both):
        if each.kinds & ChangeKind.GONE:
            return each.summary if number else f"back (before: {each.summary})"
    if both[0].digest == both[1].digest:
        return "the same file"
    sizes = f"{both[0].size:,} bytes, now {both[1].size:,}"
    # What was found when it came holds for the version before it only.
    return f"{both[1].summary}: {sizes}" if in_turn else f"another file without text: {sizes}"


def _kinds(verdict: Verdict | None) -> str:
    if verdict is None:
        return "not comparable: one of the versions has no text\n"
    lines = [
        ("kinds", ", ".join(verdict.kinds) or "none"),
        ("significance", f"{verdict.significance:.3f}"),
        ("degree", str(verdict.degree)),
        ("place", verdict.place),
        ("levels", ", ".join(map(str, verdict.levels))),
        ("inserted", ", ".join(verdict.inserted)),
        ("deleted", ", ".join(verdict.deleted)),
        ("summary", verdict.summary),
    ]
    return "".join(f"{name:14}{harmless(value)}\n" for name, value in lines if value)


def as_text(titles: list[str], shown: list[Piece], colour: bool, told: str = "") -> str:
    """Changed paragraphs with a line before and after each, below what is told of them; what stayed is counted."""
    red, green, blue, plain = (_RED, _GREEN, _BLUE, _PLAIN) if colour else ("", "", "", "")
    lines = [f"{red}--- {titles[0]}{plain}", f"{green}+++ {titles[1]}{plain}"]
    lines += [f"{blue}    {harmless(told)}{plain}"] if told else []
    near = {at + step for at, piece in enumerate(shown) if piece.kind != "same" for step in (-1, 0, 1)}
    skipped = 0
    for at, piece in enumerate(shown):
        if at not in near:
            skipped += 1
            continue
        if skipped:
            lines.append(f"{blue}    ... {skipped} paragraph{'s' * (skipped > 1)} as before{plain}")
            skipped = 0
        if piece.kind == "same":
            lines.append(f"    {harmless(piece.new)}")
        elif piece.kind == "moved":
            lines.append(f"{blue}  {f'> {harmless(piece.new)}' if piece.new else f'< {harmless(piece.old)}'}{plain}")
        else:
            before, after = (
                words(piece.old, piece.new) if piece.kind == "edited" else ([(False, piece.old)], [(False, piece.new)])
            )
            lines += [f"{red}  - {_marked(before, red, colour)}{plain}"] if piece.old else []
            lines += [f"{green}  + {_marked(after, green, colour)}{plain}"] if piece.new else []
    if not near and not told:
        lines.append("    the text is the same")
    return "\n".join(lines) + "\n"


def _marked(pieces: Words, ink: str, colour: bool) -> str:
    if not colour:
        return " ".join(harmless(text) for _, text in pieces)
    return " ".join(f"{_BOLD}{harmless(text)}{_PLAIN}{ink}" if changed else harmless(text) for changed, text in pieces)


def as_html(url: str, titles: list[str], shown: list[Piece], told: str = "") -> str:
    """A page of its own, without scripts: the older version left, the newer right, moved paragraphs marked in both."""
    rows = []
    for piece in shown:
        if piece.kind == "edited":
            left, right = ("".join(_span(*word) + " " for word in side) for side in words(piece.old, piece.new))
        else:
            left, right = escape(piece.old), escape(piece.new)
        rows.append(f'<tr class="{piece.kind}"><td>{left}</td><td>{right}</td></tr>')
    head = "".join(f"<th>{escape(title)}</th>" for title in titles)
    return _PAGE.format(url=escape(url), told=f"<p>{escape(told)}</p>" if told else "", head=head, rows="\n".join(rows))


def _span(changed: bool, text: str) -> str:
    return f"<mark>{escape(text)}</mark>" if changed else escape(text)


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>What changed on {url}</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>
:root {{ color-scheme: light dark }}
body {{ font: 15px/1.45 system-ui, sans-serif; margin: 1.5rem }}
table {{ border-collapse: collapse; width: 100%; table-layout: fixed }}
td, th {{ padding: .25rem .6rem; vertical-align: top; text-align: left; overflow-wrap: anywhere }}
.removed td:first-child, .edited td:first-child {{ background: #f002 }}
.added td:last-child, .edited td:last-child {{ background: #0a02 }}
.moved td:not(:empty) {{ background: #06f2; font-style: italic }}
.same {{ opacity: .75 }}
mark {{ background: #fc08; color: inherit }}
</style></head><body>
<h1>{url}</h1>
{told}
<p>Red left, green came, <mark>marked words</mark> were edited, blue moved: left where it was, right where it is now.</p>
<table><thead><tr>{head}</tr></thead><tbody>
{rows}
</tbody></table></body></html>
"""
