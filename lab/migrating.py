"""`sanderling lab migrating`: what do several machines save in time, in repeated downloads and in
bytes to the centre?

Real crawls of small synthetic webs of different shape, each by one client and then by more. A
client that may have only a few requests in flight stands for a machine: all of them run here, and
what they wait for is the web server, which takes its time for each answer. So the times are right
as long as the cores are not busy, and nothing is said about networks.

  seconds    of the whole crawl, with its start and its end
  faster     times as fast as one machine; "each" is that for each machine
  repeated   downloads of a URL beyond the first, counted at the web server
  sent       what reaches the centre: bodies as they are from one machine;
             HTML only and compressed, as a cluster sends it, from several

With `--cluster`, several machines are clients on a real cluster, and `--levels` and `--fan-out`
make relays of some of its machines. Then the bytes are those that reached the server, and the
seconds include the start of actors and relays.

With `--kill-every`, a client is killed at random again and again. `killed` is how many, and
`leased` what they held: only that may be downloaded again.

The second table tells apart what the filter saves and what compression saves. Published for one
crawler against several machines, means of five sets of URLs: 50 % less time, 80 % fewer repeated
URLs, 83 % less data.
"""

import argparse
import json
import math
import os
import random
import signal
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from itertools import chain, islice
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from lab.confidence import mean, plus_minus, repeated
from lab.served import run_sanderling
from sanderling.cluster.pieces import Packer, unpacked
from sanderling.errors import RunFailed, UsageError
from sanderling.presenting.arguments import positive
from sanderling.presenting.plot import table
from sanderling.repository.warc import fields_of, packed_record, parse
from sanderling.server.requests import remote
from sanderling.testing import ServedWeb, SyntheticWeb

# What differs from a web of many hosts with short pages.
SHAPES: dict[str, dict[str, float]] = {
    "real sizes": {"hosts": 30, "size": 22_000, "image_size": 20_000},
    "many hosts": {"hosts": 30},
    "few hosts": {"hosts": 8},
    "long pages": {"hosts": 30, "size": 12_000},
    "many links": {"hosts": 30, "links": 40},
    "uneven links": {"hosts": 30, "links": 4, "skew": 0.95},
}
PUBLISHED = {"time": 0.503, "repeated": 0.80, "data": 0.83}
# A report is about a hundred records; what belongs to it is sent with it.
_RECORDS = 100
# One request to a host at a time, as by default, but without pauses: they would hide what machines
# do.
_SETTINGS = (
    "--scope", "any", "--images", "--delay", "0", "--no-sitemaps", "--no-index", "--no-hold", "--render", "never", "--json",
)  # fmt: skip


class MachinesResult(msgspec.Struct, frozen=True):
    """One web, crawled by so many machines."""

    web: str
    machines: int
    urls: int
    seconds: float
    faster: float
    each: float
    repeated: int
    sent: int
    less: float  # data, as a share of the raw bodies
    killed: int = 0
    leased: int = 0  # by clients when they were killed


class DataResult(msgspec.Struct, frozen=True):
    """Bytes to the centre for one web: all bodies, and what the filter, compression and both leave
    of them.

    Each machine has a stream of its own. So that only filter and compression differ, `compressed`
    and `both` are one stream.
    """

    web: str
    raw: int
    html: int
    compressed: int
    both: int
    streams: int


class Crawled(msgspec.Struct, frozen=True):
    urls: int
    seconds: float
    repeated: int
    folder: Path
    sent: int  # bytes of archives that a cluster brought
    killed: list[int]  # what each client held when it was killed


def shaped(name: str, pages: int, latency: float) -> SyntheticWeb:
    given = SHAPES[name]
    hosts = min(int(given.get("hosts", 1)), pages)
    return SyntheticWeb(
        hosts=hosts, pages=pages, latency=latency, appear=0.0, vanish=0.0, links=int(given.get("links", 8)),
        size=int(given.get("size", 2_000)), skew=given.get("skew", 0.6), image_size=int(given.get("image_size", 0)),
    )  # fmt: skip


