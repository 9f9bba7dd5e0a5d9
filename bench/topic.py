"""What a topic costs: judging pages and links in a client, counting in the server, and whole crawls
with and without.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from bench.measure import measure
from bench.places import SANDERLING, say
from sanderling.documents.html import HtmlPage
from sanderling.documents.links import pack
from sanderling.model import Kind, NewUrl, Outcome, State, Task, Visit
from sanderling.server.gate.holding import Lessons
from sanderling.server.gate.tunnel import Tunnel
from sanderling.server.ranking.focus import Focus
from sanderling.testing import SyntheticWeb
from sanderling.topics.judging import Judge
from sanderling.topics.model import Example, Topic, write
from sanderling.topics.training import train
from sanderling.urls import identity, join, origin

LINKS, NEW = 30, 8  # on a page, and how many of them a client has not reported before
LAPS = 7
EXAMPLES = 80


def report(pages: int, rounds: int) -> int:
    web = SyntheticWeb(hosts=1, pages=pages, seed=3, links=LINKS, size=4500, topics=5, locality=0.5, appear=0, vanish=0)
    urls = sorted(web.pages_at(0.0))
    read = [HtmlPage(web.body(url, 0.0), "utf-8", url) for url in urls[:400]]
    told = [page.text_and_links() for page in read]
    texts = [text for text, _ in told]
    given = zip(urls[:EXAMPLES], texts, strict=False)
    topic = train("bench", [Example(url, web.topic(url) == 1, text) for url, text in given])
    judge = Judge(topic.weights)
    where = _cpu(lambda: [page.text_and_links() for page in read]) - _cpu(lambda: [page.text() for page in read])
    by_page = (where + _cpu(lambda: [judge.page("some title", *each) for each in told])) / len(texts)
    by_link, links = _links(judge, read)
    print(f"client: {by_page * 1e6:.0f} us a page, {by_link * 1e6:.1f} us a new link ({links:,} links)")
    print(f"client: {(by_page + NEW * by_link) * 1e6:.0f} us for a page with {NEW} new links")
    print(f"server: {_server() * 1e6:.1f} us for a page with {LINKS} links, {NEW} of them new")
    _crawls(web, topic, rounds)
    _many_hosts(rounds)
    return 0


def _cpu(work: Callable[[], object]) -> float:
    """The least CPU seconds of some laps: other processes only add to it."""
    found = []
    for _ in range(LAPS):
        begun = time.process_time()
        work()
        found.append(time.process_time() - begun)
    return min(found)


def _links(judge: Judge, read: list[HtmlPage]) -> tuple[float, int]:
    """What a new link costs more than without a topic: the words around it, and judging it."""
    hrefs = [page.hrefs(True) for page in read]
    count = sum(map(len, hrefs))
    plain = _cpu(lambda: [page.anchor_texts(each) for page, each in zip(read, hrefs, strict=True)])
    around = _cpu(lambda: [page.anchor_surroundings(each) for page, each in zip(read, hrefs, strict=True)])
    said = [
        (*words, join(page.url, href) or page.url)
        for page, each in zip(read, hrefs, strict=True)
        for words, href in zip(page.anchor_surroundings(each), each, strict=True)
    ]
    judged = _cpu(lambda: [judge.link(*each) for each in said])
    return (around - plain + judged) / count, count


class _Nothing:
    """A store without anything in it."""

    def off_topic(self, most: int) -> list[tuple[int, int, int, int, float]]:
        return []

    def all_held(self, most: int) -> list[tuple[int, int, int, str]]:
        return []

    def known(self, ids: list[int]) -> dict[int, tuple[str, int]]:
        return {}

    def held(self, host: int, reason: str, most: int) -> list[tuple[int, int]]:
        return []


def _server() -> float:
    """What the server does more: learn from a page, look its links up, rank and place the new
    ones.
    """
    home = "http://host.test"
    host, count = identity(origin(home)), 2000
    tasks = [Task(identity(f"{home}/{n}"), f"{home}/{n}", 1, 0, 0) for n in range(count)]
    visits = [
        Visit(
            id=task.id, outcome=Outcome.PAGE, status=200, relevance=(n % 10) / 10,
            links=pack([identity(f"{home}/{(n * 7 + k) % (4 * count)}") for k in range(LINKS)]),
        )
        for n, task in enumerate(tasks)
    ]  # fmt: skip
    rows = [
        [NewUrl(identity(f"{home}/new/{n}/{k}"), f"{home}/new/{n}/{k}", host, 2, State.QUEUED, 0.0, task.id, 0, "", "", Kind.PAGE, relevance=0.2) for k in range(NEW)]
        for n, task in enumerate(tasks)
    ]  # fmt: skip

    host_of = lru_cache(1024)(identity)

    def work() -> None:
        focus = Focus(0.5)
        tunnel = Tunnel(_Nothing(), 0.5, 3, focus)
        for visit, task, new in zip(visits, tasks, rows, strict=True):
            focus.learn([(visit, task)])
            tunnel.learn([(visit, task)], Lessons())
            for row in new:
                focus.rank(row.relevance, visit.relevance, visit.relevance, host_of(origin(row.url)))
                tunnel.place(row)

    return _cpu(work) / count


def _many_hosts(rounds: int) -> None:
    """How much of a topic the first fifth of the pages of 20 hosts holds, in real crawls that pause
    between two pages of a host.
    """
    shares: dict[str, list[float]] = {"plain": [], "focused": []}
    for seed in range(200, 200 + rounds):
        web = SyntheticWeb(
            hosts=20, pages=1500, seed=seed, links=10, size=1200, topics=5, locality=0.8, appear=0, vanish=0
        )
        urls = sorted(web.pages_at(0.0))
        mine = [url for url in urls if web.topic(url) == 1]
        given = mine[:: len(mine) // 20][:20] + [url for url in urls if web.topic(url) != 1][::20]
        read = {url: HtmlPage(web.body(url, 0.0), "utf-8", url).text() for url in given}
        topic = train("bench", [Example(url, web.topic(url) == 1, text) for url, text in read.items()])
        with tempfile.TemporaryDirectory(prefix="sanderling-bench-") as place, web.serve() as site:
            write(Path(place, "bench.topic"), topic)
            for name, flags in (("plain", []), ("focused", ["--topic", str(Path(place, "bench.topic"))])):
                site.requests.clear()
                command = [str(SANDERLING), "crawl", web.seeds[0], "-d", str(Path(place, name)), "--scope", "any"]
                manners = ["--proxy", site.proxy, "--delay", "0.2", "--no-sitemaps", "--render", "never", "--no-index"]
                done = measure([*command, *manners, "--clients", "1", "--json", "--max-pages", "300", *flags])
                counted = set(mine).difference(given)
                shares[name].append(len(counted.intersection(site.requests)) / len(counted))
                say(f"{name}: {shares[name][-1]:.2f} of the topic in 300 pages, {done.weight.wall:.1f} s")
    found = {name: statistics.mean(each) for name, each in shares.items()}
    print(
        f"20 hosts: {found['focused']:.2f} of the topic in a fifth of the pages, {found['plain']:.2f} without a topic"
    )


def _crawls(web: SyntheticWeb, topic: Topic, rounds: int) -> None:
    """Crawls of the same pages in turns, by CPU seconds of all processes."""
    plain: list[float] = []
    focused: list[float] = []
    with tempfile.TemporaryDirectory(prefix="sanderling-bench-") as place, web.serve() as site:
        write(Path(place, "bench.topic"), topic)
        more = ["--topic", str(Path(place, "bench.topic")), "--tunnel-depth", "99"]
        for turn in range(rounds):
            for times, flags in ((plain, []), (focused, more)):
                folder = Path(place, f"crawl-{turn}-{len(flags)}")
                command = [
                    str(SANDERLING),
                    "crawl",
                    site.url,
                    "-d",
                    str(folder),
                    "--clients",
                    "1",
                    "--json",
                    "--no-index",
                ]
                manners = ["--per-host", "16", "--delay", "0", "--allow-private", "--no-sitemaps", "--render", "never"]
                done = measure([*command, *manners, *flags])
                fetched = int(str(done.last_json()["pages"]))
                times.append(done.weight.cpu / fetched)
                say(
                    f"{'focused' if flags else 'plain'}: {fetched:,} pages, {done.weight.cpu:.2f} CPU s, {done.weight.wall:.1f} s"
                )
    ratios = [one / two for one, two in zip(plain, focused, strict=True)]
    print(
        f"crawl: {min(plain) * 1e6:.0f} us CPU a page without a topic, {min(focused) * 1e6:.0f} with one; pages per CPU "
        f"second with a topic: {statistics.median(ratios):.2f}x (best laps {min(plain) / min(focused):.2f}x)"
    )
