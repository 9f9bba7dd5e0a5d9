"""`sanderling lab focus`: how soon does a crawl find the pages of a topic?

It simulates crawls of webs in which the topic of every page is known: a synthetic web whose links
lead to a page of the same topic with a probability (the topical locality), universities whose
papers are found only by "Faculty list → Publications", and the documentation web, or any finished
crawl of it, with topics by section. A model learns the topic from 20 examples and 60
counter-examples, which are not counted. The crawls know only what a crawler would know.
"topic" is the order of `crawl --topic`, with its tunnelling and exploring. The others are
breadth-first, PageRank, best-first by the relevance of the first page that links to a URL, and Fish
and Shark search with the similarity they were published with, the likeness to the mean of the
examples. Recall is the share of the topic's pages that are fetched; the harvest is the share of the
fetched pages that are of the topic. Figures are means over seeds, with two standard errors.
"""

import argparse
import sys
from collections.abc import Callable, Iterable
from heapq import heapify, heappop, heappush
from pathlib import Path

import msgspec
import numpy as np

from lab import topical, webs
from lab.confidence import half_width, mean, repeated
from lab.sections import documentation
from lab.topical import TopicalWeb
from sanderling.arrays import Floats
from sanderling.model import State
from sanderling.presenting.arguments import count, pathname, positive
from sanderling.presenting.plot import plot, require_png, save_png, table
from sanderling.server.frontier.distributor import EXPLORING, cuts
from sanderling.server.gate.tunnel import FEWEST_IN_TURN, WORTH_WRITING
from sanderling.server.ranking.fish import DEPTH, fish, inherited, shark
from sanderling.server.ranking.focus import Focus
from sanderling.server.ranking.order import Snapshot
from sanderling.server.ranking.orders import topic
from sanderling.server.ranking.reranker import FEWEST_PAGES, GROWTH
from sanderling.settings import Settings
from sanderling.topics.paths import PathModel

AFTER = (5, 10, 20, 30, 50)
# A report has about so many pages.
EVERY = 10
LOCALITIES = (0.0, 0.5, 0.8)
_X, _Y = "% of the pages fetched", "recall"


class FocusedCrawl:
    """A simulated crawl in the order `topic`, with the tunnel of a crawl server."""

    def __init__(
        self, of: TopicalWeb, seed: int, tunnel_depth: int, explores: bool = True, learns: bool = True
    ) -> None:
        self._of, self._graph = of, of.web.graph
        self._settings = Settings(tunnel_depth=tunnel_depth)
        self._learns, self._turns = learns, EXPLORING if explores else (0,)
        count = len(of.truth)
        self._tie = np.random.default_rng(seed).permutation(count).tolist()
        self._focus = Focus(self._settings.relatedness)
        self._state = np.full(count, State.EXCLUDED, np.int8)  # not known yet
        self._off_topic = np.full(count, 1 << 20)
        self._rank = np.zeros(count)
        self._pages, self._total = np.zeros(count), np.zeros(count)  # that link to each, and their relevances
        self._heap: list[tuple[float, int, int]] = []
        self._paths = PathModel(self._settings.relatedness)
        self._basis = np.zeros(count)  # ranks without what the kinds of links add
        self._depth = np.zeros(count, np.int32)
        for page in of.web.seeds:
            self._offer(page, 0, 1.0)

    def run(self, most: int = sys.maxsize) -> list[int]:
        visits: list[int] = []
        again = float(FEWEST_PAGES)
        while len(visits) < most and (page := self._next(len(visits))) is not None:
            visits.append(page)
            self._visit(page)
            if not len(visits) % EVERY:
                self._rank_in_turn()
            if len(visits) >= again:
                self._rescore()
                again = len(visits) * (1 + GROWTH)
        return visits

    def _next(self, number: int) -> int | None:
        if turn := self._turns[number % len(self._turns)]:
            queued = np.flatnonzero(self._state == State.QUEUED)
            if len(queued):
                limits = cuts(self._rank[queued].tolist())
                below = queued[self._rank[queued] < (limits.first if turn == 1 else limits.second)]
                if len(below):
                    return int(below[np.argmax(self._rank[below])])
        while self._heap:
            rank, _, page = heappop(self._heap)
            if self._state[page] == State.QUEUED and -rank == self._rank[page]:
                return page
        return None

    def _visit(self, page: int) -> None:
        self._state[page] = State.FETCHED
        relevance = float(self._of.relevance[page])
        host = int(self._of.web.host[page])
        self._focus.see(host, relevance)
        self._paths.visited(page, relevance)
        near = 0 if relevance >= self._settings.relatedness else int(self._off_topic[page]) + 1
        for link in self._graph.links_of(page).tolist():
            if self._state[link] == State.FETCHED:
                continue
            if self._state[link] == State.EXCLUDED:
                self._depth[link] = self._depth[page] + 1
                self._paths.met(link, page, self._of.web.urls[link], self._of.anchors[link][0])
            self._pages[link] += 1
            self._total[link] += relevance
            mean, total = float(self._total[link] / self._pages[link]), float(self._total[link])
            rank = self._focus.rank(float(self._of.words[link]), mean, total, int(self._of.web.host[link]))
            self._basis[link] = rank
            rank = self._paths.ranked(link, rank)
            moved = abs(rank - self._rank[link]) > WORTH_WRITING * max(rank, self._rank[link])
            if moved or self._off_topic[link] > near:
                self._offer(link, min(near, int(self._off_topic[link])), rank)

    def _offer(self, page: int, off_topic: int, rank: float) -> None:
        self._off_topic[page], self._rank[page] = off_topic, rank
        self._state[page] = State.QUEUED if off_topic <= self._settings.tunnel_depth else State.KNOWN
        if self._state[page] == State.QUEUED:
            heappush(self._heap, (-self._rank[page], self._tie[page], page))

    def _rescore(self) -> None:
        known = self._state != State.EXCLUDED
        snapshot = _snapshot(self._of, known, self._state, self._depth)
        score, weights = topic.learned(snapshot)
        if self._learns:
            self._focus.weigh(weights)
        else:
            score = topic.with_weights(snapshot)
        self._basis[known] = score
        self._rank_all()

    def _rank_all(self) -> None:
        """The job gives a rank to all that is queued."""
        queued = np.flatnonzero(self._state == State.QUEUED).tolist()
        for page in queued:
            self._rank[page] = self._paths.ranked(page, float(self._basis[page]))
        self._heap = [(-self._rank[page], self._tie[page], page) for page in queued]
        heapify(self._heap)

    def _rank_in_turn(self) -> None:
        """Between two jobs, what waits is ranked again by what links of its kinds have led to."""
        for page in self._paths.next(FEWEST_IN_TURN):
            rank = self._paths.ranked(page, float(self._basis[page]))
            if self._state[page] == State.QUEUED and rank != self._rank[page]:
                self._offer(page, int(self._off_topic[page]), rank)


