"""`sanderling cluster`: makes machines part of a cluster, and shows which there are."""

import argparse
import atexit
import contextlib
import os
import re
import shlex
import socket
import sys
from collections.abc import Callable
from typing import NoReturn

from sanderling.cluster.credentials import Credentials, Revoked, is_loopback
from sanderling.cluster.engine import require_answer
from sanderling.cluster.node import DEFAULT_PORT, OUTAGE, StartedTooSlowly
from sanderling.cluster.node import run as run_node
from sanderling.cluster.ssh import attached
from sanderling.cluster.upkeep import LeftCluster
from sanderling.errors import UsageError
from sanderling.processes.entry_points import command
from sanderling.settings import seconds

# How often a node is started that takes too long; the count is kept from one process to the next.
MOST_TRIES = 4
_TRIES = "SANDERLING_START_TRIES"
_REGION = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?")

_ABOUT = """Makes machines part of a cluster, so that a crawl can run its clients on all of them.

Examples:
  sanderling cluster start                   a cluster of this machine alone
  sanderling cluster init                    token and certificates, once
  sanderling cluster start --own 10.0.0.1    the head, where others join
  sanderling cluster join                    shows what to run on other machines
  sanderling cluster join 10.0.0.1:6380      on another machine
  sanderling cluster status                  which machines there are
  sanderling crawl https://example.org/ -d example --cluster auto --clients 16
  sanderling crawl https://example.org/ -d example --hosts one,two
                                             all of it, over ssh
"""


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser("cluster", description=_ABOUT)
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    actions.add_parser("init", help="make the token and the certificates of a cluster").set_defaults(run=_init)
    start = actions.add_parser("start", help="run the head of a cluster on this machine, until it is stopped")
    start.add_argument(
        "--port", type=int, default=DEFAULT_PORT, help=f"the port at which machines join (default: {DEFAULT_PORT})"
    )
    start.add_argument(
        "--autoscaling-config",
        default="",
        metavar="FILE",
        help="the cluster file of `ray up`, which starts the other machines",
    )
    _add_machine(start)
    start.set_defaults(run=_start)
    join = actions.add_parser("join", help="make this machine part of a cluster, or show how")
    join.add_argument("address", nargs="?", default="", help="HOST:PORT of the head; without it, the command is shown")
    _add_machine(join)
    join.set_defaults(run=_join)
    for action, help in (
        ("revoke", "refuse everything that a machine sends"),
        ("admit", "accept a revoked machine again"),
    ):
        revoke = actions.add_parser(action, help=f"{help}, also in running crawls")
        revoke.add_argument("machine", help="its name, as `sanderling cluster status` shows it")
        revoke.set_defaults(run=_revoke)
    actions.add_parser("status", help="show the machines of the cluster").set_defaults(run=_status)


def _add_machine(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--own", default="", metavar="ADDRESS", help="the address at which other machines reach this one"
    )
    parser.add_argument("--name", default="", help="a permanent name of this machine (default: its address)")
    parser.add_argument("--weight", type=int, metavar="N", help="how many clients it runs (default: one per core)")
    parser.add_argument("--region", default="", metavar="NAME", help="where it is, such as europe.paris; see --levels of `sanderling crawl`")  # fmt: skip
    parser.add_argument("--outage", default=OUTAGE, metavar="DURATION", help="how long a machine may be out of reach and stay in the cluster (default: 10s)")  # fmt: skip
    parser.add_argument("--attached", action="store_true", help=argparse.SUPPRESS)  # see `cluster/ssh.py`


def _region(text: str) -> str:
    """Ray takes only some characters in a label."""
    if text and (not _REGION.fullmatch(text) or len(text) > 63):
        raise UsageError(f"--region {text!r} is not a name of letters, digits and - _, with dots between its parts")
    return text


def _init(options: argparse.Namespace) -> int:
    credentials = Credentials()
    if credentials.authority[0].exists():
        raise UsageError(
            f"{credentials.path} has certificates already: use them with `sanderling cluster start --own ADDRESS`, or remove "
            "the folder to start again"
        )
    credentials.make_authority()
    print(f"{credentials.path} holds a token and certificates. Copy it to the other machines, and to nobody else.")
    print("next: `sanderling cluster start --own ADDRESS` with the address of this machine")
    return 0


def _start(options: argparse.Namespace) -> int:
    with attached(takes_credentials=False) if options.attached else contextlib.nullcontext():
        return _tried(lambda: _run_head(options))


