"""What a cluster costs and saves, as ratios in one run: the same crawl over the Unix socket and
through Ray, in turns.

CPU seconds are those of the crawl and of all nodes of Ray, idle time of their own included. A small
crawl of the same kind tells what starting costs, so that the cost of a page is known without it.
Bytes are told for real documentation, with and without the filter of the paper (HTML only), and
with and without compression.
"""

from __future__ import annotations

import contextlib
import functools
import http.server
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from bench import cluster_scale
from bench.places import BenchError
from sanderling.processes.entry_points import command
from sanderling.testing import SyntheticWeb

_TICK = os.sysconf("SC_CLK_TCK")
SMALL = 200
# Documentation with its images, as Debian installs it.
DOCUMENTATION = (Path("/usr/share/doc/postgresql-doc-15/html"),)


class Lap(NamedTuple):
    cpu: float
    server: float  # CPU seconds of the process that has the store
    first_page: float  # seconds until the first page was asked for
    summary: dict[str, object]


def measure(pages: int, rounds: int, parts: str) -> int:
    """Prints one line a lap, and the ratios."""
    with tempfile.TemporaryDirectory() as place:
        # As for users: modules are compiled once, by the first lap.
        environment = {
            **os.environ,
            "SANDERLING_CLUSTER": f"{place}/cluster",
            "PYTHONPYCACHEPREFIX": f"{place}/compiled",
        }
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        port = random.SystemRandom().randrange(20_000, 30_000)
        with (
            _node(environment, "start", "--port", str(port), "--name", "head", "--weight", "0") as head,
            contextlib.ExitStack() as machines,
        ):

            def join(name: str, weight: int) -> int:
                own = ("--own", "127.0.0.1", "--name", name, "--weight", str(weight))
                return machines.enter_context(_node(environment, "join", f"127.0.0.1:{port}", *own))

            cluster = ["--cluster", f"127.0.0.1:{port}"]
            one = join("one", 2)
            if "cost" in parts:
                _cost(place, pages, rounds, cluster, environment, [head, one])
            if "bytes" in parts:
                _bytes(place, cluster, environment)
            if "scale" in parts:
                cluster_scale.scale(place, cluster, environment, join)
            if "memory" in parts:
                cluster_scale.memory(place, cluster, environment)
    return 0


def _cost(
    place: str, pages: int, rounds: int, cluster: list[str], environment: dict[str, str], nodes: list[int]
) -> None:
    laps: dict[tuple[str, int], list[Lap]] = {}
    with (
        SyntheticWeb(hosts=1, pages=SMALL, seed=3).serve() as small,
        SyntheticWeb(hosts=1, pages=pages, seed=3).serve() as large,
    ):
        for number in range(rounds + 1):
            for site, size in ((small, SMALL), (large, pages)):
                for name, more in (("socket", []), ("cluster", cluster)):
                    if number or site is small:  # the first round compiles, and warms up
                        asked = sum(site.requests.values())
                        lap = _lap(place, site.url, more, environment, nodes, lambda site=site, asked=asked: sum(site.requests.values()) > asked)  # fmt: skip
                        if number:
                            laps.setdefault((name, size), []).append(lap)
                            print(f"{name:8} {size:6,} pages: {lap.cpu:6.2f} CPU s, server {lap.server:5.2f}, first page after {lap.first_page:.1f} s (load {os.getloadavg()[0]:.0f})", flush=True)  # fmt: skip

    def best(name: str, size: int, what: int) -> float:
        return min(float(lap[what]) for lap in laps[name, size])

    def page(name: str, what: int) -> float:
        """CPU seconds of a page, without the start."""
        return (best(name, pages, what) - best(name, SMALL, what)) / (pages - SMALL)

    print(f"pages per CPU second through Ray, whole crawls: {best('socket', pages, 0) / best('cluster', pages, 0):.2f} of those over the socket")  # fmt: skip
    print(f"the same without the start: {page('socket', 0) / page('cluster', 0):.2f}; Ray's start takes {best('cluster', SMALL, 0) - best('socket', SMALL, 0):.1f} CPU s")  # fmt: skip
    print(f"server time of a page: {page('cluster', 1) * 1e6:.0f} us through Ray, {page('socket', 1) * 1e6:.0f} us over the socket: {page('cluster', 1) / page('socket', 1):.2f}")  # fmt: skip
    print(f"start to first page: {best('cluster', SMALL, 2):.1f} s through Ray, {best('socket', SMALL, 2):.1f} s over the socket", flush=True)  # fmt: skip