def measure(
    name: str,
    web: SyntheticWeb,
    machines: list[int],
    connections: int,
    cluster: tuple[str, ...] = (),
    kill_every: float = 0.0,
    kills: float = math.inf,
) -> tuple[list[MachinesResult], DataResult]:
    """Crawls a web by one machine, and by each number of machines; `cluster` are the settings of a
    cluster, if there is one.
    """
    with web.serve() as site, TemporaryDirectory(prefix="sanderling-lab-") as place:
        alone = _crawl(site, Path(place) / "1", 1, connections)
        sys.stderr.write(f"  {alone.urls} URLs, 1 machine: {alone.seconds:.1f} s\n")
        raw, html = bodies(chain(*archives(alone.folder)))
        results = [MachinesResult(name, 1, alone.urls, alone.seconds, 1.0, 1.0, alone.repeated, raw, 0.0)]
        sent = both = 0
        for count in machines:
            more = ("--body-types", "text/html", *cluster)
            crawled = _crawl(site, Path(place) / str(count), count, connections, *more, killing=(kill_every, kills))
            if crawled.urls != alone.urls:
                raise RunFailed(f"{count} clients fetched {crawled.urls} URLs, one client {alone.urls}")
            sys.stderr.write(f"  {count} machines: {crawled.seconds:.1f} s\n")
            sent = crawled.sent or sum(map(packed, archives(crawled.folder)))
            faster = alone.seconds / crawled.seconds
            results.append(
                MachinesResult(
                    name,
                    count,
                    crawled.urls,
                    crawled.seconds,
                    round(faster, 2),
                    round(faster / count, 2),
                    crawled.repeated,
                    sent,
                    round(1 - sent / raw, 3),
                    len(crawled.killed),
                    sum(crawled.killed),
                )
            )
            both = packed(chain(*archives(crawled.folder)))
        compressed = packed(chain(*archives(alone.folder)))
        return results, DataResult(name, raw, html, compressed, both, sent)


@contextmanager
def _killing(folder: Path, every: float, most: float) -> Iterator[list[int]]:
    """Kills a client of a crawl now and then; gives what each of them held."""
    over, killed, chance = threading.Event(), list[int](), random.Random(1)

    def kill() -> None:
        while len(killed) < most and not over.wait(every):
            with suppress(remote.NotRunning, ProcessLookupError):
                if clients := [each for each in remote.look(folder, 5.0).clients if each.visits]:
                    client = chance.choice(clients)
                    os.kill(client.pid, signal.SIGKILL)
                    killed.append(client.leased)

    thread = threading.Thread(target=kill)
    if every:
        thread.start()
    try:
        yield killed
    finally:
        over.set()
        if every:
            thread.join()


def _crawl(
    site: ServedWeb, folder: Path, clients: int, connections: int, *more: str, killing: tuple[float, float] = (0.0, 0.0)
) -> Crawled:
    counters = (site.requests, site.other_requests)
    for counter in counters:
        counter.clear()
    seeds = folder.with_suffix(".txt")
    seeds.write_text("\n".join(site.seeds) + "\n")
    size = ("--clients", str(clients), "--connections", str(connections))
    with _killing(folder, *killing) as killed:
        said = json.loads(
            run_sanderling("crawl", "--seeds", seeds, "-d", folder, "--proxy", site.proxy, *size, *_SETTINGS, *more)
        )
    repeated = sum(times - 1 for counter in counters for times in counter.values())
    sent = sum(each["sent"] for each in said.get("machines", ()) if each["level"] == 1)
    return Crawled(sum(map(len, counters)), said["seconds"], repeated, folder, sent, killed)


_MOST_PLAIN = 1 << 30


def archives(folder: Path) -> list[Iterator[bytes]]:
    """The records that each client of a crawl wrote: in a crawl this small, a client has one
    file.
    """
    return [unpacked(path.read_bytes(), _MOST_PLAIN) for path in sorted((folder / "warc").glob("*.warc.gz"))]


def bodies(contents: Iterable[bytes]) -> tuple[int, int]:
    """Bytes of all bodies, and of those that are HTML."""
    total = html = 0
    for content in contents:
        fields = fields_of(content)
        if fields.get("warc-type") != "response" or fields["warc-target-uri"].endswith("/robots.txt"):
            continue
        answer = parse(content)
        total += len(answer.body)
        if dict(answer.headers).get("Content-Type", "").startswith("text/html"):
            html += len(answer.body)
    return total, html


