"""`sanderling lab shards`: what does a crawl of a large web by many servers cost in messages, and
how even is their work?

It simulates a web whose registered domains have sizes with a heavy tail. Each domain belongs to one
shard, by rendezvous hashing, with all its URLs, its queue and its manners. A link to a domain of
another shard is sent there, once for each URL: a shard remembers what it has sent. URLs to send are
collected for each shard until there are a thousand of them or some seconds have passed.

The second table is about time. A shard fetches at most so many pages a second, and each domain
allows one request after another with a pause. All domains that have pages left share the shard
evenly. It shows how long a few large domains keep a crawl waiting that is otherwise done.

Assumed are the share of links that lead to other domains, that half of those lead to main pages,
and that large domains are linked to in proportion to their size. Nothing is fetched.
"""

import argparse
import sys
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from sanderling.presenting.arguments import count, positive
from sanderling.presenting.plot import table

# Domains have at least one page; their sizes follow a power law, up to what a crawl takes of one.
_TAIL = 1.05
# Of the links to other domains: the share that leads to a main page.
_TO_MAIN = 0.5
BATCH = 1000  # URLs in a message, at most
DONE = (0.9, 0.99, 1.0)
_CHUNK = 1 << 20


class Web(NamedTuple):
    first: NDArray[np.int64]  # the first URL of each domain, and behind the last one the number of URLs
    domain: NDArray[np.int32]  # of each URL

    @property
    def sizes(self) -> NDArray[np.int64]:
        return np.diff(self.first)


class ShardsFigures(msgspec.Struct):
    """`waits` are the days until each share of DONE is fetched, by the slowest shard."""

    urls: int
    domains: int
    shards: int
    largest: float  # URLs of the fullest shard, compared with the mean
    smallest: float
    pages_a_second: float
    days: float  # if all shards were busy all the time
    crossing: float  # the share of all links
    sent: float  # URLs sent for each page
    sent_again: float  # the same, if a shard did not remember what it has sent
    messages: float  # a second, of one shard to all others
    bytes_a_second: float  # the same
    moved: float  # the share of URLs that move when one more shard is added
    waits: list[float]


