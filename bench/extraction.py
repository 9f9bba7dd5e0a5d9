"""How well the main content of pages is found, beside other extractors, on any set of pages.

A set is a folder in the layout of the public article benchmark of Zyte (`ground-truth.json` with
`articleBody`, and `html/KEY.html.gz`), or in that of trafilatura's evaluation: `evaldata.json` with
`file`, `with` and `without` for each page, and the files beside it. The measures are theirs: F1 of
shingles of four words, averaged over pages; or F1 of the text pieces that must and must not be
there. `bench.extraction_set` makes a set of our own.
"""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from bench.places import CACHE, BenchError, say

Extract = Callable[[bytes, str], str]
_WORD = re.compile(r"\w+")
_SHINGLE = 4
PEERS = ("trafilatura", "readability-lxml", "resiliparse")
# Runs in an environment of its own: reads lines with the path of a page, answers with its text.
_PEER = """
import gzip, json, sys, time
name = sys.argv[1]
if name == "trafilatura":
    import trafilatura
    extract = lambda html: trafilatura.extract(html, favor_recall=False) or ""
elif name == "readability-lxml":
    import logging, lxml.html
    from readability import Document
    logging.disable(logging.CRITICAL)
    extract = lambda html: "\\n".join(lxml.html.fromstring(Document(html).summary()).itertext())
else:
    from resiliparse.extract.html2text import extract_plain_text
    extract = lambda html: extract_plain_text(html, main_content=True)
for line in sys.stdin:
    data = open(line.rstrip("\\n"), "rb").read()
    data = gzip.decompress(data) if data[:2] == b"\\x1f\\x8b" else data
    html = data.decode("utf-8", "replace")
    began = time.process_time()
    try:
        text = extract(html)
    except Exception:
        text = ""
    print(json.dumps([text, time.process_time() - began]), flush=True)
"""


class Truth(NamedTuple):
    """A page of a set, and what is known of its main content."""

    file: Path
    url: str
    kind: str
    text: str  # all of it; empty if only pieces are known
    wanted: list[str]
    unwanted: list[str]


def report(folder: Path, kinds: list[str], peers: bool) -> int:
    """Prints a table: an extractor a line."""
    pages = [page for page in truths(folder) if not kinds or page.kind in kinds]
    if not pages:
        raise BenchError(f"{folder} has no pages; `python -m bench extraction --build {folder}` makes some")
    print(f"{'extractor':22} {'pages':>6} {'precision':>9} {'recall':>7} {'F1':>6} {'us a page':>10}  by kind")
    for name, answers in extractors(peers):
        scores: dict[str, list[tuple[float, float, float]]] = defaultdict(list)
        seconds = 0.0
        for page, (text, took) in zip(pages, answers(pages), strict=True):
            scores[page.kind].append(_score(page, text))
            seconds += took
        everything = [each for some in scores.values() for each in some]
        precision, recall, f1 = _totals(everything, bool(pages[0].text))
        parts = ", ".join(
            f"{kind} {_totals(some, bool(pages[0].text))[2]:.3f}" for kind, some in sorted(scores.items())
        )
        print(
            f"{name:22} {len(pages):>6} {precision:>9.3f} {recall:>7.3f} {f1:>6.3f} {1e6 * seconds / len(pages):>10,.0f}  {parts}"
        )
    return 0


def truths(folder: Path) -> Iterator[Truth]:
    if (known := folder / "ground-truth.json").exists():
        for key, facts in json.loads(known.read_text()).items():
            file = folder / "html" / f"{key}.html.gz"
            yield Truth(file, facts.get("url", ""), facts.get("kind", "article"), facts["articleBody"], [], [])
    elif (known := folder / "evaldata.json").exists():
        for url, facts in json.loads(known.read_text()).items():
            if (file := folder / facts["file"]).exists():
                yield Truth(file, url, facts.get("kind", "article"), "", facts["with"], facts["without"])
    else:
        raise BenchError(f"{folder} has neither ground-truth.json nor evaldata.json")


Answers = Callable[[list[Truth]], Iterator[tuple[str, float]]]


def extractors(peers: bool) -> Iterator[tuple[str, Answers]]:
    from sanderling.documents.html import HtmlPage
    from sanderling.documents.main_content import main_text

    yield "Sanderling main", _ours(lambda body, url: main_text(HtmlPage(body, None, url).document))
    yield "Sanderling all text", _ours(lambda body, url: HtmlPage(body, None, url).text())
    for name in PEERS if peers else ():
        yield name, lambda pages, name=name: _peer(name, pages)  # type: ignore[misc]


def _ours(extract: Extract) -> Answers:
    def answers(pages: list[Truth]) -> Iterator[tuple[str, float]]:
        for page in pages:
            data = page.file.read_bytes()
            body = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
            began = time.process_time()
            text = extract(body, page.url)
            yield text, time.process_time() - began

    return answers


def _peer(name: str, pages: list[Truth]) -> Iterator[tuple[str, float]]:
    place = CACHE / "extraction" / "peers"
    if not (place / name).exists():
        say(f"installing {name} ...")
        if not place.exists():
            subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
        # One after the other: pip before 25 cannot install readability-lxml beside lxml.
        for package in ("pip", "lxml_html_clean", name):
            subprocess.run([str(place / "bin" / "pip"), "install", "-q", "-U", package], check=True)
        (place / name).touch()
    asked = "".join(f"{page.file.resolve()}\n" for page in pages)
    ran = subprocess.run(
        [str(place / "bin" / "python"), "-c", _PEER, name], input=asked, capture_output=True, text=True
    )
    for line in ran.stdout.splitlines():
        text, took = json.loads(line)
        yield text, took


def _score(page: Truth, text: str) -> tuple[float, float, float]:
    """True positives, false positives and false negatives, of shingles as shares of them all."""
    if not page.text:
        found = sum(piece in text for piece in page.wanted)
        return found, sum(piece in text for piece in page.unwanted), len(page.wanted) - found
    true, said = _shingles(page.text), _shingles(text)
    hits = sum((true & said).values())
    wrong, missed = sum(said.values()) - hits, sum(true.values()) - hits
    total = hits + wrong + missed
    return (hits / total, wrong / total, missed / total) if total else (0.0, 0.0, 0.0)


def _shingles(text: str) -> Counter[tuple[str, ...]]:
    words = _WORD.findall(text)
    return Counter(tuple(words[n : n + _SHINGLE]) for n in range(max(1, len(words) - _SHINGLE + 1)) if words)


def _totals(scores: list[tuple[float, float, float]], averaged: bool) -> tuple[float, float, float]:
    if not averaged:
        hits, wrong, missed = (sum(each) for each in zip(*scores, strict=True))
        scores = [(hits, wrong, missed)]
    precisions = [hits / (hits + wrong) if hits else 0.0 for hits, wrong, _ in scores if hits + wrong]
    recalls = [hits / (hits + missed) if hits else 0.0 for hits, _, missed in scores if hits + missed]
    precision = sum(precisions) / len(precisions) if precisions else 0.0
    recall = sum(recalls) / len(recalls) if recalls else 0.0
    return precision, recall, 2 * precision * recall / (precision + recall) if precision + recall else 0.0
