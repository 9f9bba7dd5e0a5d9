"""`sanderling lab liars`: what does it cost when a source of hints lies or dies?

A report names the changed pages of a site for a month. Then it lies in one of several ways, or is
not written any more. Beliefs and plans are the real ones; the site is simulated: 150 pages, one
round of at most 15 visits a day. The table says how much fresher the copies are than those of a
crawler without the report that has the same site and budget, in points (0.01 of freshness): while
the report is true, in the first two weeks of its lies, and in the next two. Intervals are at 95 %,
over the sites.
"""

import argparse
import json
import sys

import numpy as np

from lab.confidence import half_width, mean
from lab.simulation.sources import CASES, LIAR, NOTHING, TURN, freshness
from sanderling.arrays import Floats
from sanderling.presenting.arguments import count, pathname, positive
from sanderling.presenting.plot import plot, save_svg, table

# The first days are for learning: they count in no column.
_LEARNING = 10
_WEEKS = 15
SPANS = {"while true": (_LEARNING, TURN), "first two weeks": (TURN, TURN + _WEEKS), "next two": (TURN + _WEEKS, None)}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--sites", type=positive, default=10, metavar="N", help="sites of each case (default: 10)")
    parser.add_argument("--seed", type=count, default=1, metavar="N", help="the first of the sites (default: 1)")
    parser.add_argument("--plot", type=pathname, metavar="FILE", help="save the freshness of each day as .svg")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(options: argparse.Namespace) -> int:
    seeds = range(options.seed, options.seed + options.sites)
    days = {}
    for case in (NOTHING, *CASES, LIAR):
        sys.stderr.write(f"sanderling: {case}\n")
        days[case] = np.array([freshness(case, seed) for seed in seeds])
    fresh = {case: found[:, 0].mean(axis=0) for case, found in days.items()}
    curves = {case: [(float(day), float(share)) for day, share in enumerate(each, 1)] for case, each in fresh.items()}
    if options.plot:
        save_svg(curves, "day", "freshness", options.plot)
    if options.json:
        sys.stdout.write(json.dumps({case: gains(found, days[NOTHING]) for case, found in days.items()}) + "\n")
        return 0
    sys.stdout.write(told(days) + "\n\n" + plot(curves, "day", "freshness") + "\n")
    return 0


def gains(found: Floats, alone: Floats) -> dict[str, list[float]]:
    """Points gained over the crawler that hears nothing, of each site, by span."""
    gained = (found[:, 0] - alone[:, 0]) * 100
    return {span: gained[:, slice(*days)].mean(axis=1).tolist() for span, days in SPANS.items()}


def told(days: dict[str, Floats]) -> str:
    rows = []
    for case, found in days.items():
        if case != NOTHING:
            gained = gains(found, days[NOTHING]).values()
            visits = found[:, 1, TURN:].mean()
            rows.append([case, *(f"{mean(each):+.1f} ± {half_width(each):.1f}" for each in gained), f"{visits:.1f}"])
    return table(rows, ["the report, after a month", *SPANS, "visits a day then"])
