"""`sanderling refresh`: visits again what deserves it, within a budget."""

import argparse
import json
import signal
import sys
from pathlib import Path
from typing import Any

import msgspec

from sanderling.cli.crawl import add_settings, chosen_settings, serving, watch, what_was_found
from sanderling.cli.folders import add_folder
from sanderling.cli.output import write_json
from sanderling.cli.progress import PLAIN_EVERY, RevisitDisplay
from sanderling.errors import UsageError
from sanderling.freshness.policies import POLICIES, is_policy
from sanderling.model import Counts
from sanderling.plugins import REVISIT_POLICIES, offers
from sanderling.presenting.screen import many, say, size
from sanderling.repository.folder import Folder
from sanderling.repository.opening import open_store, settings_for
from sanderling.server.requests.status import CrawlProgress
from sanderling.server.revisits.terms import OBJECTIVES, Budget, Terms, read_budget

_ABOUT = """Revisits the pages of a crawl that have probably changed, within a budget, and fetches only what changed.

Examples:
  sanderling refresh example                  a tenth of the pages, at least 100
  sanderling refresh example --budget 500     500 visits
  sanderling refresh example --budget 50MB    as many as 50 MB allow
  sanderling refresh example --budget 2000/h --forever
                                              a service that keeps it fresh
  sanderling refresh example --policy all     everything, like `crawl --again`
"""

_SHARE, _FEWEST = 0.1, 100
# Seconds between two lines in the log of a service.
_SELDOM = 300.0


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "refresh", description=_ABOUT,
        usage="sanderling refresh DIR [--budget N] [options]",
    )  # fmt: skip
    add_folder(parser)
    parser.add_argument(
        "--budget", metavar="N", help="visits (500) or bytes (50MB), at once or per time (2000/h, 50MB/h)"
    )
    parser.add_argument(
        "--policy", default="optimal", metavar="WHICH",
        help=f"which pages to revisit: {', '.join(POLICIES)}, or one of an installed package (default: optimal)",
    )  # fmt: skip
    parser.add_argument(
        "--threshold", type=float, metavar="R",
        help="with --policy by-rank: visit pages of this rank or more, from 0 to 1 (default: 0.5)",
    )  # fmt: skip
    parser.add_argument(
        "--top-levels", type=int, metavar="N",
        help="with --policy top-levels: visit pages up to N steps from a seed (default: 2)",
    )  # fmt: skip
    parser.add_argument(
        "--objective", choices=OBJECTIVES, default="freshness",
        help="what to maximise: fresh copies or the number of changes seen (default: freshness)",
    )  # fmt: skip
    parser.add_argument("--forever", action="store_true", help="run until stopped, at the rate of the budget")
    parser.add_argument("--json", action="store_true", help="print the summary as one JSON object")
    add_settings(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    _check_policy(options.policy)
    budget = read_budget(options.budget) if options.budget is not None else None
    everything = options.policy == "all"
    if everything and (budget or options.forever):
        raise UsageError("--policy all visits every page once and takes no budget: use --policy uniform with a budget")
    if options.forever and (budget is None or not budget.period):
        raise UsageError("--forever needs a budget per time, such as --budget 2000/h")
    limits = _limits(options)
    folder = Folder(options.dir)
    folder.require()
    settings, seeds = settings_for(folder, chosen_settings(options))
    budget = budget or _usual_budget(folder)
    terms = Terms(
        budget,
        options.policy,
        options.objective,
        options.forever,
        settings.sitemaps and settings.max_depth is None,
        **limits,
    )
    with serving(folder, settings, seeds, everything, None if everything else terms) as server:
        for line in server.repaired:
            say(line)
        before = msgspec.structs.replace(server.progress().counts)
        progress, interrupted = watch(server, _Display(before, PLAIN_EVERY if not options.forever else _SELDOM))
        machines = msgspec.to_builtins(server.machines)
    if options.json:
        summary = _summary(folder.path, terms, before, progress)
        write_json(json.dumps({**summary, "machines": machines} if machines else summary))
    else:
        sys.stdout.write(_told(folder.path, before, progress))
    # A service is stopped by a signal as a matter of course.
    return 0 if options.forever and interrupted == 128 + signal.SIGTERM else interrupted


def _check_policy(name: str) -> None:
    if not is_policy(name):
        raise UsageError(f"--policy {name!r} is not one of {', '.join([*POLICIES, *offers(REVISIT_POLICIES)])}")


def _limits(options: argparse.Namespace) -> dict[str, Any]:
    """The limits of the policies that have one."""
    for name, policy, is_wrong, values in (
        ("threshold", "by-rank", lambda given: not 0 <= given <= 1, "from 0 to 1"),
        ("top_levels", "top-levels", lambda given: given < 0, "0 or more"),
    ):
        given, flag = getattr(options, name), "--" + name.replace("_", "-")
        if given is not None and options.policy != policy:
            raise UsageError(f"{flag} is for --policy {policy}, not for {options.policy}")
        if given is not None and is_wrong(given):
            raise UsageError(f"{flag} {given}: it has to be {values}")
    limits = {"threshold": options.threshold, "levels": options.top_levels}
    return {name: given for name, given in limits.items() if given is not None}


class _Display(RevisitDisplay):
    """Shows how a refresh goes."""

    def line(self, progress: CrawlProgress) -> str:
        after, before, refresh = progress.counts, self._before, progress.refresh
        if refresh is None:
            return super().line(progress)
        if not refresh.planned:
            return "planning what to visit"
        parts = [
            f"freshness {refresh.freshness:.3f} (estimated)",
            many(after.visits - before.visits, "visit"),
            f"{after.changed - before.changed:,} changed",
            f"{after.pages - before.pages:,} new",
            f"{size(after.bytes - before.bytes)} fetched, {size(refresh.spared)} saved",
        ]
        return " · ".join([*parts, "the network is away"] if progress.away else parts)


def _usual_budget(folder: Folder) -> Budget:
    store = open_store(folder, readonly=True)
    try:
        return Budget(float(max(_FEWEST, round(store.counts().pages * _SHARE))))
    finally:
        store.close()


def _told(folder: Path, before: Counts, progress: CrawlProgress) -> str:
    told = what_was_found(before, progress, folder)
    refresh = progress.refresh
    if refresh is None or not refresh.planned:
        return told
    first, _, rest = told.partition("\n")
    return (
        f"{first}\n"
        f"estimated freshness of {many(refresh.pages, 'page')}: {refresh.before:.3f} before, {refresh.freshness:.3f} now; "
        f"{size(refresh.spared)} not fetched again\n{rest}"
    )


def _summary(folder: Path, terms: Terms, before: Counts, progress: CrawlProgress) -> dict[str, object]:
    after, refresh = progress.counts, progress.refresh
    found = {
        name: getattr(after, name) - getattr(before, name)
        for name in ("visits", "changed", "back", "quiet", "missed", "not_modified", "same", "bytes")
    }
    summary: dict[str, object] = {
        "folder": str(folder), "policy": terms.policy, "objective": terms.objective,
        "seconds": round(progress.seconds, 3), **found, "new": after.pages - before.pages, "gone": after.vanished - before.vanished, "pages": after.pages,
    }  # fmt: skip
    if refresh is not None:
        summary |= {
            "budget": {"amount": terms.budget.amount, "unit": terms.budget.unit, "period": terms.budget.period},
            "spent": refresh.spent, "bytes_saved": refresh.spared, "freshness_before": round(refresh.before, 6),
            "freshness": round(refresh.freshness, 6),
        }  # fmt: skip
    return summary
