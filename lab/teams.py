"""`sanderling lab teams`: what do crawlers lose by repeated downloads, and what by messages?

It simulates teams on one web, for the same time, when each message takes time:

  independent   every crawler on its own; no messages
  dependent     before each page, a crawler asks all others
  seed-server   a server sends one URL at a time, after each page
  ours          leases of a hundred pages; asks before they are used up

All order their queues by the known back links. Downloads take 0.2 seconds on average, so that a
message of 0.2 seconds each way makes a question twice as long as a page. Pauses between the pages
of a host are left out: they are equal for all teams. "popular" is how often the five pages with the
most links to them were downloaded, on average.

Then two machines divide the web by its domains: 25 threads for .com, 10 for .edu, .net and .org.

At last ours on days two and three, when a watcher at each site reports which of its pages were
updated. Other teams know nothing of that and begin each day as the first.

Nothing is fetched: this is a model of the time that messages cost.

With `--real`, real clients fetch from a real web server on this computer, and a socket delays their
messages. A dependent crawler asks all others at the same time. `--crawlers 2 --connections 18` is
two machines with as many threads as above. `--kill-every` kills a client of ours again and again.
"""

import argparse
import sys
from typing import Any

import msgspec
import numpy as np

from lab import real_teams, webs
from lab.confidence import repeated
from lab.messaging import Costs, Reported, Served, Timed, crawl
from lab.parallel import BATCH
from sanderling.presenting.arguments import positive
from sanderling.presenting.plot import table

TEAMS = ("independent", "dependent", "seed-server", "ours")
MESSAGES = (0.01, 0.05, 0.2)
THREADS = (25, 10)
# The share of the pages that is updated in a day; `lab watcher` has the same.
UPDATED = 0.03
_COM = 7  # hosts of ten that are in .com; the others are in .edu, .net and .org, one each


class TeamResult(msgspec.Struct, frozen=True):
    """What a team did in the time."""

    team: str
    message: float
    downloads: int
    distinct: int
    mean: float  # downloads of a page that was downloaded at all
    popular: float
    most: int
    messages: int


class SplitPages(msgspec.Struct, frozen=True):
    """Two machines with parts of the web of their own: pages by the seed-server and by ours."""

    message: float
    seed_server: int
    ours: int
    factor: float


class LaterDay(msgspec.Struct, frozen=True):
    """What ours does on a day after the first, when watchers report which pages were updated."""

    day: int
    message: float
    updated: int
    downloads: int
    most: int  # downloads of one page
    seconds: float  # until the last one was fetched
    messages: int


def later_days(web: webs.Web, crawlers: int, seconds: float, message: float) -> list[LaterDay]:
    chance = np.random.default_rng(2)
    found = []
    for day in (2, 3):
        updated = np.flatnonzero(chance.random(len(web.graph.ids)) < UPDATED).tolist()
        crawling = Reported(web, Costs(message=message), crawlers, frozenset(updated))
        crawling.run(seconds)
        most = max(np.bincount(np.array(crawling.visits, np.int64)).tolist(), default=0)
        found.append(
            LaterDay(day, message, len(updated), len(crawling.visits), most, round(crawling.now, 1), crawling.messages)
        )
    return found


def compare(web: webs.Web, crawlers: int, seconds: float, message: float) -> list[TeamResult]:
    costs = Costs(message=message)
    return [_judge(team, crawl(team, web, costs, crawlers), seconds) for team in TEAMS]


def _judge(team: str, crawling: Timed, seconds: float) -> TeamResult:
    crawling.run(seconds)
    graph = crawling.web.graph
    times = np.bincount(np.array(crawling.visits, np.int64), minlength=len(graph.ids))
    distinct = int((times > 0).sum())
    popular = np.argsort(-graph.in_degree, kind="stable")[:5]
    return TeamResult(
        team=team,
        message=crawling.costs.message,
        downloads=len(crawling.visits),
        distinct=distinct,
        mean=round(len(crawling.visits) / max(distinct, 1), 2),
        popular=round(float(times[popular].mean()), 1),
        most=int(times.max()),
        messages=crawling.messages,
    )