def _bytes(place: str, cluster: list[str], environment: dict[str, str]) -> None:
    with contextlib.ExitStack() as stack:
        sites = [("small pages", stack.enter_context(SyntheticWeb(hosts=1, pages=2000, seed=3).serve()).url)]
        sites += [
            (folder.parent.name, stack.enter_context(_served(folder))) for folder in DOCUMENTATION if folder.is_dir()
        ]
        for name, url in sites:
            for filtered in (False, True):
                for packed in (False, True):
                    more = [*(["--images"] if name != "small pages" else []), *(["--body-types", "text/html"] if filtered else []), *(["--cluster-compress"] if packed else [])]  # fmt: skip
                    machines = _lap(place, url, [*cluster, *more], environment, []).summary["machines"]
                    assert isinstance(machines, list)
                    bodies, archived, sent = (
                        sum(each[key] for each in machines) for key in ("bodies", "archived", "sent")
                    )
                    print(f"{name:20} {'HTML only' if filtered else 'all':9} {'zstd' if packed else 'plain':5} {bodies:12,} bytes of bodies, {archived:12,} archived, {sent:12,} sent: {1 - sent / bodies:.1%} less", flush=True)  # fmt: skip


class _Quiet(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass


@contextlib.contextmanager
def _served(folder: Path) -> Iterator[str]:
    handler = functools.partial(_Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/index.html"
        server.shutdown()


def _lap(
    place: str, url: str, more: list[str], environment: dict[str, str], nodes: list[int], asked: object = None
) -> Lap:
    folder = Path(place) / "crawl"
    shutil.rmtree(folder, ignore_errors=True)
    meter = Meter(nodes)
    fast = ("--per-host", 32, "--delay", 0, "--clients", 2, "--no-index", "--json")
    process = subprocess.Popen(
        command("command", "crawl", url, "-d", folder, *fast, *more), env=environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    begun, first, server = time.monotonic(), 0.0, 0.0
    while process.poll() is None:
        time.sleep(0.02)
        server = cpu_of(process.pid) or server
        if not first and callable(asked) and asked():
            first = time.monotonic() - begun
    assert process.stdout is not None
    said = process.stdout.read()
    if process.returncode:
        raise BenchError(f"the crawl of {url} failed")
    return Lap(meter.stop(), server, first, json.loads(said))


def cpu_of(pid: int) -> float:
    """CPU seconds of a process without its children; 0 when it is over."""
    with contextlib.suppress(OSError, IndexError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICK
    return 0.0


class Meter:
    """CPU seconds of a child of this process, and of all processes of sessions. Ray's workers are
    nobody's children, so they are looked at all the time.
    """

    def __init__(self, sessions: list[int]) -> None:
        self._sessions = sessions
        self._before = _used()
        self._first = self._look()
        self._last = dict(self._first)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def stop(self) -> float:
        self._over.set()
        self._thread.join()
        ticks = sum(last - self._first.get(pid, 0) for pid, last in self._last.items())
        return _used() - self._before + ticks / _TICK

    def _watch(self) -> None:
        while not self._over.wait(0.1):
            self._last |= self._look()

    def _look(self) -> dict[int, int]:
        found = {}
        for stat in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                fields = stat.read_text().rpartition(")")[2].split()
                if int(fields[3]) in self._sessions:
                    found[int(stat.parent.name)] = int(fields[11]) + int(fields[12])
        return found


def _used() -> float:
    """CPU seconds of everything that this process has waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@contextlib.contextmanager
def _node(environment: dict[str, str], *arguments: str) -> Iterator[int]:
    """A node of Ray, as a session of its own."""
    process = subprocess.Popen(
        command("command", "cluster", *arguments), env=environment, start_new_session=True, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        said = process.stdout.readline()
        if "until this command is stopped" not in said:
            raise BenchError(said)
        yield process.pid
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        process.wait()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
