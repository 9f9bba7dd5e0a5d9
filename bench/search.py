"""Measures search: indexing a page from the archive, and answering a query.

It makes a crawl folder of synthetic pages without a network. Word frequencies follow Zipf's law,
pages have 50 to 2,000 words, and one in twenty has a second version. The process that indexes
beside a crawl works on it for a minute. Then the index is made again from the WARC files, and
queries of several kinds are run, each with ten snippets. CPU time is that of the whole process,
including the threads of the index.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bench.places import RESULTS, say, working_folder

if TYPE_CHECKING:
    from sanderling.client.warc_writer import WarcWriter
    from sanderling.model import Visit
    from sanderling.repository.folder import Folder

PAGES = 100_000
VOCABULARY = 200_000
MEAN_WORDS = 400
HOSTS = 50
AGAIN_EVERY = 20
A_REPORT = 500
FIRST, SECOND = 1.70e9, 1.71e9  # when pages were visited
ASKED = 200  # queries of each kind
FOLLOWED = 60.0
_SYLLABLES = [a + b + c for a in "bdfgklmnprst" for b in "aeiou" for c in ("", "n", "r", "s", "l")]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--pages", type=int, default=PAGES, help=f"how many pages ({PAGES:,})")
    parser.add_argument("--of", type=Path, metavar="DIR", help="index this crawl instead, and ask nothing")
    parser.add_argument("--on", default=working_folder(), metavar="DIR", help="where the crawl is written (memory)")


def run(chosen: argparse.Namespace) -> int:
    from sanderling.repository.folder import Folder

    if chosen.of:
        figures: dict[str, object] = {"indexing": indexing(Folder(chosen.of))}
    else:
        with tempfile.TemporaryDirectory(prefix="bench-search-", dir=chosen.on) as name:
            folder = Folder(Path(name, "crawl"))
            words = Words(np.random.default_rng(7))
            say(f"making {chosen.pages:,} pages ...")
            make(folder, chosen.pages, words)
            figures = {"pages": chosen.pages, "following": following(folder), "indexing": indexing(folder)}
            figures["answering"] = answering(folder, words)
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / "search.json").write_text(json.dumps(figures, indent=2))
    return 0


class Words:
    """A vocabulary in which the first word is the most frequent."""

    def __init__(self, chance: np.random.Generator) -> None:
        self.chance = chance
        made: dict[str, None] = {}
        while len(made) < VOCABULARY:
            lengths = chance.integers(1, 5, 10_000).tolist()
            places = iter(chance.integers(0, len(_SYLLABLES), sum(lengths)).tolist())
            made |= dict.fromkeys("".join(_SYLLABLES[next(places)] for _ in range(length)) for length in lengths)
        self.all = np.array(list(made)[:VOCABULARY])
        weights = 1 / np.arange(1, VOCABULARY + 1)
        self._sums = np.cumsum(weights / weights.sum())

    def some(self, count: int) -> list[str]:
        places = np.searchsorted(self._sums, self.chance.random(count))
        found: list[str] = self.all[np.minimum(places, VOCABULARY - 1)].tolist()
        return found

    def of_rank(self, low: int, high: int) -> str:
        return str(self.all[int(self.chance.integers(low, high))])


def make(folder: Folder, pages: int, words: Words) -> None:
    """A crawl folder as a crawl leaves it."""
    from sanderling.model import Change, ChangeKind, Commit, Counts, Host, NewUrl, Settled, State
    from sanderling.repository.opening import open_store
    from sanderling.settings import Settings, dump
    from sanderling.urls import identity

    folder.path.mkdir()
    folder.warcs.mkdir()
    folder.settings.write_text(dump(Settings(), ()))
    archive = WarcWriter(folder.warcs, "bench")
    hosts = [Host(identity(f"http://host{n}.example"), f"http://host{n}.example") for n in range(HOSTS)]
    with contextlib.closing(open_store(folder, readonly=False)) as store:
        for number, start in enumerate(range(0, pages, A_REPORT), 1):
            names = [
                f"{hosts[place % HOSTS].origin}/{'/'.join(words.some(2))}-{place}.html"
                for place in range(start, min(start + A_REPORT, pages))
            ]
            visits = [visit_to(url, archive, words, FIRST) for url in names]
            urls = [
                NewUrl(visit.id, url, hosts[place % HOSTS].id, 1, State.QUEUED, 0.0, 0, 0, "", "")
                for place, (url, visit) in enumerate(zip(names, visits, strict=True), start)
            ]
            settled = [Settled(visit.id, State.FETCHED, 0, 0.0, "") for visit in visits]
            counts = Counts()
            store.commit(Commit("bench", 2 * number, urls, settled, visits, hosts, archive.flush(), counts))
            again = [visit_to(url, archive, words, SECOND) for url in names[::AGAIN_EVERY]]
            changes = {visit.id: Change(ChangeKind.TEXT, 0.5, "", "") for visit in again}
            store.commit(Commit("bench", 2 * number + 1, [], [], again, [], archive.flush(), counts, changes=changes))
            store.weigh([(visit.id, float(words.chance.random() ** 4)) for visit in visits])
    archive.close()


def visit_to(url: str, archive: WarcWriter, words: Words, at: float) -> Visit:
    from sanderling.client.sketch import sketch
    from sanderling.model import Exchange, Outcome, Visit
    from sanderling.urls import identity

    count = int(np.clip(words.chance.lognormal(np.log(MEAN_WORDS) - 0.3, 0.8), 50, 2000))
    title = " ".join(words.some(4))
    paragraphs = [" ".join(words.some(60)) for _ in range(max(1, count // 60))]
    parts = "".join(f"<h2>{' '.join(words.some(3))}</h2><p>{each}</p>" for each in paragraphs)
    body = f'<html lang="en"><title>{title}</title><h1>{title}</h1>{parts}'.encode()
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"
    stored = archive.add(Exchange(url, at, b"", head, body, "text/html", "", False, "", b""))
    found = sketch(" ".join(paragraphs))
    return Visit(
        id=identity(url), outcome=Outcome.PAGE, status=200, at=at, size=len(body), mime="text/html", language="en",
        title=title, digest=body[:16], text_digest=found.digest, simhash=found.simhash, stored=stored,
    )  # fmt: skip


def following(folder: Folder) -> dict[str, float]:
    """Measures the process beside a crawl, while there is always more to index."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    command = [sys.executable, "-m", "sanderling.jobs.index", str(folder.path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(FOLLOWED)
        process.communicate()  # closes its input
    after, clock = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic() - started
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    say(f"beside a crawl: {cpu:.1f} s of CPU time in {clock:.1f} s, its start included")
    return {"cpu": cpu, "seconds": clock}