def split(web: webs.Web, seconds: float, message: float) -> SplitPages:
    owner = [int(host % 10 >= _COM) for host in np.unique(web.host, return_inverse=True)[1].tolist()]
    one_by_one, ours = (
        _pages(Served(web, Costs(message=message), THREADS, batch, owner), seconds) for batch in (1, BATCH)
    )
    return SplitPages(message, one_by_one, ours, round(ours / max(one_by_one, 1), 2))


def _pages(crawling: Timed, seconds: float) -> int:
    crawling.run(seconds)
    return len(set(crawling.visits))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--crawlers", type=positive, default=50, metavar="N", help="crawlers of a team (default: 50)")
    parser.add_argument(
        "--seconds", type=positive, default=60, metavar="N", help="simulated time of each crawl (default: 60)"
    )
    parser.add_argument("--pages", type=positive, default=20_000, metavar="N", help="size of the web (default: 20000)")
    parser.add_argument(
        "--message", type=positive, nargs="+", metavar="MS", default=[round(1000 * each) for each in MESSAGES],
        help="milliseconds that a message takes, one way (default: 10 50 200)",
    )  # fmt: skip
    parser.add_argument(
        "--real", action="store_true", help="real clients and a real web server instead of a simulation"
    )
    parser.add_argument(
        "--connections", type=positive, default=1, metavar="N", help="with --real: of each crawler (default: 1)"
    )
    parser.add_argument(
        "--kill-every",
        type=positive,
        default=0,
        metavar="SECONDS",
        help="with --real: kill a client of ours, again and again",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(options: argparse.Namespace) -> int:
    return run_real(options) if options.real else run_simulated(options)


def run_real(options: argparse.Namespace) -> int:
    results = [
        each
        for milliseconds in options.message
        for each in real_teams.compare(
            options.crawlers,
            options.seconds,
            milliseconds / 1000,
            options.pages,
            options.connections,
            options.kill_every,
        )
    ]
    if options.json:
        sys.stdout.write(msgspec.json.encode({"teams": results}).decode() + "\n")
    else:
        sys.stdout.write(f"{options.crawlers} clients for {options.seconds} s\n{_tables(results)}\n")
        sys.stdout.write(repeated(1, "crawl of each team") + "\n")
    return 0


def run_simulated(options: argparse.Namespace) -> int:
    web = webs.synthetic(pages=options.pages)
    teams: list[TeamResult] = []
    splits: list[SplitPages] = []
    days: list[LaterDay] = []
    for message in (milliseconds / 1000 for milliseconds in options.message):
        teams += compare(web, options.crawlers, options.seconds, message)
        splits.append(split(web, options.seconds, message))
        days += later_days(web, options.crawlers, options.seconds, message)
    if options.json:
        shown = {
            "pages": len(web.graph.ids),
            "seconds": options.seconds,
            "teams": teams,
            "split": splits,
            "later": days,
        }
        sys.stdout.write(msgspec.json.encode(shown).decode() + "\n")
        return 0
    sys.stdout.write(
        f"{options.crawlers} crawlers on {len(web.graph.ids):,} pages for {options.seconds} s, simulated\n"
        f"{_tables(teams)}\n\n"
        f"Two machines, {THREADS[0]} threads for .com and {THREADS[1]} for .edu, .net and .org: distinct pages\n"
        f"{_tables(splits)}\n\n"
        f"Ours on days two and three, when watchers report updated pages\n{_tables(days)}\n{repeated(1, 'crawl of each team')}\n"
    )
    return 0


def _tables(results: list[TeamResult] | list[SplitPages] | list[LaterDay] | list[real_teams.RealTeam]) -> str:
    rows: list[list[Any]] = [list(msgspec.structs.astuple(each)) for each in results]
    return table(rows, [name.replace("_", " ") for name in results[0].__struct_fields__])