def _run_head(options: argparse.Namespace) -> int:
    credentials = Credentials()
    own = options.own or "127.0.0.1"
    if not is_loopback(own) and not credentials.authority[0].exists():
        raise UsageError("other machines could reach this cluster: run `sanderling cluster init` first")
    credentials.make_authority()
    address = f"{own}:{options.port}"
    return run_node(
        credentials, head=True, address=address, own=own, name=options.name, weight=options.weight,
        autoscaling=options.autoscaling_config,
        region=_region(options.region), outage=seconds("--outage", options.outage),
        on_started=lambda: _started(credentials, address),
    )  # fmt: skip


def _started(credentials: Credentials, address: str) -> str:
    credentials.note_address(address)
    return (
        f"A cluster runs at {address} until this command is stopped.\n"
        "next: `sanderling crawl URL -d DIR --cluster auto` in another terminal\n"
    )


def _join(options: argparse.Namespace) -> int:
    if not options.address:
        return _show_join(Credentials())
    with attached(takes_credentials=True) if options.attached else contextlib.nullcontext():
        return _tried(lambda: _run_member(options))


def _tried(run: Callable[[], int]) -> int:
    """Runs a node again that the head gave up, and some times one that took too long to start."""
    try:
        return run()
    except LeftCluster as left:
        _run_again(f"{left}; it joins the cluster again")
    except StartedTooSlowly:
        tries = int(os.environ.get(_TRIES, "1"))
        if tries >= MOST_TRIES:
            raise
        os.environ[_TRIES] = str(tries + 1)
        atexit._run_exitfuncs()  # ends what it started
        _run_again("Ray took too long to start on this machine; it is started again")


def _run_again(why: str) -> NoReturn:
    sys.stderr.write(f"sanderling: {why}\n")
    sys.stderr.flush()
    again = command("command", *sys.argv[1:])  # Ray cannot be started twice in one process
    os.execv(again[0], again)


def _run_member(options: argparse.Namespace) -> int:
    credentials = Credentials()
    if ":" not in options.address:
        options.address = f"{options.address}:{DEFAULT_PORT}"
    if not credentials.token.exists():
        raise UsageError(f"this machine has no token in {credentials.path}: copy that folder from the head")
    require_answer(options.address)
    own = options.own or _own_towards(options.address)
    return run_node(
        credentials, head=False, address=options.address, own=own, name=options.name, weight=options.weight,
        region=_region(options.region), outage=seconds("--outage", options.outage),
        on_started=lambda: _joined(credentials, options.address),
    )  # fmt: skip


def _joined(credentials: Credentials, address: str) -> str:
    credentials.note_address(address)
    return f"This machine is part of the cluster at {address} until this command is stopped.\n"


def _show_join(credentials: Credentials) -> int:
    address = credentials.address
    if not address:
        raise UsageError("no cluster was started here: run `sanderling cluster start` first")
    folder = shlex.quote(str(credentials.path))
    if is_loopback(address):
        print("The cluster is closed to other machines. On this one, another node is started with:")
    else:
        print(f"Copy {folder} to the same place on the other machine, for example:")
        print(f"  scp -pr {folder} OTHER:{shlex.quote(str(credentials.path.parent))}/")
        print("Then run there:")
    print(f"  sanderling cluster join {address}")
    return 0


def _own_towards(address: str) -> str:
    """The address of this machine by which the other one sees it."""
    host, _, port = address.rpartition(":")
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
            line.connect((host, int(port)))
            own: str = line.getsockname()[0]
            return own
    except (OSError, ValueError) as error:
        raise UsageError(f"{address} is not the address of a cluster: {error}") from None


def _revoke(options: argparse.Namespace) -> int:
    revoked = Revoked()
    if options.action == "admit":
        if options.machine not in revoked.names:
            raise UsageError(f"{options.machine!r} is not revoked")
        revoked.remove(options.machine)
        print(f"{options.machine} gets clients again.")
        return 0
    revoked.add(options.machine)
    print(f"Crawls take nothing more from {options.machine}. What it held goes to others soon.")
    print("To close the cluster itself to it, make a new token: remove the folder of the cluster and start again.")
    return 0


def _status(options: argparse.Namespace) -> int:
    from sanderling.cluster.engine import Engine

    engine = Engine("auto")
    try:
        for node in sorted(engine.nodes, key=lambda node: node.name):
            where = f"  in {node.region}" if node.region else ""
            sys.stdout.write(f"{node.name:24}{node.weight:6.0f} clients{where}{'  (this machine)' * node.here}\n")
    finally:
        engine.close()
    return 0
