"""What the two parsers of HTML make of the same pages: links, text and title, and what each takes.

The pages are the HTML files of packages and documentation that are installed.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from bench.places import BenchError, say
from sanderling.documents.html import HtmlPage
from sanderling.documents.parser_choice import LEXBOR, TURBOHTML, choose
from sanderling.documents.tree import version
from sanderling.documents.unreadable import UNREADABLE
from tests.documents.test_parsers import wrong_cases

_PARTS = ("links", "text", "title")
_SHOWN = 20  # pages that differ


def report(folders: list[Path], count: int, seed: int, cases: Path | None) -> int:
    if cases is not None:
        ours, theirs = (wrong_cases(cases, parser) for parser in (TURBOHTML, LEXBOR))
        say(f"cases that differ from the standard: {len(ours)} by {TURBOHTML}, {len(theirs)} by {LEXBOR}")
        say(f"only by one of them: {', '.join(sorted(ours ^ theirs))}")
    paths = sorted(path for folder in folders for path in folder.rglob("*.htm*") if path.is_file())
    if not paths:
        raise BenchError("there are no HTML files: name folders that have some")
    chosen = random.Random(seed).sample(paths, min(count, len(paths)))
    differ, spent, size = Counter[str](), dict.fromkeys((TURBOHTML, LEXBOR), 0.0), 0
    for path in chosen:
        body = path.read_bytes()
        size += len(body)
        ours, theirs = (_read(body, parser, spent) for parser in (TURBOHTML, LEXBOR))
        parts = [part for part, one, other in zip(_PARTS, ours, theirs, strict=True) if one != other]
        if parts and not differ.total() > _SHOWN * len(_PARTS):
            say(f"{path}: {', '.join(parts)}: {_difference(ours, theirs)}")
        differ.update(parts or ["nothing"])
    say(f"{len(chosen):,} pages of {size / len(chosen) / 1000:,.0f} KB")
    say("".join(f"{part} differ on {differ[part]:,}; " for part in _PARTS) + f"all alike on {differ['nothing']:,}")
    for parser in (TURBOHTML, LEXBOR):
        choose(parser)
        say(f"{version():20} {1e6 * spent[parser] / len(chosen):,.0f} us a page, parsed and read")
    choose(TURBOHTML)
    return 0


def _read(body: bytes, parser: str, spent: dict[str, float]) -> tuple[object, ...]:
    choose(parser)
    began = time.process_time()
    try:
        page = HtmlPage(body, None, "http://e.org/")
        return page.hrefs(True) + page.head(frozenset()).hrefs, page.text().split("\n"), page.title()
    except UNREADABLE as error:
        return (type(error).__name__,) * len(_PARTS)
    finally:
        spent[parser] += time.process_time() - began


def _difference(ours: tuple[object, ...], theirs: tuple[object, ...]) -> str:
    def flat(found: tuple[object, ...]) -> Iterator[str]:
        for part in found:
            yield from part if isinstance(part, list) else [str(part)]

    for one, other in zip(flat(ours), flat(theirs), strict=False):
        if one != other:
            return f"{one[:80]!r} and {other[:80]!r}"
    return "one has more"
