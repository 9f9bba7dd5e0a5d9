"""`sanderling freshness`: how fresh the copy is believed to be, and what it takes to keep it so."""

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

from sanderling import clock
from sanderling.cli.folders import add_folder
from sanderling.cli.output import write_json
from sanderling.clock import DAY
from sanderling.errors import RunFailed, UsageError
from sanderling.freshness.collection import Believed, numbers_of
from sanderling.freshness.outlook import (
    SHORTEST_WATCH,
    BudgetValue,
    SignalDoubt,
    SourceBelief,
    budget_values,
    changes_a_day,
    doubts,
    fading,
    paces,
    rates_by_kind,
    source_beliefs,
    watched_days,
)
from sanderling.freshness.tallies import LONGEST
from sanderling.presenting.arguments import pathname
from sanderling.presenting.plot import plot, save_png, save_svg, table
from sanderling.presenting.screen import duration, harmless, many
from sanderling.presenting.versions import moment
from sanderling.repository.opening import reading
from sanderling.server.revisits.logbook import past
from sanderling.server.revisits.planner import Collection
from sanderling.server.revisits.rates import ReadRates, host_facts, page_facts, read_rates

# Hosts in the JSON object, those with most pages; `--by host` lists all.
MOST_HOSTS = 100

_ABOUT = """Shows the estimated freshness of the copy, how often its pages change, which hosts are not believed, and what a budget
of visits keeps fresh. Nothing is fetched.

With --by page or --by host it lists how often each changes: EB is the estimate that visits are planned by (Bayesian, from
visits to the page and to similar pages), EP that of counted visits and changes. Four of five times the truth lies between
low and high. Where a page has little history, similar pages (EB) or its host (EP) stand for it."""


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser("freshness", description=_ABOUT)
    add_folder(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--by", choices=("page", "host"), help="list the rates of all pages, or of all hosts")
    parser.add_argument(
        "--since",
        metavar="WHEN",
        help="count only visits since a day or in a time such as 180d (at most), in months of 30 days",
    )
    parser.add_argument(
        "--plot", type=pathname, metavar="FILE", help="save the curve as .svg, or with matplotlib as .png and others"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    now = clock.now() / DAY
    since = _since(options.since, now) if options.since else None
    with reading(options.dir) as (_, store):
        found = read_rates(store, now, since)
        collection, known = found.collection, found.known
        origins = {host.id: host.origin for host in store.hosts()}
        earlier = past(store)
    if options.by:
        _list(options, found, origins)
        return 0
    curve = budget_values(known)
    doubted = doubts(collection.hosts, float(known.rate.mean()) if len(known.rate) else 0.0)
    believed = source_beliefs(collection.hosts, collection.pages, known, now)
    if options.plot:
        _save(options.plot, curve)
    facts = _facts(collection, known)
    if options.json:
        facts |= {
            "rates": rates_by_kind(collection.pages),
            "paces": dict(paces(known)),
            "doubts": [{"host": origins.get(d.host, ""), "about": d.about, "why": d.why} for d in doubted],
            "sources": [
                {
                    **each._asdict(),
                    "host": origins.get(each.host, ""),
                    "heard": each.heard * DAY,
                    "taken": each.taken * DAY,
                }
                for each in believed
            ],
            "budgets": [bought._asdict() for bought in curve],
            "fading": fading(known),
            "hosts": host_facts(found, origins, MOST_HOSTS),
            "past": earlier,
        }
        write_json(json.dumps(facts))
    else:
        sys.stdout.write(_told(options.dir, collection, known, facts, curve, doubted, believed, origins))
    return 0


def _since(text: str, now: float) -> float:
    since = moment(text, now * DAY) / DAY
    if now - since > LONGEST + 1:
        raise UsageError(f"--since {text} is too long ago: visits are counted for {LONGEST:.0f} days")
    return since


def _list(options: argparse.Namespace, found: ReadRates, origins: dict[int, str]) -> None:
    """Rates by page or host: a JSON object a line, or a table."""
    facts = page_facts(found) if options.by == "page" else host_facts(found, origins)
    if options.json:
        for each in facts:
            write_json(json.dumps(each))
        return
    name = "url" if options.by == "page" else "host"
    rows = [
        [each["visits"], each["changes"], *_in_cells(each["eb"]), *_in_cells(each["ep"]), harmless(each[name])]
        for each in facts
    ]
    header = ["visits", "changes", "EB a day", "from", "to", "of", "EP a day", "from", "to", "of", name]
    sys.stdout.write(table(rows, header) + "\n" if rows else "no pages yet\n")


def _in_cells(estimate: dict[str, Any] | None) -> list[str]:
    if estimate is None:
        return ["", "", "", "not known"]
    numbers = [estimate["rate"], estimate["low"], estimate["high"]]
    return ["" if each is None else f"{each:.3g}" for each in numbers] + [estimate["of"]]


def _facts(collection: Collection, known: Believed) -> dict[str, Any]:
    weight = max(float(known.weight.sum()), 1e-12)
    pages = collection.pages
    changes = changes_a_day(known, pages)
    return {
        "pages": len(pages),
        "visited_again": int(numbers_of(pages)[:, 0].any(axis=1).sum()),
        "freshness": float(known.fresh.mean()) if len(pages) else 0.0,
        "weighted_freshness": float(known.weight @ known.fresh) / weight,
        "age_days": float(known.age.mean()) if len(pages) else 0.0,
        "changes_a_day": changes.expected,
        "changes_low": changes.low,
        "changes_high": changes.high,
        "watched_days": watched_days(pages),
    }


def _save(path: Path, curve: list[BudgetValue]) -> None:
    if path.suffix.lower() == ".svg":
        save_svg(_series(curve), "visits a day", "freshness", path)
    elif not save_png(_series(curve), "visits a day", "freshness", path):
        raise RunFailed(f"{path} cannot be drawn without matplotlib (`pip install matplotlib`); a .svg file can")


def _series(curve: list[BudgetValue]) -> dict[str, list[tuple[float, float]]]:
    return {
        "optimal": [(bought.visits, bought.optimal) for bought in curve],
        "uniform": [(bought.visits, bought.uniform) for bought in curve],
    }


def _changes(facts: dict[str, Any]) -> str:
    watched = facts["watched_days"]
    if not facts["visited_again"]:
        return "too early to tell how often they change: no page was visited again; the figures below are guesses"
    if watched < SHORTEST_WATCH:
        return (
            f"too early to tell how often they change: those visited again were watched for {duration(watched * DAY)} "
            "on average; the figures below are guesses until they were watched for a day"
        )
    return (
        f"about {facts['changes_a_day']:,.1f} changes a day are expected, "
        f"probably {facts['changes_low']:,.1f} to {facts['changes_high']:,.1f}"
    )


def _share(known: float | None) -> str:
    return "?" if known is None else f"{known:.0%}"


def _sources(believed: list[SourceBelief], origins: dict[int, str]) -> str:
    rows = [
        [
            harmless(origins.get(each.host, "")), each.source, each.named, _share(each.precision), _share(each.recall),
            "at once" if each.heeded else "as planned", each.young,
            f"{each.a_day:.1f}",
        ]
        for each in believed
    ]  # fmt: skip
    header = ["host", "source", "named", "true", "of changes", "named pages", "visits saved", "changes a day"]
    return table(rows, header)


def _told(
    folder: Path, collection: Collection, known: Believed, facts: dict[str, Any], curve: list[BudgetValue],
    doubted: list[SignalDoubt], believed: list[SourceBelief], origins: dict[int, str],
) -> str:  # fmt: skip
    if not facts["pages"]:
        return f"no pages in {folder} yet: `sanderling crawl -d {folder}` fetches some\n"
    lines = [
        f"{many(facts['pages'], 'page')}, {facts['visited_again']:,} of them visited again: believed to be "
        f"{facts['freshness']:.3f} fresh, {facts['weighted_freshness']:.3f} by importance; "
        f"what they miss is {facts['age_days']:.1f} days old",
        _changes(facts),
        "",
        table([[name, count] for name, count in paces(known)], ["change", "pages"]),
    ]
    if kinds := rates_by_kind(collection.pages):
        said = ", ".join(f"{kind} {rate:.3f}" for kind, rate in kinds.items())
        lines += ["", f"changes a day of a page visited again: {said}"]
    if believed:
        lines += ["", "sources that name pages, and how far they are believed:", _sources(believed, origins)]
        lines += [
            f"another crawler has reserved {harmless(origins.get(each.host, ''))} until "
            f"{time.strftime('%H:%M:%S', time.localtime(each.taken * DAY))}"
            for each in believed
            if each.taken * DAY > clock.now()
        ]
    if doubted:
        rows = [[harmless(origins.get(d.host, "")), d.about, d.why] for d in doubted]
        lines += ["", "not believed:", table(rows, ["host", "what it says", "why"])]
    lines += [
        "",
        "what a budget keeps fresh in the long run:",
        table([[round(b.visits), b.optimal, b.uniform] for b in curve], ["visits a day", "optimal", "uniform"]),
        "",
        plot(_series(curve), "visits a day", "freshness"),
        "",
        f"next: `sanderling refresh {folder} --budget {round(curve[min(3, len(curve) - 1)].visits)}`",
    ]
    return "\n".join(lines) + "\n"