def simulated_web(urls: int, most: int, random: np.random.Generator) -> Web:
    sizes = np.zeros(0, np.int64)
    while sizes.sum() < urls:
        more = np.minimum(random.pareto(_TAIL, max(urls // 20, 1000)) + 1, most).astype(np.int64)
        sizes = np.concatenate([sizes, more])
    ends = np.cumsum(sizes)
    domains = int(np.searchsorted(ends, urls)) + 1
    first = np.concatenate([[0], ends[:domains]])
    first[-1] = urls
    return Web(first, np.repeat(np.arange(domains, dtype=np.int32), np.diff(first)))


def owners(domains: int, shards: int) -> NDArray[np.int16]:
    """The shard of each domain, by rendezvous hashing: the one whose mixed number is greatest."""
    names = _mixed(np.arange(domains, dtype=np.uint64))
    best, owner = np.zeros(domains, np.uint64), np.zeros(domains, np.int16)
    for shard in range(shards):
        score = _mixed(names ^ _mixed(np.full(1, shard + 1, np.uint64) << np.uint64(40)))
        better = score > best
        best[better], owner[better] = score[better], shard
    return owner


def _mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finaliser of splitmix64."""
    x = numbers + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


class Traffic(NamedTuple):
    links: int  # that cross
    urls: NDArray[np.int64]  # different ones, from each shard to each other


def traffic(web: Web, owner: NDArray[np.int16], shards: int, outside: float, random: np.random.Generator) -> Traffic:
    """`outside` are the links of a page to other domains."""
    urls, links = np.zeros((shards, shards), np.int64), 0
    pages = np.bincount(owner, web.sizes, shards)
    for shard in range(shards):
        seen = np.zeros(len(web.domain), bool)
        left = int(pages[shard] * outside)
        while left > 0:
            some = min(left, _CHUNK)
            left -= some
            target = random.integers(0, len(web.domain), some)
            main = random.random(some) < _TO_MAIN
            target[main] = web.first[web.domain[target[main]]]
            crosses = target[owner[web.domain[target]] != shard]
            links += len(crosses)
            seen[crosses] = True
        urls[shard] = np.bincount(owner[web.domain[np.flatnonzero(seen)]], minlength=shards)
    return Traffic(links, urls)


def messages(urls: NDArray[np.int64], seconds: float, patience: float) -> float:
    """A second, of the average shard. A message leaves when it is full, or after `patience`
    seconds."""
    waiting = urls / seconds * patience  # that come together while one waits
    each = np.where(waiting > BATCH, waiting / BATCH, -np.expm1(-waiting)) / patience
    return float(each.sum() / len(urls))


def days_until(sizes: NDArray[np.int64], capacity: float, pause: float, shares: tuple[float, ...]) -> list[float]:
    """Until each share of the pages of a shard is fetched. It fetches `capacity` pages a second,
    one of a domain every `pause` seconds."""
    level = np.sort(sizes)
    steps = np.diff(level, prepend=0)
    left = len(level) - np.arange(len(level))  # domains with pages left
    rate = np.minimum(1 / pause, capacity / left)  # of each of them
    time, fetched = (np.concatenate([[0.0], np.cumsum(each)]) for each in (steps / rate, steps * left))
    return [float(np.interp(share * fetched[-1], fetched, time)) / 86_400 for share in shares]


def simulate(options: argparse.Namespace) -> ShardsFigures:
    random = np.random.default_rng(options.seed)
    web = simulated_web(options.urls, options.most, random)
    shards, sizes = options.shards, web.sizes
    owner = owners(len(sizes), shards)
    held = np.bincount(owner, sizes, shards)
    went = traffic(web, owner, shards, options.links * options.outside, random)
    seconds = options.urls / options.rate
    waits = [days_until(sizes[owner == n], options.rate / shards, options.pause, DONE) for n in range(shards)]
    after = owners(len(sizes), shards + 1)
    total = int(went.urls.sum())
    return ShardsFigures(
        options.urls, len(sizes), shards, float(held.max() / held.mean()), float(held.min() / held.mean()),
        options.rate, seconds / 86_400, went.links / (options.urls * options.links), total / options.urls,
        went.links / options.urls, messages(went.urls, seconds, options.patience),
        total / seconds / shards * options.bytes, float(sizes[after != owner].sum() / options.urls),
        np.max(waits, axis=0).tolist(),
    )  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    for name, default, about in (
        ("urls", 100_000_000, "URLs of the web"),
        ("shards", 64, "servers that share them"),
        ("most", 1_000_000, "pages of one domain, at most"),
        ("links", 40, "links on a page"),
        ("bytes", 30, "of a URL in a compressed message"),
        ("rate", 64_000, "pages a second of all shards together"),
        ("patience", 5, "seconds that a URL waits for others to be sent with"),
    ):
        parser.add_argument(
            f"--{name}", type=positive, default=default, metavar="N", help=f"{about} (default: {default:,})"
        )
    parser.add_argument("--outside", type=float, default=0.2, help="share of links to other domains (default: 0.2)")
    parser.add_argument(
        "--pause", type=float, default=1.5, help="seconds from one request of a domain to the next (default: 1.5)"
    )
    parser.add_argument("--seed", type=count, default=0, metavar="N", help="random seed (default: 0)")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")


def run(options: argparse.Namespace) -> int:
    figures = simulate(options)
    if options.json:
        sys.stdout.write(msgspec.json.encode(figures).decode() + "\n")
        return 0
    sys.stdout.write(
        f"{figures.urls:,} URLs of {figures.domains:,} domains on {figures.shards} shards, "
        f"{figures.pages_a_second:,.0f} pages a second\n\n"
    )
    rows = [
        ("fullest shard, of the mean", f"{figures.largest:.3f}"),
        ("emptiest shard, of the mean", f"{figures.smallest:.3f}"),
        ("links that lead to another shard", f"{figures.crossing:.1%}"),
        ("URLs sent for each page", f"{figures.sent:.2f}"),
        ("the same without memory of what was sent", f"{figures.sent_again:.2f}"),
        ("messages a second that a shard sends", f"{figures.messages:,.0f}"),
        ("bytes a second that a shard sends", f"{figures.bytes_a_second:,.0f}"),
        ("URLs that move to one more shard", f"{figures.moved:.2%}"),
        ("days, if every shard is always busy", f"{figures.days:.3f}"),
        *((f"days until {share:.0%} of the pages are fetched", f"{wait:.3f}") for share, wait in zip(DONE, figures.waits, strict=True)),
    ]  # fmt: skip
    sys.stdout.write(table(rows, ("figure", "")) + "\n")
    return 0
