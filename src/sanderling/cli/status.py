"""`sanderling status`: how far a crawl is."""

import argparse
import contextlib
import sys

import msgspec

from sanderling.cli import hosts
from sanderling.cli.folders import add_folder
from sanderling.cli.output import write_json
from sanderling.errors import RunFailed
from sanderling.model import name_share
from sanderling.presenting.screen import harmless, many, say, size
from sanderling.repository.folder import Folder, in_use
from sanderling.repository.opening import reading
from sanderling.repository.store import Notes
from sanderling.server.requests import remote
from sanderling.server.topic.topic import pages_by_topic


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser("status", description="Shows the progress of a crawl in figures.")
    add_folder(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object; with --hosts one per line")
    parser.add_argument(
        "--hosts", action="store_true", help="show what is known about each host and learned from its pages"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    with reading(options.dir) as (folder, store):
        if options.hosts:
            hosts.show(store, options.json)
            return 0
        counts = store.counts()
        running = in_use(folder)
        behind = _judged_before(folder, store)
    topics = pages_by_topic(folder)
    counts = counts.with_leases(counts.leased if running else 0)  # leases end with the process that gave them
    if options.json:
        table = {**msgspec.to_builtins(counts), "running": running} | ({"topics": topics} if topics else {})
        write_json(msgspec.json.encode(table))
        return 0
    rows = [
        ("running", "yes" if running else "no"),
        ("pages", f"{counts.pages:,}"),
        ("versions", f"{counts.versions:,}"),
        ("downloaded", size(counts.bytes)),
        ("known URLs", f"{counts.known:,}"),
        ("  queued", f"{counts.queued:,}"),
        ("  leased", f"{counts.leased:,}"),
        ("  fetched", f"{counts.fetched:,} ({counts.redirects:,} redirects)"),
        ("  failed", f"{counts.failed:,}"),
        ("  gone", f"{counts.gone:,}"),
        ("  excluded", f"{counts.excluded:,}"),
        ("  held back", f"{counts.held:,}"),
    ]
    rows += [("on a topic", f"{pages:,} {harmless(name)}") for name, pages in topics.items()]
    if counts.requisites:
        left = f", {counts.requisites_queued:,} queued" if counts.requisites_queued else ""
        rows.append(("beside pages", f"{many(counts.requisites, 'file')}{left}, {counts.requisites_failed:,} failed"))
    if running:
        with contextlib.suppress(remote.NotRunning, RunFailed):
            live = remote.look(options.dir, patience=1.0)
            rows.append(("names", f"{name_share(live):.1%} of the time of requests is spent on looking up names"))
    sys.stdout.write("".join(f"{name:14}{value}\n" for name, value in rows))
    if behind:
        say(f"{behind} `sanderling topic {options.dir} --judge` judges all again")
    return 0


def _judged_before(folder: Folder, store: Notes) -> str:
    """That the pages of a focused crawl were judged by another model than it has now."""
    if not folder.topic.exists():
        return ""
    from sanderling.server.topic import rejudging
    from sanderling.topics.model import read

    return rejudging.said(store, read(folder.topic))
