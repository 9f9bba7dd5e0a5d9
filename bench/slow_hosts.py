"""Measures a crawl of a thousand slow hosts: can one client keep all of them busy, and what does
waiting cost?

The web is synthetic and runs in this process. The crawler has processes of its own and uses it as a
proxy. A host answers one request at a time, after `latency` seconds. So no crawl can be faster than
the longest queue of one host, and a crawler that cannot wait for all hosts at the same time takes
many times longer.
"""

from __future__ import annotations

import json
import resource
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.measure import measure
from bench.places import RESULTS, SANDERLING, BenchError, say


@dataclass(frozen=True)
class Figures:
    hosts: int
    latency: float
    pages: int
    found: int
    peak_in_flight: int
    peak_per_host: int
    shortest_possible: float
    wall: float
    cpu: float
    cpu_by_process: list[float]
    peak_mib: float

    @property
    def cpu_share(self) -> float:
        """CPU time as a share of one core."""
        return self.cpu / self.wall

    def __str__(self) -> str:
        heaviest = ", ".join(f"{seconds:.1f}" for seconds in self.cpu_by_process[:3])
        return (
            f"{self.found} of {self.pages} pages on {self.hosts} hosts that take {self.latency} s to answer\n"
            f"  in flight at most   {self.peak_in_flight} requests, {self.peak_per_host} at any one host\n"
            f"  wall time           {self.wall:.1f} s; {self.shortest_possible:.1f} s are possible at best\n"
            f"  CPU                 {self.cpu:.1f} s, {self.cpu_share:.0%} of a core\n"
            f"  CPU by process      {heaviest} s, the heaviest first\n"
            f"  memory              {self.peak_mib:.0f} MiB"
        )


def slow_hosts(hosts: int, pages_per_host: int, latency: float, flags: list[str]) -> int:
    # Imported here, because the race must run even if only the other crawlers can.
    from sanderling.testing import SyntheticWeb

    _allow_files(4 * hosts + 1000)
    web = SyntheticWeb(hosts=hosts, pages=hosts * pages_per_host, latency=latency)
    with web.serve() as site, tempfile.TemporaryDirectory(prefix="bench-slow-") as name:
        seeds = Path(name, "seeds.txt")
        seeds.write_text("\n".join(site.seeds) + "\n")
        say(f"{web.pages} pages on {web.hosts} hosts behind {site.proxy}")
        expected = web.reachable(0)
        # --allow-private: with a proxy, names of hosts that do not exist would be looked up first.
        crawl = [
            str(SANDERLING),
            "crawl",
            "--seeds",
            str(seeds),
            "-d",
            str(Path(name, "crawl")),
            "--json",
            "--allow-private",
        ]
        outcome = measure([*crawl, "--proxy", site.proxy, "--scope", "any", "--clients", "1", *flags])
        weight = outcome.weight
        if weight.exit_code != 0:
            raise BenchError(f"sanderling crawl ended with {weight.exit_code}: {outcome.last_words}")
        queue = _longest_queue(expected)
        figures = Figures(
            hosts=hosts,
            latency=latency,
            pages=len(expected),
            found=len(expected & site.requests.keys()),
            peak_in_flight=site.peak_in_flight,
            peak_per_host=max(site.peak_by_host.values()),
            shortest_possible=(queue + bool(site.robots_requests)) * latency,
            wall=weight.wall,
            cpu=weight.cpu,
            cpu_by_process=weight.cpu_by_process,
            peak_mib=weight.peak_mib,
        )
    print(figures)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "slow_hosts.json").write_text(json.dumps(asdict(figures), indent=2) + "\n")
    return 0 if figures.found == figures.pages else 1


def _longest_queue(urls: set[str]) -> int:
    by_host: dict[str, int] = {}
    for url in urls:
        host = url.split("/", 3)[2]
        by_host[host] = by_host.get(host, 0) + 1
    return max(by_host.values())


def _allow_files(wanted: int) -> None:
    """Raises the limit of open files, because every request in flight is one. The crawler inherits
    the limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if allowed < wanted:
        raise BenchError(f"This needs {wanted} open files, the limit is {hard}: raise it with ulimit -n.")
    if soft != resource.RLIM_INFINITY and soft < allowed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