def packed(contents: Iterator[bytes]) -> int:
    """Bytes that a cluster sends for the records of one machine."""
    packer, size = Packer(compress=True), 0
    while part := list(islice(contents, _RECORDS)):
        size += len(packer.pack(b"".join(map(packed_record, part))).content)
    return size


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--pages", type=positive, default=60, metavar="N", help="pages of a web, beside their images (default: 60)")  # fmt: skip
    parser.add_argument(
        "--webs",
        type=positive,
        default=len(SHAPES),
        metavar="N",
        help=f"how many webs, at most {len(SHAPES)} (default)",
    )
    parser.add_argument("--machines", type=positive, nargs="+", default=[2, 4], metavar="N", help="compared with one machine (default: 2 4)")  # fmt: skip
    parser.add_argument("--connections", type=positive, default=4, metavar="N", help="requests in flight of a machine (default: 4)")  # fmt: skip
    parser.add_argument("--latency", type=positive, default=100, metavar="MS", help="milliseconds until the web server answers (default: 100)")  # fmt: skip
    parser.add_argument("--cluster", default="", metavar="ADDRESS", help="run several machines on a cluster: auto, or HOST:PORT of its head")  # fmt: skip
    parser.add_argument("--levels", type=positive, default=1, metavar="N", help="levels of machines of the cluster (default: 1)")  # fmt: skip
    parser.add_argument("--fan-out", type=positive, default=2, metavar="N", help="machines that the server and each relay serve (default: 2)")  # fmt: skip
    parser.add_argument("--kill-every", type=float, default=0.0, metavar="SECONDS", help="kill a client at random, again and again; not on a cluster")  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(options: argparse.Namespace) -> int:
    if options.webs > len(SHAPES):
        raise UsageError(f"there are only {len(SHAPES)} webs, not {options.webs}")
    if min(options.machines) < 2:
        raise UsageError("--machines compares with one machine; name numbers from 2 on")
    if find_spec("zstandard") is None:
        raise RunFailed("the compression of the cluster is not installed; `pip install 'sanderling[cluster]'` adds it")
    if options.cluster and options.kill_every:
        raise UsageError("--kill-every kills clients of this machine: leave out --cluster")
    tree = ("--levels", str(options.levels), "--fan-out", str(options.fan_out)) if options.levels > 1 else ()
    cluster = ("--cluster", options.cluster, "--cluster-compress", *tree) if options.cluster else ()
    results: list[MachinesResult] = []
    data: list[DataResult] = []
    for number, name in enumerate(list(SHAPES)[: options.webs], 1):
        sys.stderr.write(f"web {number} of {options.webs}: {name}\n")
        web = shaped(name, options.pages, options.latency / 1000)
        more, sizes = measure(
            name, web, sorted(set(options.machines)), options.connections, cluster, options.kill_every
        )
        results += more
        data.append(sizes)
    if options.json:
        shown = {"published": PUBLISHED, "machines": results, "data": data}
        sys.stdout.write(msgspec.json.encode(shown).decode() + "\n")
    else:
        sys.stdout.write(f"{report(results, data)}\n")
    return 0


def report(results: list[MachinesResult], data: list[DataResult]) -> str:
    rows = [list(msgspec.structs.astuple(each)) for each in results]
    most = max(each.machines for each in results)
    parts = [
        table(rows, MachinesResult.__struct_fields__),
        "Bytes to the centre (in parentheses: less than raw)",
        table(
            [_told_apart(each) for each in data],
            ["web", "raw", "HTML only", "compressed only", "both", f"{most} streams"],
        ),
        "Means of all webs (published: 50 % less time, 80 % fewer repeated, 83 % less data)",
    ]
    for count in sorted({each.machines for each in results} - {1}):
        these = [each for each in results if each.machines == count]
        again = sum(each.repeated for each in these)
        time = _change([1 - 1 / each.faster for each in these], "less time", "more time")
        less = _change([each.less for each in these], "less data", "more data")
        parts.append(f"  {count} machines: {time}, {again} repeated URLs, {less}")
    parts.append(repeated(len({each.web for each in results}), "web"))
    return "\n\n".join(parts[:3]) + "\n\n" + "\n".join(parts[3:])


def _change(shares: list[float], less: str, more: str) -> str:
    """A mean of what was saved, as a sentence without a sign."""
    saved = mean(shares)
    return f"{abs(saved):.0%}{plus_minus(shares, '.0%')} {less if saved >= 0 else more}"


def _told_apart(each: DataResult) -> list[object]:
    left = (each.html, each.compressed, each.both, each.streams)
    return [each.web, each.raw, *(f"{size:,} (-{1 - size / each.raw:.0%})" for size in left)]
