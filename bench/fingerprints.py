"""Measures what fingerprints add to a visit, which parses the page and takes its links and text
anyway.

The client's reader reads the same pages as first visits, without fingerprints, and as later visits,
with fingerprints. Both alternate, in groups as in a crawl. The fastest of several rounds counts for
each group, because other load can only make a round slower.
"""

import time
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import islice
from types import SimpleNamespace
from typing import Any, NamedTuple

from bench import web
from bench.places import CACHE, BenchError, version_of

GROUP = 16
ROUNDS = 9
ABOUT_THE_MEAN = range(15_000, 30_000)  # which is 22 KB


class Cost(NamedTuple):
    """CPU seconds for a page, and the stored bytes, without its paragraphs and for them."""

    parse: float
    visit: float
    added: float
    state: float
    paragraphs: float


def documentation(count: int) -> list[bytes]:
    """Pages of about the mean size, from the documentation of the race. Empty if it is not
    installed."""
    try:
        if not all(version_of(tree.package) for tree in web.TREES) or not (CACHE / "web").exists():
            return []
    except BenchError:
        return []
    homes = [(CACHE / "web" / tree.name).resolve() for tree in web.TREES]
    files = [path for home in homes for path in sorted(home.rglob("*.html")) if path.stat().st_size in ABOUT_THE_MEAN]
    step = max(1, len(files) // count)
    return [path.read_bytes() for path in islice(files, 0, step * count, step)]


def cost(pages: Sequence[bytes]) -> Cost:
    """The mean over some pages."""
    from sanderling.documents.tree import parse

    first, again = reader(), reader()
    totals = [0.0, 0.0, 0.0]
    kept: list[bytes] = []
    for start in range(0, len(pages), GROUP):
        group = pages[start : start + GROUP]
        best = [1e9, 1e9, 1e9]
        visits: list[Any] = []
        runs: tuple[Callable[[], object], ...] = (
            lambda group=group: [parse(page) and 0 for page in group],
            lambda group=group: first.read(fetched(group, b"")),
            lambda group=group, visits=visits: visits.extend(again.read(fetched(group, b"another"))),
        )
        for _ in range(ROUNDS):
            for at, run in enumerate(runs):
                began = time.thread_time()
                run()
                best[at] = min(best[at], time.thread_time() - began)
        totals = [total + least for total, least in zip(totals, best, strict=True)]
        kept += [visit.fingerprint for visit in visits[: len(group)]]
    parsing, plain, full = (total / len(pages) for total in totals)
    return Cost(parsing, plain, full - plain, *_sizes(kept))


def _sizes(kept: list[bytes]) -> tuple[float, float]:
    from sanderling.change.judging import known_fingerprint

    counts = [known.paragraphs if (known := known_fingerprint(each)) else 0 for each in kept]
    whole = sum(map(len, kept)) / len(kept)
    paragraphs = sum(counts) / len(kept)
    return whole - 11 * paragraphs, paragraphs


def reader() -> Any:
    from sanderling.change.judging import fingerprinter
    from sanderling.client.reading import Reader
    from sanderling.settings import Settings

    class Detector:
        describe_image = staticmethod(bytes)

        @cached_property
        def fingerprint(self) -> Any:
            return fingerprinter(())

    return Reader(Settings(), SimpleNamespace(add=lambda exchange: None), lambda id: None, Detector())


def fetched(pages: Sequence[bytes], digest: bytes) -> list[Any]:
    """Fetched pages, as the fetcher hands them over. With a digest, they count as visited
    before."""
    from sanderling.client.fetch import Fetch
    from sanderling.client.fetcher import Request, Response
    from sanderling.client.polite_host import PoliteHost
    from sanderling.model import Task
    from sanderling.settings import Settings

    host = PoliteHost("http://localhost", True, Settings())
    fetches = []
    for at, page in enumerate(pages):
        task = Task(at, f"http://localhost/{at}.html", 1, 0, 0, digest=digest)
        fetch = Fetch(task, host, Request(task.url, True, len(page)))
        fetch.response = Response()
        fetch.response.status, fetch.response.size, fetch.response.chunks = 200, len(page), [page]
        fetch.response.lines = [b"HTTP/1.1 200 OK", b"Content-Type: text/html"]
        fetches.append(fetch)
    return fetches


def report(pages: list[bytes], what: str) -> None:
    found = cost(pages)
    size = sum(map(len, pages)) / len(pages) / 1000
    print(f"{len(pages)} {what}, mean {size:.0f} KB; CPU microseconds a page")
    print(f"{'a parse':44}{1e6 * found.parse:8.0f}")
    print(f"{'a visit: parse, links, text, sketch':44}{1e6 * found.visit:8.0f}")
    print(f"{'the fingerprint, on top of a visit':44}{1e6 * found.added:8.0f}")
    print(f"state: {found.state:.0f} bytes a page and 11 for each of {found.paragraphs:.0f} paragraphs")
    print()
