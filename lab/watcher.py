"""`sanderling lab watcher`: what is a report of the changed pages worth to a crawler, and what does
it cost?

--experiment 5 (default): a news site is served over HTTP for some days. On each day some of its
pages change and some are added, the announcer runs (`sanderling announce`), and then each policy
visits the site once with `sanderling refresh`:

  uniform          all pages
  by rank          the pages whose rank reaches a threshold
  top levels       the pages of the first N levels
  watcher          what the report names, and nothing else, as published
  optimal          Sanderling's own policy, with a budget of visits a day;
                   without the report, with it, with a report that lies, and
                   with an announcer that dies

Found is the share of the pages updated on a day that the visit of that day fetched. Time is from
the first request to the last. On the first days (--learning) all pages are visited, so that every
policy knows how often they change; these days are not counted. "Best" is the threshold that finds
most, as in the published experiment. "Time for each" is the time for each updated page that was
found. Intervals are at 95 %, over the days.

--experiment 1: the share of pages that is updated on a day, for sites that change as seven
published ones did; the announcer counts.

--experiment 3: what the announcer costs the machine of a site of 10,000, 100,000 or more pages
(--sizes).
"""

import argparse

from lab import announcer_cost, revisits, updated_sites
from sanderling.presenting.arguments import count, pathname, positive, share

_EXPERIMENTS = {1: updated_sites.run, 3: announcer_cost.run, 5: revisits.run}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--experiment", type=int, choices=_EXPERIMENTS, default=5, help="of the published ones (default: 5)"
    )
    parser.add_argument("--pages", type=positive, default=2000, help="pages of the site (default: 2000)")
    parser.add_argument("--days", type=positive, default=7, help="days that count (default: 7)")
    parser.add_argument(
        "--learning", type=positive, default=7, help="days before them, on which all pages are visited (default: 7)"
    )
    parser.add_argument("--daily", type=share, default=0.03, help="share of pages updated on a day (default: 0.03)")
    parser.add_argument(
        "--budget", type=share, default=0.2, help="visits a day of optimal, as a share of the pages (default: 0.2)"
    )
    parser.add_argument(
        "--thresholds",
        type=share,
        nargs="+",
        default=revisits.THRESHOLDS,
        metavar="R",
        help="ranks to try (default: 0.35 0.42 0.5)",
    )
    parser.add_argument(
        "--levels",
        type=positive,
        nargs="+",
        default=revisits.LEVELS,
        metavar="N",
        help="levels to try (default: 2 4 6)",
    )
    parser.add_argument("--latency", type=positive, default=30, help="milliseconds for each answer (default: 30)")
    parser.add_argument(
        "--sizes", type=positive, nargs="+", default=[10_000, 100_000], metavar="N",
        help="experiment 3: pages of the sites (default: 10000 100000)",
    )  # fmt: skip
    parser.add_argument("--small", action="store_true", help="experiment 3: the package sanderling-announce alone")
    parser.add_argument(
        "--seconds",
        type=positive,
        default=30,
        help="experiment 3: how long to look, idle and with changes (default: 30)",
    )
    parser.add_argument("--on", type=pathname, metavar="DIR", help="experiments 1 and 3: where the sites are written")
    parser.add_argument("--seed", type=count, default=1, help="another site (default: 1)")
    parser.add_argument("--plot", type=pathname, metavar="FILE", help="save times and shares found as .svg")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(options: argparse.Namespace) -> int:
    return _EXPERIMENTS[options.experiment](options)
