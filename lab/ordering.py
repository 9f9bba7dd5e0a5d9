"""`sanderling lab ordering`: which order of visits fetches the important pages first?

It simulates crawls of a web with a known link graph, in each order that `crawl --order` offers. As
in a real crawl, the queue is ranked again whenever the crawl has grown by a tenth, and new URLs get
a rank by their depth until then. The figures are the share of the final PageRank in the fetched
pages, after 10, 20, 30 and 50 % of all pages. The queue is served best first, and from three lists
at 4:2:1 as the distributor does. "ideal" knows the final PageRank from the start. Each figure is
the mean of three crawls with different orders of URLs with equal ranks.

Then teams of crawlers crawl the same web: crawlers that share nothing, that keep to their own
sites, that ask a server for every page, and that lease pages in batches as Sanderling's clients do.
"""

import argparse
import sys
from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from lab import parallel, webs
from sanderling.arrays import Floats
from sanderling.graph import pagerank
from sanderling.model import State
from sanderling.presenting.arguments import pathname, positive
from sanderling.presenting.plot import plot, require_png, save_png, table
from sanderling.server.frontier.distributor import TURNS, Cuts, cuts
from sanderling.server.ranking.order import Snapshot, breadth_first
from sanderling.server.ranking.orders import scores
from sanderling.server.ranking.reranker import FEWEST_PAGES, GROWTH
from sanderling.server.ranking.snapshot import newcomers
from sanderling.settings import ORDERS as ALL_ORDERS

AFTER = (10, 20, 30, 50)
# The order of URLs with equal ranks is random. It changes the share of a single crawl by about
# 0.02.
REPEATS = 3
_CURVE = range(0, 101, 4)

# The order of a focused crawl is another experiment (`lab focus`).
ORDERS = {name: order for name, order in ALL_ORDERS.items() if name != "topic"}

_X, _Y = "% of the pages fetched", "share of the final PageRank"

Curves = dict[str, dict[str, Floats]]


class PaperCrawl:
    """A simulated crawl of a known graph. It uses only what a crawler would know at that time."""

    def __init__(self, web: webs.Web, order: str, lists: bool, seed: int = 0) -> None:
        self._web, self._order, self._lists = web, order, lists
        count = len(web.graph.ids)
        # Ids are hashes, so URLs with equal ranks are in random order.
        self._tie = np.random.default_rng(seed).permutation(count).tolist()
        self._depth = np.zeros(count, np.int32)
        self._known = np.zeros(count, np.bool_)
        self._visited = np.zeros(count)
        self._cuts = Cuts(-np.inf, -np.inf)
        self._newcomers: list[float] = []
        self._heaps: list[list[tuple[float, int, int]]] = [[], [], []]
        self._admit(np.array(web.seeds), 0)

    def run(self) -> list[int]:
        """All pages in the order of their visits."""
        visits: list[int] = []
        again = float(FEWEST_PAGES)
        while any(self._heaps):
            if len(visits) >= again:
                self._rescore()
                again = len(visits) * (1 + GROWTH)
            page = self._next(len(visits))
            visits.append(page)
            self._visited[page] = len(visits)
            links = self._web.graph.links_of(page)
            self._admit(links[~self._known[links]], int(self._depth[page]) + 1)
        return visits

    def _next(self, number: int) -> int:
        heap = self._heaps[TURNS[number % len(TURNS)]] or next(heap for heap in self._heaps if heap)
        return heappop(heap)[2]

    def _admit(self, pages: NDArray[Any], depth: int) -> None:
        self._known[pages] = True
        self._depth[pages] = depth
        rank = breadth_first(depth)
        if self._newcomers and ORDERS[self._order].scored:
            rank = self._newcomers[min(depth, len(self._newcomers) - 1)]
        heap = self._heaps[self._cuts.list_of(rank) - 1 if self._lists else 0]
        for page in pages.tolist():
            heappush(heap, (-rank, self._tie[page], page))

    def _rescore(self) -> None:
        known, visited = self._known, self._visited > 0
        web = self._web
        snapshot = Snapshot(
            webs.part(web.graph, known, visited),
            self._depth[known],
            np.where(visited[known], State.FETCHED, State.QUEUED).astype(np.int8),
            web.host[known],
            web.shape[known],
            self._visited[known],
            np.zeros(int(known.sum())),
            np.zeros(int(known.sum())),
        )
        score = scores(self._order, snapshot)
        self._newcomers = newcomers(snapshot, score)
        queued = np.flatnonzero(known)[snapshot.queued].tolist()
        ranks = score[snapshot.queued].tolist()
        self._cuts = cuts(ranks)
        self._heaps = [[], [], []]
        for page, rank in zip(queued, ranks, strict=True):
            self._heaps[self._cuts.list_of(rank) - 1 if self._lists else 0].append((-rank, self._tie[page], page))
        for heap in self._heaps:
            heapify(heap)


