"""Shows the differences between two versions of a page, as text for a terminal or as an HTML page."""

from html import escape

from sanderling.change import Verdict, explain
from sanderling.change.comparison import Piece, Words, words
from sanderling.model import ChangeKind, VersionRow
from sanderling.presenting.screen import harmless
from sanderling.repository import warc
from sanderling.repository.archive import document_in
from sanderling.repository.folder import Folder

_RED, _GREEN, _BLUE, _BOLD, _PLAIN = "\x1b[31m", "\x1b[32m", "\x1b[36m", "\x1b[1m", "\x1b[0m"


def verdict_of(folder: Folder, older: VersionRow, newer: VersionRow) -> Verdict | None:
    """What changed between two versions. None if one of them is not a document."""
    documents = [
        None if each.kinds & ChangeKind.GONE else document_in(warc.read(folder.warcs, each.stored))
        for each in (older, newer)
    ]
    if documents[0] is None or documents[1] is None:
        return None
    return explain(documents[0], documents[1])


def file_summary(both: tuple[VersionRow, VersionRow], consecutive: bool) -> str:
    """A summary for two versions that are not both documents."""
    for number, each in enumerate(both):
        if each.kinds & ChangeKind.GONE:
            return each.summary if number else f"back (before: {each.summary})"
    if both[0].digest == both[1].digest:
        return "the same file"
    sizes = f"{both[0].size:,} bytes, now {both[1].size:,}"
    # The stored summary compares a version with the one directly before it.
    return f"{both[1].summary}: {sizes}" if consecutive else f"another file without text: {sizes}"


def as_text(titles: list[str], shown: list[Piece], colour: bool, summary: str = "") -> str:
    """The summary, then changed paragraphs with one unchanged paragraph before and after each. Others are counted."""
    red, green, blue, plain = (_RED, _GREEN, _BLUE, _PLAIN) if colour else ("", "", "", "")
    lines = [f"{red}--- {titles[0]}{plain}", f"{green}+++ {titles[1]}{plain}"]
    lines += [f"{blue}    {harmless(summary)}{plain}"] if summary else []
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
    if not near and not summary:
        lines.append("    the text is the same")
    return "\n".join(lines) + "\n"


def _marked(pieces: Words, ink: str, colour: bool) -> str:
    if not colour:
        return " ".join(harmless(text) for _, text in pieces)
    return " ".join(f"{_BOLD}{harmless(text)}{_PLAIN}{ink}" if changed else harmless(text) for changed, text in pieces)


def as_html(url: str, titles: list[str], shown: list[Piece], summary: str = "") -> str:
    """A complete HTML page without scripts: the older version left, the newer right. Moved paragraphs are marked in both."""
    rows = []
    for piece in shown:
        if piece.kind == "edited":
            left, right = ("".join(_span(*word) + " " for word in side) for side in words(piece.old, piece.new))
        else:
            left, right = escape(piece.old), escape(piece.new)
        rows.append(f'<tr class="{piece.kind}"><td>{left}</td><td>{right}</td></tr>')
    head = "".join(f"<th>{escape(title)}</th>" for title in titles)
    return _PAGE.format(
        url=escape(url), summary=f"<p>{escape(summary)}</p>" if summary else "", head=head, rows="\n".join(rows)
    )


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
{summary}
<p>Red was removed, green was added, <mark>marked words</mark> were edited. Blue was moved: old place left, new place right.</p>
<table><thead><tr>{head}</tr></thead><tbody>
{rows}
</tbody></table></body></html>
"""
