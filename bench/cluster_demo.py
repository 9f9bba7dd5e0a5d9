"""`make cluster-demo`: three machines as network namespaces, a web, a PostgreSQL, and a crawl that
runs on all of them.

Machine 1 has the server and the head of the cluster, machines 2 and 3 run clients. They speak TLS
with a token. In the middle of the crawl the line to machine 3 is cut. Where namespaces are not
permitted, the machines are nodes on loopback, and machine 3 is killed instead. Everything is torn
down at the end.

With `--levels`, machines 2 and 3 are one region, and one of them is a relay. In the middle of the
crawl the line of machine 1 is cut, in both directions, for a minute. The others still reach the web
and each other.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO

from sanderling.processes.entry_points import command
from sanderling.testing.postgres import PostgresMissing, PostgresServer

PAGES = 2500
OUTAGE = 60.0  # seconds
_NET = "10.78.0"
_WEB = """
import sys
from sanderling.testing import SyntheticWeb
with SyntheticWeb(hosts=1, pages={pages}, seed=3, latency={latency}).serve(address="{address}") as site:
    print(site.url, flush=True)
    sys.stdin.read()
    print(sum(site.requests.values()), max(site.requests.values()), flush=True)
"""


class Machines:
    """Three namespaces on one bridge, or loopback where they are not permitted."""

    def __init__(self, undo: contextlib.ExitStack) -> None:
        self._prefix = f"sd{os.getpid() % 100_000}"
        self.apart = _may("ip", "netns", "add", f"{self._prefix}0")
        if not self.apart:
            return
        undo.callback(_may, "ip", "netns", "del", f"{self._prefix}0")
        self._ip("0", "link", "add", "name", "switch0", "type", "bridge")
        self._ip("0", "link", "set", "dev", "switch0", "up")
        for number in ("1", "2", "3", "4"):  # the web is on the last
            _must("ip", "netns", "add", self._prefix + number)
            undo.callback(_may, "ip", "netns", "del", self._prefix + number)
            _must("ip", "link", "add", "name", "wan0", "netns", self._prefix + number, "type", "veth", "peer", "name", f"to{number}", "netns", f"{self._prefix}0")  # fmt: skip
            self._ip("0", "link", "set", f"to{number}", "master", "switch0", "up")
            self._ip(number, "addr", "add", f"{_NET}.{number}/24", "dev", "wan0")
            self._ip(number, "link", "set", "dev", "wan0", "up")
            self._ip(number, "link", "set", "lo", "up")

    def address(self, number: int) -> str:
        return f"{_NET}.{number}" if self.apart else "127.0.0.1"

    def inside(self, number: int) -> list[str]:
        """What is put before a command that runs on a machine."""
        return ["ip", "netns", "exec", f"{self._prefix}{number}"] if self.apart else []

    def cut(self, number: int) -> None:
        self._ip("0", "link", "set", f"to{number}", "down")

    def mend(self, number: int) -> None:
        self._ip("0", "link", "set", f"to{number}", "up")

    def _ip(self, number: str, *arguments: str) -> None:
        _must("ip", "-n", self._prefix + number, *arguments)


def _may(*arguments: str) -> bool:
    if shutil.which(arguments[0]) is None:
        return False
    return subprocess.run(arguments, capture_output=True).returncode == 0


def _must(*arguments: str) -> None:
    subprocess.run(arguments, check=True)


def main(levels: bool) -> int:
    with contextlib.ExitStack() as undo:
        place = Path(undo.enter_context(tempfile.TemporaryDirectory()))
        machines = Machines(undo)
        own = {n: {**os.environ, "SANDERLING_CLUSTER": str(place / f"cluster-{n}")} for n in (1, 2, 3)}

        def run(number: int, *words: object) -> subprocess.Popen[str]:
            process = subprocess.Popen(
                [*machines.inside(number), *command("command", *words)], env=own[number], text=True,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
            undo.callback(_end, process)
            return process

        print("three machines as network namespaces" if machines.apart else "three machines as nodes on loopback")
        web = subprocess.Popen(
            [*machines.inside(4), *command("command")[:1], "-c", _WEB.format(pages=PAGES, address=machines.address(4), latency=0.2 if levels else 0.01)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True,
        )  # fmt: skip
        undo.callback(_end, web)
        url = _line(web.stdout)
        if machines.apart:
            print(_whole(run(1, "cluster", "init")))
        outage = ("--outage", "5m") if levels else ()
        start = ("--own", machines.address(1), "--port", 6390, "--weight", 0, "--name", "machine-1", *outage)
        print(_line(run(1, "cluster", "start", *start).stdout))
        nodes = {}
        for number in (2, 3):
            shutil.copytree(place / "cluster-1", place / f"cluster-{number}")
            head = f"{machines.address(1)}:6390"
            name = ("--own", machines.address(number), "--name", f"machine-{number}", "--weight", 2, *outage)
            region = ("--region", "north") if levels else ()
            nodes[number] = run(number, "cluster", "join", head, *name, *region)
            print(_line(nodes[number].stdout))
        folder, store = place / "crawl", _postgres(undo)
        fast = ("--per-host", 8, "--delay", 0, "--clients", 4, "--cluster-patience", "10s", "--cluster-compress")
        tree = ("--levels", 2, "--relay-alone", "2m") if levels else ()
        crawl = run(1, "crawl", url, "-d", folder, "--cluster", "auto", *fast, *tree, *store)
        _wait(lambda: _pages(run, folder) > PAGES // 5)
        print(_whole(run(1, "control", folder)))
        if machines.apart and levels:
            print(f"the line of machine-1 is cut for {OUTAGE:.0f} seconds", flush=True)
            machines.cut(1)
            time.sleep(OUTAGE)
            print(_whole(run(1, "control", folder)))
            machines.mend(1)
            print("the line is back", flush=True)
            time.sleep(5)
            print(_whole(run(1, "control", folder)))
        elif machines.apart:
            print("the line to machine-3 is cut")
            machines.cut(3)
        else:
            print("machine-3 is killed")
            os.killpg(nodes[3].pid, signal.SIGKILL)
        print(_whole(crawl))
        print(_whole(run(1, "check", folder)))
        assert web.stdin is not None
        web.stdin.close()
        asked, most = _line(web.stdout).split()
        print(f"the web server was asked {asked} times for {PAGES:,} pages, at most {most} times for one")
    return crawl.returncode


def _postgres(undo: contextlib.ExitStack) -> tuple[str, ...]:
    """Where the state of the crawl is: a PostgreSQL server of the demo, if there is one on this
    machine.
    """
    try:
        dsn = undo.enter_context(PostgresServer()).dsn
    except PostgresMissing as error:
        print(f"{error}; the state is in the folder")
        return ()
    print(f"PostgreSQL runs at {dsn}")
    return "--store", dsn


def _pages(run: Callable[..., subprocess.Popen[str]], folder: Path) -> int:
    said = _whole(run(1, "control", folder, "--json"))
    return int(json.loads(said)["counts"]["pages"]) if said.startswith("{") else 0


def _wait(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 300
    while not true():
        if time.monotonic() > deadline:
            raise SystemExit("the demo takes too long")
        time.sleep(0.5)


def _line(stream: IO[str] | None) -> str:
    assert stream is not None
    return stream.readline().strip()


def _whole(process: subprocess.Popen[str]) -> str:
    return process.communicate(timeout=300)[0].strip()


def _end(process: subprocess.Popen[str]) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(10)
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()


if __name__ == "__main__":
    sys.exit(main("--levels" in sys.argv[1:]))