def gathered(visits: Sequence[int], worth: Floats) -> Floats:
    """The share of all worth that is fetched after 0, 1, 2 ... visits."""
    return np.asarray(np.concatenate([[0.0], np.cumsum(worth[list(visits)])]) / worth.sum(), np.float64)


def at_percent(curve: Floats, percent: float) -> float:
    return float(curve[round((len(curve) - 1) * percent / 100)])


def compare(web: webs.Web) -> Curves:
    """The whole curve for each way of serving the queue and each order."""
    worth = pagerank(web.graph, tolerance=1e-8)
    ideal = gathered(np.argsort(-worth, kind="stable").tolist(), worth)
    found: Curves = {"best first": {}, "three lists": {}}
    for serving, curves in found.items():
        for order in ORDERS:
            runs = [PaperCrawl(web, order, serving == "three lists", seed).run() for seed in range(REPEATS)]
            curves[order] = np.asarray(np.mean([gathered(run, worth) for run in runs], axis=0))
        curves["ideal"] = ideal
    return found


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--web", action="append", metavar="WEB",
        help="synthetic (the default), docs (the documentation web of the bench), or a crawl folder; repeatable",
    )  # fmt: skip
    parser.add_argument(
        "--crawlers", type=positive, default=8, metavar="N", help="crawlers in the second experiment (default: 8)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--plot", type=pathname, metavar="FILE", help="also save the plot of the first web to a PNG")


def run(options: argparse.Namespace) -> int:
    if options.plot is not None:
        require_png(options.plot)
    reports: list[dict[str, Any]] = []
    all_curves: list[Curves] = []
    for name in options.web or ["synthetic"]:
        for number, web in enumerate(webs.find(name)):
            curves = compare(web)
            teams = parallel.compare(web, max(1, options.crawlers)) if not number else []
            all_curves.append(curves)
            reports.append(_report(web, curves, teams))
            if not options.json:
                _show(web, curves, teams)
    means = mean_shares(all_curves)
    best = {serving: max(ORDERS, key=by_order.__getitem__) for serving, by_order in means.items()}
    if options.json:
        sys.stdout.write(msgspec.json.encode({"webs": reports, "mean": means, "winner": best}).decode() + "\n")
    elif len(all_curves) > 1:
        rows = [[order, *(means[serving][order] for serving in means)] for order in means["best first"]]
        sys.stdout.write(f"Mean of all shares on these {len(all_curves)} webs\n{table(rows, ['order', *means])}\n")
    if not options.json:
        sys.stdout.write("Each web was crawled once by each order: no interval.\n")
    if options.plot is not None:
        save_png(_series(all_curves[0]), _X, _Y, options.plot)
    return 0


def mean_shares(found: Sequence[Curves]) -> dict[str, dict[str, float]]:
    """The mean over all webs and all points of the table, for each way of serving the queue and
    each order."""
    return {
        serving: {
            order: float(np.mean([at_percent(curves[serving][order], x) for curves in found for x in AFTER]))
            for order in by_order
        }
        for serving, by_order in found[0].items()
    }


def _series(curves: Curves) -> dict[str, list[tuple[float, float]]]:
    return {order: [(float(x), at_percent(curve, x)) for x in _CURVE] for order, curve in curves["best first"].items()}


def _report(web: webs.Web, curves: Curves, teams: list[parallel.TeamOutcome]) -> dict[str, Any]:
    return {
        "web": web.name,
        "pages": len(web.graph.ids),
        "links": len(web.graph.targets),
        "orders": {
            serving: {
                order: {str(x): round(at_percent(curve, x), 4) for x in AFTER} for order, curve in by_order.items()
            }
            for serving, by_order in curves.items()
        },
        "parallel": [msgspec.to_builtins(team) for team in teams],
    }


def _show(web: webs.Web, curves: Curves, teams: list[parallel.TeamOutcome]) -> None:
    lines = [f"{web.name}: {len(web.graph.ids):,} pages, {len(web.graph.targets):,} links"]
    for serving, by_order in curves.items():
        rows = [[order, *(at_percent(curve, x) for x in AFTER)] for order, curve in by_order.items()]
        lines += [
            "",
            f"Share of the final PageRank fetched, {serving}",
            table(rows, ["order", *(f"{x} %" for x in AFTER)]),
        ]
    lines += ["", plot(_series(curves), _X, _Y)]
    if teams:
        lines += ["", "As many downloads as there are pages, by crawlers that order by known back links"]
        rows = [list(msgspec.structs.astuple(team)) for team in teams]
        lines.append(table(rows, [name.replace("_", " ") for name in parallel.TeamOutcome.__struct_fields__]))
    sys.stdout.write("\n".join(lines) + "\n\n")
