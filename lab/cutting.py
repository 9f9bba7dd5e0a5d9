"""`sanderling lab cutting`: what do focused crawls save and lose when they cut short pages that
are not on the topic?

It simulates focused crawls of the documentation in a finished crawl, with topics by section as in
`lab focus`, once with whole pages and once as with `--cut-short`. A page that is cut has the
relevance of its beginning, and only the links in it. Bytes are those of all bodies that are
fetched, and recall is the share of the topic's pages that is found. Figures are means over
seeds.
"""

import argparse
import sys
from itertools import zip_longest
from pathlib import Path

import msgspec
import numpy as np

from lab import topical
from lab.confidence import half_width, repeated
from lab.focus import FocusedCrawl, at_percent, recall
from lab.sections import archived, documentation
from lab.topical import TopicalWeb
from sanderling.arrays import Floats
from sanderling.client.cutting import Cutter, looks
from sanderling.client.fetcher import Request
from sanderling.documents.visible import text_and_links
from sanderling.graph import pack
from sanderling.presenting.arguments import count, pathname, positive
from sanderling.presenting.plot import table
from sanderling.repository import warc
from sanderling.repository.archive import document_in, links_in
from sanderling.settings import Settings

AFTER = (10, 20, 50, 100)
_SETTINGS = Settings(ignore_robots=True)


class CutFigures(msgspec.Struct):
    """Of one topic; each list has an entry for each share of the pages."""

    topic: str
    on_topic: int
    cut: float  # the share of all pages that would be cut
    saved: list[float]  # the share of the bytes
    recall: list[float]
    recall_cut: list[float]
    sets: int = 1  # of examples; the others are means over them
    half_widths: list[list[float]] = []  # of the intervals at 95 % of the three lists; none of one set


class Cut(msgspec.Struct):
    """A web as a crawl sees it that cuts pages short."""

    web: TopicalWeb
    whole: Floats  # bytes of each page
    kept: Floats


def cut_web(path: Path, of: TopicalWeb) -> Cut:
    """Cuts the archived pages of a web as a client would."""
    cutter = Cutter(of.judge, Settings().relatedness, lambda page: None)
    whole, kept, relevance = np.zeros(len(of.truth)), np.zeros(len(of.truth)), of.relevance.copy()
    links = {n: of.web.graph.links_of(n) for n in range(len(of.truth))}
    place = {int(id): n for n, id in enumerate(of.web.graph.ids.tolist())}
    for n, page in archived(path, of.web, [*range(len(of.truth))]):
        left = _beginning(cutter, page)
        whole[n], kept[n] = len(page.body), len(left)
        if len(left) < len(page.body):
            cut = page._replace(body=left)
            document = document_in(cut)
            if document is not None:
                found = np.frombuffer(links_in(cut, document, _SETTINGS), np.int64).tolist()
                links[n] = np.array(sorted({place[id] for id in found if id in place}), np.int64)
                relevance[n] = of.judge.page("", *text_and_links(document))
    packed = [(int(of.web.graph.ids[n]), of.web.graph.ids[targets].tobytes()) for n, targets in links.items()]
    graph = pack(of.web.graph.ids, packed)
    return Cut(of._replace(web=of.web._replace(graph=graph), relevance=relevance), whole, kept)


def _beginning(cutter: Cutter, page: warc.Archived) -> bytes:
    lines = [b"HTTP/1.1 %d\r\n" % page.status, *(f"{name}: {value}\r\n".encode() for name, value in page.headers)]
    request = Request(page.url, False, 1 << 30, renderable=True)
    for length in looks(len(page.body)):
        if kept := cutter.kept(request, lines, page.body[:length]):
            return kept
    return page.body


def measure(path: Path, made: list[TopicalWeb], seed: int) -> CutFigures:
    saved, before, after, shares = [], [], [], []
    depth = Settings().tunnel_depth
    for n, of in enumerate(made, seed):
        cut = cut_web(path, of)
        first, second = FocusedCrawl(of, n, depth).run(), FocusedCrawl(cut.web, n, depth).run()
        shares.append(float((cut.kept < cut.whole).mean()))
        before.append([at_percent(recall(of, first), len(of.truth), share) for share in AFTER])
        after.append([at_percent(recall(of, second), len(of.truth), share) for share in AFTER])
        saved.append([1 - _bytes(cut.kept, second, share) / _bytes(cut.whole, first, share) for share in AFTER])
    counted = int(np.mean([(of.truth & of.counted).sum() for of in made]))
    bytes_saved, whole, short = (np.mean(each, axis=0).round(4).tolist() for each in (saved, before, after))
    spread = [[half_width(column) for column in zip(*each, strict=True)] for each in (saved, before, after)]
    cut_share = round(float(np.mean(shares)), 4)
    return CutFigures(
        made[0].topic, counted, cut_share, bytes_saved, whole, short, len(made), spread if len(made) > 1 else []
    )


def _bytes(sizes: Floats, visits: list[int], percent: float) -> float:
    """Bytes a page, since one of two crawls may end earlier."""
    fetched = visits[: round(len(sizes) * percent / 100)]
    return float(sizes[fetched].mean())


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("web", type=pathname, metavar="DIR", help="a finished crawl of documentation")
    parser.add_argument(
        "--seeds", type=positive, default=2, metavar="N", help="sets of examples to average over (default: 2)"
    )
    parser.add_argument("--first-seed", type=count, default=0, metavar="N", help="the first of the seeds (default: 0)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(options: argparse.Namespace) -> int:
    read = documentation(options.web)
    chosen = range(options.first_seed, options.first_seed + options.seeds)
    reports = [
        measure(options.web, list(several), options.first_seed)
        for several in zip(*(topical.of_documentation(read, seed) for seed in chosen), strict=True)
    ]
    if options.json:
        sys.stdout.write(msgspec.json.encode(reports).decode() + "\n")
        return 0
    for each in reports:
        rows = [
            [name, *(_told(value, half, form) for value, half in zip_longest(values, halves))]
            for name, form, values, halves in zip(
                ("bytes a page saved", "recall, whole pages", "recall, cut short"), (".1%", ".3f", ".3f"),
                (each.saved, each.recall, each.recall_cut), each.half_widths or [[], [], []], strict=True,
            )
        ]  # fmt: skip
        title = f"{each.topic}: {each.on_topic:,} pages; {each.cut:.1%} of all pages are cut"
        sys.stdout.write(f"{title}\n{table(rows, ['', *(f'{x} %' for x in AFTER)])}\n")
        sys.stdout.write(repeated(each.sets, "set of examples") + "\n\n")
    return 0


def _told(value: float, half: float | None, form: str) -> str:
    return f"{value:{form}}" + (f" ±{half:{form}}" if half is not None else "")
