"""Many clients on many nodes: pages a second on a web that only makes them wait, and memory of the
server.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.places import BenchError
from sanderling.model import Live
from sanderling.processes.entry_points import command
from sanderling.server.requests import remote
from sanderling.testing import SyntheticWeb

HOSTS, LATENCY = 2000, 0.2
# So few that a client only waits: at most 20 pages a second.
CONNECTIONS = 4
SECONDS = 12.0
PATIENCE = 240.0


def scale(
    place: str, cluster: list[str], environment: dict[str, str], join: Callable[[str, int], int]
) -> None:  # fmt: skip
    """One machine there is already. Machines join until there are eight, with one client on
    each.
    """
    rates: dict[int, float] = {}
    names = 1
    with SyntheticWeb(hosts=HOSTS, pages=HOSTS * 20, latency=LATENCY).serve() as site:
        for clients in (1, 2, 4, 8):
            while names < clients:
                names += 1
                join(f"more-{names}", 2)
            with _crawl(place, site, cluster, environment, clients) as (_, look):
                before, begun = look().counts.visits, time.monotonic()
                time.sleep(SECONDS)
                rates[clients] = (look().counts.visits - before) / (time.monotonic() - begun)
            print(f"{clients} clients on {clients} nodes: {rates[clients]:.1f} visits a second, {rates[clients] / rates[1]:.2f} of one (load {os.getloadavg()[0]:.0f})", flush=True)  # fmt: skip


def memory(place: str, cluster: list[str], environment: dict[str, str]) -> None:
    with SyntheticWeb(hosts=HOSTS, pages=HOSTS * 20, latency=LATENCY).serve() as site:
        for clients in (2, 8, 16, 32):
            with _crawl(place, site, cluster, environment, clients) as (pid, look):
                visits = look().counts.visits
                _until(lambda look=look, visits=visits: look().counts.visits > visits + 1000)
                lines = Path(f"/proc/{pid}/status").read_text().splitlines()
                (rss,) = (int(line.split()[1]) for line in lines if line.startswith("VmRSS"))
            print(f"{clients} clients: the server has {rss / 1024:.0f} MiB", flush=True)


@contextlib.contextmanager
def _crawl(
    place: str, site: object, cluster: list[str], environment: dict[str, str], clients: int
) -> Iterator[tuple[int, Callable[[], Live]]]:
    """A crawl whose clients are all there."""
    folder, seeds = Path(place) / "scale", Path(place) / "seeds"
    shutil.rmtree(folder, ignore_errors=True)
    seeds.write_text("\n".join(site.seeds) + "\n")  # type: ignore[attr-defined]
    few = (
        "--connections",
        CONNECTIONS,
        "--delay",
        0.5,
        "--ignore-robots",
        "--clients",
        clients,
        "--no-index",
        "--allow-private",
    )
    words = ("crawl", "--seeds", seeds, "-d", folder, "--proxy", site.proxy, "--scope", "any", *few, *cluster)  # type: ignore[attr-defined]
    process = subprocess.Popen(
        command("command", *words), env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True,
    )  # fmt: skip

    def look() -> Live:
        return remote.look(folder, patience=30.0)

    def all_there() -> bool:
        with contextlib.suppress(remote.NotRunning):
            live = look()
            return len(live.clients) == clients and all(each.visits for each in live.clients)
        return False

    try:
        _until(all_there)
        yield process.pid, look
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        process.wait()


def _until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not true():
        if time.monotonic() > deadline:
            raise BenchError("the clients of a crawl did not come")
        time.sleep(0.2)
