"""`sanderling lab freshness`: how fresh each policy of revisiting keeps a collection, at equal budgets.

On a real history (--history FILE.csv or .csv.gz: page,event,at,text_changed,main_changed), or on synthetic pages of
several tempers; --scenario revisit repeats the experiment of the watcher-based crawler instead: the time a revisit
of a site takes, and the share of updated pages it finds. With several budgets the table also says how many visits
each policy needs to be as fresh as uniform is at the first of them.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Sequence
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path

import numpy as np

from sanderling.errors import UsageError
from sanderling.freshness.importance import importance
from sanderling.freshness.simulation.history import COLUMNS, HistoryError, PageHistory, read
from sanderling.freshness.simulation.pickers import PICKERS
from sanderling.freshness.simulation.replay import Result, replay
from sanderling.freshness.simulation.revisit import revisit
from sanderling.freshness.simulation.synthetic import TEMPERS
from sanderling.lab.plot import plot, save_png, table

_SYNTHETIC_BUDGETS = (0.01, 0.02, 0.05, 0.1)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    source = parser.add_mutually_exclusive_group()
    source.add_argument("--history", type=Path, metavar="FILE", help="when the pages of a real site changed")
    source.add_argument("--synthetic", choices=TEMPERS, default="poisson", help="the temper of synthetic pages")
    source.add_argument("--scenario", choices=["revisit"], help="a published experiment instead")
    parser.add_argument("--column", choices=COLUMNS, default="text_changed", help="the changes that count")
    parser.add_argument(
        "--budget", type=float, nargs="+", metavar="VISITS", help="visits a page a day; several for a curve"
    )
    parser.add_argument("--policy", nargs="+", choices=PICKERS, default=list(PICKERS), metavar="POLICY")
    parser.add_argument("--weights", choices=["equal", "depth"], default="equal", help="what pages are worth")
    parser.add_argument("--seed", type=int, default=1, help="of the synthetic pages")
    parser.add_argument("--png", type=Path, metavar="FILE", help="save the plot, where matplotlib is installed")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")


def run(args: argparse.Namespace) -> int:
    if args.scenario == "revisit":
        return _revisit(args)
    budgets = args.budget or ([0.05] if args.history else list(_SYNTHETIC_BUDGETS))
    for budget in budgets:
        if not (budget >= 0 and math.isfinite(budget)):
            raise UsageError(f"--budget {budget}: visits a page a day cannot be negative or infinite")
    try:
        pages = read(args.history, args.column) if args.history else TEMPERS[args.synthetic](args.seed)
    except HistoryError as error:
        raise UsageError(str(error)) from None
    results = [_replay(pages, policy, budget, args.weights) for budget in budgets for policy in args.policy]
    if args.json:
        _print_json(args, pages, budgets, results)
    else:
        _print_tables(args, pages, budgets, results)
    return 0


def _replay(pages: Sequence[PageHistory], policy: str, budget: float, weights: str) -> Result:
    print(f"{policy}, {budget:g} visits a page a day ...", file=sys.stderr, flush=True)  # noqa: T201
    depth = np.array([page.url.count("/") for page in pages])
    weight = importance(np.nan, depth) if weights == "depth" else np.ones(len(pages))
    return replay(pages, policy, budget, weight)


def _print_json(
    args: argparse.Namespace, pages: Sequence[PageHistory], budgets: Sequence[float], results: Sequence[Result]
) -> None:
    answer: dict[str, object] = {
        "source": str(args.history) if args.history else f"synthetic {args.synthetic}, seed {args.seed}",
        "column": args.column,
        "pages": len(pages),
        "changes": sum(len(page.changes) for page in pages),
        "policies": [asdict(result) for result in results],
    }
    if len(budgets) > 1:
        answer["visits_for_equal_freshness"] = _visits_needed(results)
    _say(json.dumps(answer, indent=2))


def _print_tables(
    args: argparse.Namespace, pages: Sequence[PageHistory], budgets: Sequence[float], results: Sequence[Result]
) -> None:
    _say(f"{len(pages):,} pages, {sum(len(page.changes) for page in pages):,} changes")
    if 0 in budgets:
        _say("With a budget of 0 nothing is ever visited, so nothing is fresh.")
    header = ["budget", "policy", "freshness", "weighted", "age (days)", "caught", "visits"]
    rows = [[r.budget, r.policy, r.freshness, r.weighted, r.age, r.caught, r.visits] for r in results]
    _say(table(rows, header))
    if len(budgets) > 1:
        curves = {p: [(r.budget, r.freshness) for r in results if r.policy == p] for p in args.policy}
        _say("\n" + plot(curves, "visits a page a day", "freshness"))
        if args.png and not save_png(curves, "visits a page a day", "freshness", args.png):
            _say("No PNG: matplotlib is not installed.")
        needed = _visits_needed(results)
        if needed:
            _say("\nVisits for the freshness that uniform has at the first budget:")
            _say(table([[p, "-" if n is None else n] for p, n in needed.items()], ["policy", "visits"]))


def _visits_needed(results: Sequence[Result]) -> dict[str, float | None]:
    """By interpolation on the curve of each policy, and a little beyond its ends; None where it would be a guess."""
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


def _revisit(args: argparse.Namespace) -> int:
    rounds = revisit(args.seed)
    if args.json:
        _say(json.dumps({"policies": [asdict(one) for one in rounds]}, indent=2))
    else:
        rows = [[one.policy, one.visits, one.seconds, one.found] for one in rounds]
        _say(table(rows, ["policy", "visits a round", "seconds a round", "updated pages found"]))
    return 0


def _say(text: str) -> None:
    print(text)  # noqa: T201
