"""`sanderling lab freshness`: how fresh each revisit policy keeps a collection, at equal budgets.

A run has one or several scenarios:

  simulated   synthetic pages that change in one of several ways
  served      a synthetic site on a real HTTP server, kept fresh by
              `sanderling refresh` in accelerated time
  history     the changes of real sites (--history FILE.csv or .csv.gz with
              page,event,at,text_changed,main_changed)
  revisit     the published experiment of a crawler with a watcher: the time of
              a revisit, and the share of updated pages it finds

With several budgets, the tables also say how many visits each policy needs for the freshness that
uniform has at the first budget.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise

import numpy as np

from lab.confidence import repeated
from lab.simulation.history import COLUMNS, HistoryError, PageHistory, read
from lab.simulation.pickers import PICKERS
from lab.simulation.replay import ReplayResult, replay
from lab.simulation.revisit import revisit
from lab.simulation.synthetic import SITES
from sanderling.errors import UsageError
from sanderling.freshness.importance import importance
from sanderling.freshness.policies import POLICIES
from sanderling.presenting.arguments import count, pathname, positive
from sanderling.presenting.plot import plot, save_png, table

_BUDGETS = {"simulated": (0.01, 0.02, 0.05, 0.1), "served": (0.05, 0.1, 0.2), "history": (0.05,)}
# The time that the served site is kept fresh, and the refreshes in it.
_DAYS, _ROUNDS = 30, 10


@dataclass(frozen=True)
class ScenarioResult:
    """The results of one scenario on one collection."""

    source: str
    pages: int
    changes: int
    results: list[ReplayResult]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--scenario", nargs="+", choices=["simulated", "served", "history", "revisit"], metavar="WHICH",
        help="simulated, served, history, revisit (default: history when there is one, else simulated)",
    )  # fmt: skip
    parser.add_argument(
        "--history", type=pathname, nargs="+", default=[], metavar="FILE", help="when the pages of a real site changed"
    )
    parser.add_argument(
        "--synthetic", choices=SITES, default="poisson", metavar="KIND",
        help=f"how simulated pages change: {', '.join(SITES)} (default: poisson)",
    )  # fmt: skip
    parser.add_argument(
        "--pages", type=positive, default=300, metavar="N", help="pages of the served site (default: 300)"
    )
    parser.add_argument("--column", choices=COLUMNS, default="text_changed", help="the changes that count")
    parser.add_argument(
        "--budget", type=float, nargs="+", metavar="VISITS", help="visits a page a day; several for a curve"
    )
    parser.add_argument(
        "--policy",
        nargs="+",
        choices=PICKERS,
        default=list(PICKERS),
        metavar="POLICY",
        help=f"the policies to compare: {', '.join(PICKERS)} (default: all)",
    )
    parser.add_argument("--weights", choices=["equal", "depth"], default="equal", help="the importance of pages")
    parser.add_argument("--seed", type=count, default=1, metavar="N", help="random seed of the synthetic pages")
    parser.add_argument("--plot", type=pathname, metavar="FILE", help="save the plot to a PNG (needs matplotlib)")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")


def run(args: argparse.Namespace) -> int:
    for budget in args.budget or ():
        if not (budget >= 0 and math.isfinite(budget)):
            raise UsageError(f"--budget {budget}: visits a page a day cannot be negative or infinite")
    scenarios = args.scenario or (["history"] if args.history else ["simulated"])
    if "history" in scenarios and not args.history:
        raise UsageError("the scenario history needs a --history FILE")
    answers: list[dict[str, object]] = []
    for scenario in scenarios:
        if scenario == "revisit":
            answers.append(_revisit(args))
            continue
        for part in {"simulated": _simulated, "served": _served, "history": _histories}[scenario](args):
            answers.append(_answer(args, scenario, part))
            if not args.json:
                _print_tables(args, part)
    if args.json:
        _say(json.dumps(answers[0] if len(answers) == 1 else {"scenarios": answers}, indent=2))
    return 0


def _simulated(args: argparse.Namespace) -> Iterator[ScenarioResult]:
    pages = SITES[args.synthetic](args.seed)
    yield _replayed(args, f"synthetic {args.synthetic}, seed {args.seed}", pages, args.budget or _BUDGETS["simulated"])


def _histories(args: argparse.Namespace) -> Iterator[ScenarioResult]:
    for path in args.history:
        try:
            pages = read(path, args.column)
        except HistoryError as error:
            raise UsageError(str(error)) from None
        yield _replayed(args, str(path), pages, args.budget or _BUDGETS["history"])


def _served(args: argparse.Namespace) -> Iterator[ScenarioResult]:
    # Imported only here: the other scenarios need no server.
    from lab.served import KeptSite

    policies = [policy for policy in args.policy if policy in POLICIES]
    with KeptSite(args.pages, args.seed, _DAYS, _ROUNDS) as site:
        results = []
        for budget in args.budget or _BUDGETS["served"]:
            for policy in policies:
                _progress(policy, budget)
                results.append(site.keep(policy, budget))
        source = f"served over HTTP for {_DAYS} days in {_ROUNDS} rounds, seed {args.seed}"
        yield ScenarioResult(source, len(site.truth.urls), site.truth.happened, results)


def _replayed(
    args: argparse.Namespace, source: str, pages: Sequence[PageHistory], budgets: Sequence[float]
) -> ScenarioResult:
    depth = np.array([page.url.count("/") for page in pages])
    weight = importance(np.nan, depth) if args.weights == "depth" else np.ones(len(pages))
    results = []
    for budget in budgets:
        for policy in args.policy:
            _progress(policy, budget)
            results.append(replay(pages, policy, budget, weight))
    return ScenarioResult(source, len(pages), sum(len(page.changes) for page in pages), results)


def _progress(policy: str, budget: float) -> None:
    print(f"{policy}, {budget:g} visits a page a day ...", file=sys.stderr, flush=True)  # noqa: T201


def _answer(args: argparse.Namespace, scenario: str, part: ScenarioResult) -> dict[str, object]:
    answer: dict[str, object] = {
        "scenario": scenario, "source": part.source, "column": args.column, "pages": part.pages,
        "changes": part.changes, "policies": [asdict(result) for result in part.results],
    }  # fmt: skip
    if len({result.budget for result in part.results}) > 1:
        answer["visits_for_equal_freshness"] = _visits_needed(part.results)
    return answer


def _print_tables(args: argparse.Namespace, part: ScenarioResult) -> None:
    results, budgets = part.results, {result.budget for result in part.results}
    _say(f"\n{part.source}: {part.pages:,} pages, {part.changes:,} changes")
    if 0 in budgets:
        _say("With a budget of 0 nothing is ever visited, so nothing is fresh.")
    header = ["budget", "policy", "freshness", "weighted", "age (days)", "caught", "visits"]
    rows = [[r.budget, r.policy, r.freshness, r.weighted, r.age, r.caught, r.visits] for r in results]
    if any(r.predicted is not None for r in results):
        header += ["believed", "true then"]
        for row, r in zip(rows, results, strict=True):
            row += ["-" if r.predicted is None else r.predicted, "-" if r.true_then is None else r.true_then]
    _say(table(rows, header))
    _say(repeated(1, "run of each policy"))
    if len(budgets) > 1:
        curves = {
            p: [(r.budget, r.freshness) for r in results if r.policy == p]
            for p in dict.fromkeys(r.policy for r in results)
        }
        _say("\n" + plot(curves, "visits a page a day", "freshness"))
        if args.plot and not save_png(curves, "visits a page a day", "freshness", args.plot):
            _say("No PNG: matplotlib is not installed.")
        needed = _visits_needed(results)
        if needed:
            _say("\nVisits for the freshness that uniform has at the first budget:")
            _say(table([[p, "-" if n is None else n] for p, n in needed.items()], ["policy", "visits"]))


def _visits_needed(results: Sequence[ReplayResult]) -> dict[str, float | None]:
    """Interpolates on the curve of each policy, and extrapolates a little. None where that would be
    a guess."""
    reference = next((r.freshness for r in results if r.policy == "uniform" and r.budget > 0), None)
    needed: dict[str, float | None] = {}
    for policy in dict.fromkeys(r.policy for r in results) if reference is not None else ():
        points = sorted((r.freshness, math.log(r.visits)) for r in results if r.policy == policy and r.visits)
        needed[policy] = _cross(points, reference or 0.0)
    return needed


def _cross(points: Sequence[tuple[float, float]], freshness: float) -> float | None:
    if len(points) < 2:
        return None
    pairs = list(pairwise(points))
    (x0, y0), (x1, y1) = next((pair for pair in pairs if freshness <= pair[1][0]), pairs[-1])
    if x1 - x0 < 1e-9:
        return None
    share = (freshness - x0) / (x1 - x0)
    return round(math.exp(y0 + share * (y1 - y0))) if -1 <= share <= 1.5 else None


def _revisit(args: argparse.Namespace) -> dict[str, object]:
    rounds = revisit(args.seed)
    if not args.json:
        rows = [[one.policy, one.visits, one.seconds, one.found] for one in rounds]
        _say("\nrevisits of a news site, a round a day")
        _say(table(rows, ["policy", "visits a round", "seconds a round", "updated pages found"]))
    return {"scenario": "revisit", "policies": [asdict(one) for one in rounds]}


def _say(text: str) -> None:
    print(text)  # noqa: T201
