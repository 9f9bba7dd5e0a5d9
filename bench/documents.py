"""What reading an office document costs, through the child process as a crawl does it.

Small files are those that other programs made for the tests. Long ones are made here.
"""

from __future__ import annotations

import time
from statistics import median

from bench.places import say
from sanderling.documents import foreign
from sanderling.documents.formats import kind_of
from sanderling.documents.html import HtmlPage
from tests.papers import READABLE, office_xml, opendocument, paper, workbook

_PARAGRAPH = b"Waders feed at low tide along the whole coast, and rest on the fields behind it when the water is high. "


def report(times: int) -> int:
    say(f"{'document':28} {'KB':>8} {'characters':>11} {'ms':>8}")
    for name in READABLE:
        _measure(name, paper(name), times)
    rows = [b'<row><c t="s"><v>%d</v></c>%b</row>' % (n % 100, b"<c><v>3.25</v></c>" * 9) for n in range(20_000)]
    strings = b"<sst>%b</sst>" % b"".join(b"<si><t>station %d</t></si>" % n for n in range(100))
    word = b"<w:p><w:r><w:t>%b</w:t></w:r></w:p>" % _PARAGRAPH
    long = {
        "DOCX, 10,000 paragraphs": office_xml("word/document.xml", b"<w:x xmlns:w='w'>%b</w:x>" % (word * 10_000)),
        "ODT, 10,000 paragraphs": opendocument(b"<x>%b</x>" % (b"<p>%b</p>" % _PARAGRAPH * 10_000)),
        "RTF, 10,000 paragraphs": b"{\\rtf1 %b}" % (b"{\\b %b}\\par\n" % _PARAGRAPH * 10_000),
        "XLSX, 200,000 cells": workbook(b"<x><sheetData>%b</sheetData></x>" % b"".join(rows), sharedStrings=strings),
    }
    for name, body in long.items():
        _measure(name, body, max(1, times // 50))
    page = b"<!DOCTYPE html><title>x</title>%b" % (b"<p>%b" % _PARAGRAPH * 100)
    began = time.perf_counter()
    for _ in range(times):
        HtmlPage(page, None, "http://e.org/").text()
    seconds = (time.perf_counter() - began) / times
    say(f"{'HTML, 100 paragraphs':28} {len(page) / 1e3:>8,.1f} {len(_PARAGRAPH) * 100:>11,} {1e3 * seconds:>8.2f}")
    return 0


def _measure(name: str, body: bytes, times: int) -> None:
    kind = kind_of(body, "")
    read = foreign.read(kind, body)  # starts the child
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        foreign.read(kind, body)
        taken.append(time.perf_counter() - began)
    say(f"{name:28} {len(body) / 1e3:>8,.1f} {len(read.text):>11,} {1e3 * median(taken):>8.2f}")
