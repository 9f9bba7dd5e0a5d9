"""`sanderling control`: look at a crawl that is running, pause, stop or change it, or have it visit
some URLs now."""

import argparse
import sys
from typing import Any, get_args

import msgspec

from sanderling.cli.folders import add_folder
from sanderling.cli.output import write_json
from sanderling.errors import UsageError
from sanderling.model import Action, ClientState, Command, Live, MachineState, name_share
from sanderling.presenting.screen import duration, harmless, harmless_json, many, size
from sanderling.repository.folder import Folder
from sanderling.server.requests import remote
from sanderling.server.requests.control import LIMITS, SCOPE
from sanderling.settings import DECLARED

ACTIONS = get_args(Action)

_ABOUT = """Watches and controls a running crawl from another terminal or program.

pause hands out no more pages; pages in flight are finished. A pause ends with `resume` or when the crawl ends. change
takes settings. They take effect at once and are kept in the folder's sanderling.toml. visit takes URLs in the scope of
the crawl, new or known. They are visited first, and do not wait for the budget of a refresh.

Examples:
  sanderling control example                        show its state
  sanderling control example pause
  sanderling control example change --max-pages 5000 --exclude '/tag/'
  sanderling control example visit https://example.org/news
"""


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "control", description=_ABOUT,
    )  # fmt: skip
    add_folder(parser)
    parser.add_argument("action", nargs="?", choices=["look", *ACTIONS], default="look")
    parser.add_argument("url", nargs="*", help="what to visit now, with the action visit")
    for each in DECLARED:
        if each.name in LIMITS + SCOPE:
            action = "append" if each.unit == "list" else "store"
            parser.add_argument(
                "--" + each.name.replace("_", "-"),
                dest=each.name,
                action=action,
                metavar=each.metavar,
                help=each.help,
            )
    parser.add_argument("--json", action="store_true", help="print the state as one JSON object")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    folder = Folder(options.dir)
    folder.require()
    changes: dict[str, Any] = {
        name: getattr(options, name) for name in LIMITS + SCOPE if getattr(options, name) is not None
    }
    if changes and options.action == "look":
        options.action = "change"
    if (options.action == "change") != bool(changes):
        raise UsageError(
            f"{options.action} takes no settings" if changes else "change takes settings, such as --max-pages 5000"
        )
    if (options.action == "visit") != bool(options.url):
        raise UsageError(
            f"{options.action} takes no URLs" if options.url else "visit takes URLs, such as https://example.org/news"
        )
    if options.action == "visit":
        return _visit(folder, options.url, options.json)
    if options.action == "look":
        live = remote.look(folder.path)
    else:
        live = remote.command(folder.path, Command(options.action, changes))
    sys.stdout.write(harmless_json(msgspec.json.encode(live).decode()) + "\n" if options.json else _said(live))
    return 0


def _visit(folder: Folder, urls: list[str], as_json: bool) -> int:
    """Fails when a URL is refused."""
    try:
        answer = remote.visit(folder.path, urls)
    except remote.NotRunning as error:
        raise remote.NotRunning(
            f"{error}: start one, for example with `sanderling refresh {folder.path} --forever --budget 100/h`, and ask again"
        ) from None
    if as_json:
        write_json(msgspec.json.encode(answer.replies))
    else:
        sys.stdout.write("".join(f"{harmless(each.url)}: {harmless(each.said)}\n" for each in answer.replies))
        if answer.live.paused:
            sys.stdout.write(f"The crawl is paused; `sanderling control {folder.path} resume` lets it go on.\n")
    return 0 if all(each.accepted for each in answer.replies) else 1


def _client(state: ClientState) -> str:
    failing = f", {state.failing:.0%} unanswered" if state.failing >= 0.01 else ""
    where = f" on {state.machine}" if state.machine else ""
    return f"{state.name}{where}: {state.visits_per_second:,.1f}/s, {size(state.bytes_per_second)}/s, {state.leased:,} leased{failing}"


def _machine(state: MachineState) -> str:
    away = ", away" if state.away else ""
    note = f" ({state.note})" if state.note else ""
    name = f"{'  ' * (state.level - 1)}{state.name}"
    if not (state.wanted or state.clients or state.bodies):
        return f"{name}: no clients{away}{note}"
    clients = f"{state.clients} of {many(state.wanted, 'client')}"
    return (
        f"{name}: {f'relay for {clients}' if state.relay else clients}{away}{note}, {state.holds:,} held, "
        f"{size(state.bodies)} received, {size(state.archived)} archived, {size(state.sent)} sent "
        f"({size(state.up)} up, {size(state.down)} down in all)"
    )


def _said(live: Live) -> str:
    doing = "stopping" if live.stopping else "paused" if live.paused else "crawling"
    away = "; the network is away" if live.away else ""
    lines = [
        ("now", f"{doing} for {duration(live.seconds)}{away}"),
        ("pages", f"{live.counts.pages:,} ({live.pages_per_second:,.1f}/s, {size(live.bytes_per_second)}/s)"),
        ("queued", f"{live.waiting:,}" + (f" in lists of {live.lists}" if live.lists else "")),
        ("leased", f"{live.leased:,} to {many(len(live.clients), 'client')}"),
        ("hosts", f"{live.hosts:,} with work"),
        ("names", f"{name_share(live):.1%} of the time of requests is spent on looking up names"),
        *([("wanted", live.wanted)] if live.wanted else []),
        *(("machine", _machine(each)) for each in live.machines),
        *(("client", _client(each)) for each in live.clients),
    ]
    return "".join(f"{name:10}{value}\n" for name, value in lines)