def _snapshot(of: TopicalWeb, known: "np.typing.NDArray[np.bool_]", state: "np.typing.NDArray[np.int8]", depth: "np.typing.NDArray[np.int32]") -> Snapshot:  # fmt: skip
    fetched = state == State.FETCHED
    return Snapshot(
        webs.part(of.web.graph, known, fetched), depth[known], state[known], of.web.host[known], of.web.shape[known],
        fetched[known].astype(np.float64), np.where(fetched, of.relevance, of.words)[known], of.words[known],
    )  # fmt: skip


def by_pagerank(of: TopicalWeb, seed: int) -> list[int]:
    from lab.ordering import PaperCrawl

    return PaperCrawl(of.web, "pagerank", lists=False, seed=seed).run()


def breadth_first(of: TopicalWeb, seed: int) -> list[int]:
    return _queue(of, seed, lambda page, inherits, link: (0.0, 0.0))


def best_first(of: TopicalWeb, seed: int) -> list[int]:
    return _queue(of, seed, lambda page, inherits, link: (float(of.relevance[page]), 0.0))


def fish_search(of: TopicalWeb, seed: int) -> list[int]:
    def worth(page: int, depth: float, link: int) -> tuple[float, float] | None:
        found = fish(float(of.likeness[page]), int(depth))
        return (float(found.place), float(found.depth)) if found is not None else None

    return _queue(of, seed, worth, float(DEPTH))


def shark_search(of: TopicalWeb, seed: int) -> list[int]:
    none = float(of.link_likeness.min())  # of a link whose words say nothing

    def worth(page: int, inherits: float, link: int) -> tuple[float, float]:
        gives = inherited(float(of.likeness[page]), inherits)
        anchor = max(0.0, float(of.link_likeness[link]) - none)
        return shark(gives, anchor, 0.0), gives

    return _queue(of, seed, worth)


def _queue(
    of: TopicalWeb, seed: int, worth: Callable[[int, float, int], tuple[float, float] | None], first: float = 0.0
) -> list[int]:
    """Best first, and first come first served among equals. `worth` gives rank and what is handed
    on, or None to drop."""
    tie = np.random.default_rng(seed).permutation(len(of.truth)).tolist()
    handed, known = dict.fromkeys(of.web.seeds, first), set(of.web.seeds)
    heap = [(0.0, n, 0, page) for n, page in enumerate(of.web.seeds)]
    visits: list[int] = []
    dropped: list[int] = []
    while heap or dropped:
        # What Fish search drops is fetched at the end, so that all crawls fetch everything.
        page = heappop(heap)[3] if heap else dropped.pop(0)
        visits.append(page)
        for link in sorted(of.web.graph.links_of(page).tolist(), key=tie.__getitem__):
            if link in known:
                continue
            known.add(link)
            found = worth(page, handed[page], link)
            handed[link] = found[1] if found is not None else 0.0
            if found is None:
                dropped.append(link)
            else:
                heappush(heap, (-found[0], len(known), 0, link))
    return visits


CRAWLS: dict[str, Callable[[TopicalWeb, int], list[int]]] = {
    "breadth-first": breadth_first,
    "pagerank": by_pagerank,
    "best-first": best_first,
    "fish": fish_search,
    "shark": shark_search,
    "topic": lambda of, seed: FocusedCrawl(of, seed, Settings().tunnel_depth).run(),
}


