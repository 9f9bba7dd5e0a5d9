"""What a cluster costs and saves: the same crawl over the Unix socket and through Ray, in turns, on one machine.

CPU seconds are those of the crawl and of all nodes of Ray, idle time of their own included. Bytes are told for the same
crawl with the filter of the paper (HTML only), with compression, and with both.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

from bench.places import BenchError
from sanderling.processes.entry_points import command
from sanderling.testing import SyntheticWeb

_TICK = os.sysconf("SC_CLK_TCK")


def measure(pages: int, rounds: int) -> int:
    """Prints one line a lap, and the ratios."""
    with tempfile.TemporaryDirectory() as place, SyntheticWeb(hosts=1, pages=pages, seed=3).serve() as site:
        environment = {**os.environ, "SANDERLING_CLUSTER": f"{place}/cluster"}
        port = random.SystemRandom().randrange(20_000, 30_000)
        with (
            _node(environment, "start", "--port", str(port), "--name", "head", "--weight", "0") as head,
            _node(
                environment, "join", f"127.0.0.1:{port}", "--own", "127.0.0.1", "--name", "one", "--weight", "2"
            ) as one,
        ):
            cluster, sessions = ["--cluster", f"127.0.0.1:{port}"], [head, one]
            laps: dict[str, list[float]] = {"socket": [], "cluster": []}
            for _ in range(rounds):
                for name, more in (("socket", []), ("cluster", cluster)):
                    cpu, _ = _lap(place, site.url, more, environment, sessions)
                    laps[name].append(pages / cpu)
                    print(
                        f"{name:8} {pages / cpu:8,.0f} pages per CPU second (load {os.getloadavg()[0]:.1f})", flush=True
                    )
            best = max(laps["cluster"]) / max(laps["socket"])
            print(f"pages per CPU second through Ray: {best:.2f} of those over the socket (best/best)")
            for name, more in (("plain", []), ("zstd", ["--cluster-compress"])):
                _, summary = _lap(place, site.url, [*cluster, *more], environment, sessions)
                _say_bytes(name, summary)
    return 0


def _say_bytes(name: str, summary: dict[str, object]) -> None:
    machines = summary["machines"]
    assert isinstance(machines, list)
    bodies, archived, sent = (sum(each[key] for each in machines) for key in ("bodies", "archived", "sent"))
    print(f"{name:8} {bodies:,} bytes of bodies, {archived:,} as archives, {sent:,} sent: {1 - sent / bodies:.1%} less")


def _lap(
    place: str, url: str, more: list[str], environment: dict[str, str], sessions: list[int]
) -> tuple[float, dict[str, object]]:
    folder = Path(place) / "crawl"
    shutil.rmtree(folder, ignore_errors=True)
    meter = Meter(sessions)
    ran = subprocess.run(
        command("command", "crawl", url, "-d", folder, "--per-host", 32, "--delay", 0, "--clients", 2, "--no-index", "--json", *more),
        env=environment, capture_output=True, text=True,
    )  # fmt: skip
    if ran.returncode:
        raise BenchError(ran.stderr)
    return meter.stop(), json.loads(ran.stdout)


class Meter:
    """CPU seconds of a child of this process, and of all processes of sessions. Ray's workers are nobody's children, so
    they are looked at all the time."""

    def __init__(self, sessions: list[int]) -> None:
        self._sessions = sessions
        self._before = _used()
        self._first = self._look()
        self._last = dict(self._first)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch)
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
