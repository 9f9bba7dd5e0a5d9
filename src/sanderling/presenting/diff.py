"""Shows the differences between two versions of a page, as text for a terminal or as an HTML
page."""

from html import escape

from msgspec import UNSET, Struct, UnsetType
from msgspec.json import encode

from sanderling.change import Verdict
from sanderling.change.comparison import Piece, PieceKind, Words, words
from sanderling.change.structure import LevelChange
from sanderling.presenting.difference import Difference
from sanderling.presenting.screen import harmless

_RED, _GREEN, _BLUE, _GREY, _BOLD, _PLAIN = "\x1b[31m", "\x1b[32m", "\x1b[36m", "\x1b[90m", "\x1b[1m", "\x1b[0m"


class DifferentParagraph(Struct, frozen=True):
    """A paragraph of both versions. Edited paragraphs also have words, as [changed, text]."""

    kind: PieceKind
    old: str
    new: str
    old_words: list[tuple[bool, str]] = []
    new_words: list[tuple[bool, str]] = []
    noise: bool = False  # not news: it changes on most visits, or a rule ignores it


class DifferentVersions(Struct, frozen=True, kw_only=True):
    """The differences between two versions of a page, by their positions in its history."""

    url: str
    a: int
    b: int
    summary: str
    kinds: tuple[str, ...]
    significance: float
    degree: str
    place: str
    levels: tuple[LevelChange, ...]  # of the tree of the page
    inserted: tuple[str, ...]  # the topmost of the nodes
    deleted: tuple[str, ...]
    items: list[DifferentParagraph] | UnsetType
    hidden: int


def as_json(url: str, places: tuple[int, int], found: Difference, paragraphs: bool) -> bytes:
    """One object. Versions that cannot be compared have no kinds, only a summary."""
    verdict = found.verdict or Verdict()
    return encode(
        DifferentVersions(
            url=url, a=places[0], b=places[1], summary=found.summary, kinds=verdict.kinds,
            significance=verdict.significance, degree=str(verdict.degree), place=verdict.place, levels=verdict.levels,
            inserted=verdict.inserted, deleted=verdict.deleted, hidden=found.hidden,
            items=[*map(different_paragraph, found.shown)] if paragraphs else UNSET,
        )
    )  # fmt: skip


def different_paragraph(piece: Piece) -> DifferentParagraph:
    worded = words(piece.old, piece.new) if piece.kind == "edited" else ([], [])
    return DifferentParagraph(piece.kind, piece.old, piece.new, *worded, piece.noise)


def as_text(titles: list[str], found: Difference, colour: bool) -> str:
    """The summary, then changed paragraphs with one unchanged paragraph before and after each.
    Others are counted."""
    red, green, blue, plain = (_RED, _GREEN, _BLUE, _PLAIN) if colour else ("", "", "", "")
    lines = [f"{red}--- {titles[0]}{plain}", f"{green}+++ {titles[1]}{plain}"]
    lines += [f"{blue}    {harmless(found.summary)}{plain}"] if found.summary else []
    near = {at + step for at, piece in enumerate(found.shown) if piece.kind != "same" for step in (-1, 0, 1)}
    skipped = 0
    for at, piece in enumerate(found.shown):
        if at not in near:
            skipped += 1
            continue
        if skipped:
            lines.append(f"{blue}    ... {skipped} paragraph{'s' * (skipped > 1)} as before{plain}")
            skipped = 0
        lines += _noise(piece, colour) if piece.noise else _lines(piece, colour)
    if found.hidden:
        lines.append(f"{blue}    {hidden_in_words(found.hidden)}; --noise shows {_them(found.hidden)}{plain}")
    elif not near and not found.summary:
        lines.append("    the text is the same")
    return "\n".join(lines) + "\n"


def hidden_in_words(count: int) -> str:
    """How many paragraphs are not shown because they are noise."""
    return f"{count:,} changed paragraph{'s' * (count > 1)} {'are' if count > 1 else 'is'} noise and not shown"


def _them(count: int) -> str:
    return "them" if count > 1 else "it"


def _lines(piece: Piece, colour: bool) -> list[str]:
    red, green, blue, plain = (_RED, _GREEN, _BLUE, _PLAIN) if colour else ("", "", "", "")
    if piece.kind == "same":
        return [f"    {harmless(piece.new)}"]
    if piece.kind == "moved":
        return [f"{blue}  {f'> {harmless(piece.new)}' if piece.new else f'< {harmless(piece.old)}'}{plain}"]
    before, after = (
        words(piece.old, piece.new) if piece.kind == "edited" else ([(False, piece.old)], [(False, piece.new)])
    )
    lines = [f"{red}  - {_marked(before, red, colour)}{plain}"] if piece.old else []
    return lines + ([f"{green}  + {_marked(after, green, colour)}{plain}"] if piece.new else [])


def _noise(piece: Piece, colour: bool) -> list[str]:
    """Noise in grey, with a mark for terminals without colours."""
    grey, plain = (_GREY, _PLAIN) if colour else ("", "")
    signs = "<>" if piece.kind == "moved" else "-+"
    sides = zip(signs, (piece.old, piece.new), strict=True)
    return [f"{grey}  ~ {sign} {harmless(text)}{plain}" for sign, text in sides if text]


def _marked(pieces: Words, ink: str, colour: bool) -> str:
    if not colour:
        return " ".join(harmless(text) for _, text in pieces)
    return " ".join(f"{_BOLD}{harmless(text)}{_PLAIN}{ink}" if changed else harmless(text) for changed, text in pieces)


def as_html(url: str, titles: list[str], found: Difference) -> str:
    """A complete HTML page without scripts: the older version left, the newer right. Moved
    paragraphs are marked in both."""
    rows = []
    for piece in found.shown:
        if piece.kind == "edited" and not piece.noise:
            left, right = ("".join(_span(*word) + " " for word in side) for side in words(piece.old, piece.new))
        else:
            left, right = escape(piece.old), escape(piece.new)
        rows.append(f'<tr class="{"noise" if piece.noise else piece.kind}"><td>{left}</td><td>{right}</td></tr>')
    told = [found.summary, hidden_in_words(found.hidden) if found.hidden else ""]
    return _PAGE.format(
        url=escape(url),
        summary="".join(f"<p>{escape(each)}</p>" for each in told if each),
        head="".join(f"<th>{escape(title)}</th>" for title in titles),
        rows="\n".join(rows),
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
.noise {{ color: GrayText }}
@media (max-width: 600px) {{ thead {{ display: none }} tr, td {{ display: block }} td:empty {{ display: none }} }}
mark {{ background: #fc08; color: inherit }}
</style></head><body>
<h1>{url}</h1>
{summary}
<p>Red was removed, green was added, <mark>marked words</mark> were edited. Blue was moved: old place left, new place right.</p>
<table><thead><tr>{head}</tr></thead><tbody>
{rows}
</tbody></table></body></html>
"""