def recall(of: TopicalWeb, visits: Iterable[int]) -> Floats:
    """The share of the topic's pages, without the examples, that is fetched after 0, 1, 2 ...
    visits."""
    mine = (of.truth & of.counted).astype(np.float64)
    found = np.concatenate([[0.0], np.cumsum(mine[list(visits)])])
    return np.asarray(found / mine.sum())


def at_percent(curve: Floats, pages: int, percent: float) -> float:
    """A crawl that has ended stays where it is."""
    return float(curve[min(len(curve) - 1, round(pages * percent / 100))])


class Figures(msgspec.Struct):
    """Of one web: for each crawl its recall and harvest after each share of the pages, as mean and
    half of the interval at 95 %, which one seed does not have."""

    web: str
    pages: int
    on_topic: int
    seeds: int
    recall: dict[str, list[tuple[float, float | None]]]
    harvest: dict[str, list[tuple[float, float | None]]]


def measure(name: str, made: list[TopicalWeb]) -> tuple[Figures, dict[str, Floats]]:
    recalls: dict[str, list[list[float]]] = {}
    curves: dict[str, list[Floats]] = {}
    for seed, of in enumerate(made):
        for crawl, run in CRAWLS.items():
            curve = recall(of, run(of, seed))
            pages = len(of.truth)
            recalls.setdefault(crawl, []).append([at_percent(curve, pages, x) for x in AFTER])
            curves.setdefault(crawl, []).append(np.array([at_percent(curve, pages, x) for x in range(0, 101, 4)]))
    pages, mine = len(made[0].truth), int(np.mean([(of.truth & of.counted).sum() for of in made]))
    figures = Figures(
        name, pages, mine, len(made), {crawl: _with_error(rows) for crawl, rows in recalls.items()},
        {
            crawl: _with_error([[r * mine / (pages * x / 100) for r, x in zip(row, AFTER, strict=True)] for row in rows])
            for crawl, rows in recalls.items()
        },
    )  # fmt: skip
    return figures, {crawl: np.mean(each, axis=0) for crawl, each in curves.items()}


def _with_error(rows: list[list[float]]) -> list[tuple[float, float | None]]:
    columns = zip(*rows, strict=True)
    return [(round(mean(each), 4), round(half_width(each), 4) if len(each) > 1 else None) for each in columns]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--pages", type=positive, default=4000, metavar="N", help="pages of a synthetic web (default: 4000)"
    )
    parser.add_argument("--seeds", type=positive, default=3, metavar="N", help="webs to average over (default: 3)")
    parser.add_argument("--first-seed", type=count, default=0, metavar="N", help="the first of the seeds (default: 0)")
    parser.add_argument(
        "--web", type=pathname, metavar="DIR", help="a finished crawl of documentation instead, by section"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--plot", type=pathname, metavar="FILE", help="also save the plot of the last web to a PNG")


def run(options: argparse.Namespace) -> int:
    if options.plot is not None:
        require_png(options.plot)
    reports, series = [], dict[str, list[tuple[float, float]]]()
    for name, made in _webs(options.web, options.pages, options.seeds, options.first_seed):
        figures, curves = measure(name, made)
        reports.append(figures)
        series = {crawl: [(4.0 * n, float(y)) for n, y in enumerate(curve)] for crawl, curve in curves.items()}
        if not options.json:
            _show(figures)
    if options.json:
        sys.stdout.write(msgspec.json.encode(reports).decode() + "\n")
    else:
        sys.stdout.write(plot(series, _X, _Y) + "\n")
    if options.plot is not None:
        save_png(series, _X, _Y, options.plot)
    return 0


def _webs(folder: Path | None, pages: int, seeds: int, first: int) -> Iterable[tuple[str, list[TopicalWeb]]]:
    if folder is None:
        for locality in LOCALITIES:
            yield (
                f"synthetic, locality {locality}",
                [topical.synthetic(locality, seed, pages) for seed in range(first, first + seeds)],
            )
        yield "universities", [topical.of_universities(seed) for seed in range(first, first + seeds)]
        return
    read = documentation(folder)
    for several in zip(*(topical.of_documentation(read, seed) for seed in range(first, first + seeds)), strict=True):
        yield several[0].topic, list(several)


def _show(figures: Figures) -> None:
    lines = [f"{figures.web}: {figures.pages:,} pages, {figures.on_topic:,} of them on the topic"]
    for name, by_crawl in (("Recall", figures.recall), ("Harvest", figures.harvest)):
        rows = [
            [crawl, *(f"{mean:.3f}" + (f" ±{error:.3f}" if error is not None else "") for mean, error in values)]
            for crawl, values in by_crawl.items()
        ]
        lines += ["", f"{name} after a share of the pages", table(rows, ["crawl", *(f"{x} %" for x in AFTER)])]
    sys.stdout.write("\n".join([*lines, repeated(figures.seeds, "seed")]) + "\n\n")