def indexing(folder: Folder) -> dict[str, float]:
    from sanderling.repository.opening import open_store
    from sanderling.search.indexing import rebuild

    with contextlib.closing(open_store(folder, readonly=True)) as store:
        cpu, clock = time.process_time(), time.perf_counter()
        done = rebuild(folder, store)
        cpu, clock = time.process_time() - cpu, time.perf_counter() - clock
    size = sum(path.stat().st_size for path in folder.index.rglob("*") if path.is_file())
    archived = sum(path.stat().st_size for path in folder.warcs.iterdir())
    say(f"indexed {done:,} versions: {cpu / done * 1e6:.0f} us of CPU time each, {done / clock:,.0f}/s,")
    say(f"  {size / done / 1024:.1f} KiB of index for {archived / done / 1024:.1f} KiB of archive each")
    return {"versions": done, "cpu_us": cpu / done * 1e6, "per_second": done / clock, "bytes": size, "warc": archived}


def questions(words: Words) -> Iterator[tuple[str, Callable[[], dict[str, object]]]]:
    """Kinds of queries, and how to make one."""
    rare, common = (1000, 50_000), (1, 100)
    yield "a rare word", lambda: {"text": words.of_rank(*rare)}
    yield "a common word", lambda: {"text": words.of_rank(*common)}
    yield "two words", lambda: {"text": " ".join(words.of_rank(20, 2000) for _ in range(2))}
    yield "four words, one of them", lambda: {"text": " OR ".join(words.of_rank(20, 5000) for _ in range(4))}
    yield "a phrase", lambda: {"text": f'"{words.of_rank(1, 20)} {words.of_rank(1, 50)}"'}
    yield "a beginning", lambda: {"text": f"{words.of_rank(*rare)[:5]}*"}
    yield "a misspelling", lambda: {"text": f"{words.of_rank(*rare)}x~"}
    yield (
        "excluded, one host",
        lambda: {"text": f"{words.of_rank(*common)} -{words.of_rank(*common)}", "host": "host7.example"},
    )
    yield "over time", lambda: {"text": words.of_rank(100, 5000), "versions": True}
    yield "at a time", lambda: {"text": words.of_rank(100, 5000), "at": (FIRST + SECOND) / 2}


def answering(folder: Folder, words: Words) -> dict[str, dict[str, float]]:
    from sanderling.search.searching import Query, open_search

    figures = {}
    everything: list[float] = []
    all_cpu: list[float] = []
    with open_search(folder) as search:
        search.find(Query(text=words.of_rank(1, 100)))
        for kind, ask in questions(words):
            taken, cpu, found = [], [], 0
            for _ in range(ASKED):
                asked = Query(**ask())  # type: ignore[arg-type]
                started, spent = time.perf_counter(), time.process_time()
                results = search.find(asked)
                taken.append((time.perf_counter() - started) * 1000)
                cpu.append((time.process_time() - spent) * 1000)
                found += results.total
            figures[kind] = _summary(taken, cpu)
            everything += taken
            all_cpu += cpu
            say(f"{kind:24} {_said(figures[kind])}   {found / ASKED:>9,.0f} matching")
    figures["all"] = _summary(everything, all_cpu)
    say(f"{'all':24} {_said(figures['all'])}")
    return figures


def _summary(taken: list[float], cpu: list[float]) -> dict[str, float]:
    parts, spent = statistics.quantiles(taken, n=100), statistics.quantiles(cpu, n=100)
    return {"median_ms": parts[49], "p95_ms": parts[94], "cpu_median_ms": spent[49], "cpu_p95_ms": spent[94]}


def _said(figures: dict[str, float]) -> str:
    by_clock = f"median {figures['median_ms']:6.1f} ms, 95 % within {figures['p95_ms']:6.1f} ms"
    return f"{by_clock}; of CPU time {figures['cpu_median_ms']:6.1f} and {figures['cpu_p95_ms']:6.1f} ms"
