"""A news site on the disk that changes every day, and a web server that knows who asked for
what."""

import os
import random
import threading
import time
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from sanderling.clock import DAY

SECTIONS = 12
# Pages that lie one below the other in a section: articles that are reached only through others.
# With eight of them, the published rank knows two levels of articles.
CHAIN = 8
# Letters only: pages that differ in digits alone count as one.
_WORDS = [
    a + b + c
    for a in ("bra", "cle", "dro", "flu", "gri", "mo", "pe", "stu")
    for b in ("nd", "rl", "st", "v")
    for c in ("a", "en", "ing", "o", "us")
]


class NewsSite:
    """A main page, sections, and articles in chains below them. Pages change at rates of their own.

    The first pages of a site change most, but most changes happen further down, where most pages
    are.
    """

    def __init__(self, root: Path, pages: int, daily: float, seed: int) -> None:
        self.root = root
        self._chance = random.Random(seed)
        self._daily = daily
        self._texts: dict[str, int] = {}
        self._rates: dict[str, float] = {}
        self._sections: dict[str, list[str]] = {f"section-{n}/": [] for n in range(SECTIONS)}
        self._began = time.time()
        for path in ("", *self._sections):
            self._rates[path] = 8.0
        while len(self._rates) < pages:
            self._new_article()
        for path in self._rates:
            self._write(path, 0)

    @property
    def pages(self) -> list[str]:
        return list(self._rates)

    def _new_article(self) -> str:
        """The section that it belongs to."""
        section = self._chance.choice(list(self._sections))
        path = f"{section}{len(self._rates)}.html"
        self._sections[section].append(path)
        self._rates[path] = self._chance.lognormvariate(0.0, 1.5)
        return section

    def day(self, number: int) -> set[str]:
        """Changes the site; returns the paths that are new or changed."""
        count = round(self._daily * len(self._rates))
        known = set(self._rates)
        changed = {self._new_article() for _ in range(max(1, count // 5))}
        born = set(self._rates) - known
        weighed = {path: self._chance.expovariate(1.0) / self._rates[path] for path in known - changed}
        changed |= set(sorted(weighed, key=weighed.__getitem__)[: max(0, count - len(born) - len(changed))])
        for section, articles in self._sections.items():  # the last of a chain links to the new article
            changed |= {articles[at - 1] for at, path in enumerate(articles) if path in born and at % CHAIN}
            changed |= {section} if any(path in born for path in articles) else set()
        for path in changed | born:
            self._write(path, number)
        return changed | born

    def _write(self, path: str, day: int) -> None:
        self._texts[path] = day
        where = self.root / (path if path.endswith(".html") else f"{path}index.html")
        where.parent.mkdir(parents=True, exist_ok=True)
        words = random.Random(f"{path} {day}")
        text = "".join(f"<p>{' '.join(words.choices(_WORDS, k=40))}</p>\n" for _ in range(5))
        links = "".join(f'<a href="/{link}">{link}</a>\n' for link in self._links(path))
        where.write_text(f"<!doctype html><title>{path or 'news'}</title>\n{links}{text}")
        os.utime(where, (self._began + day * DAY,) * 2)

    def _links(self, path: str) -> Iterator[str]:
        """The main page links to the sections, these to the first article of each chain, and
        articles to the next one."""
        if not path:
            yield from self._sections
        elif path in self._sections:
            yield from self._sections[path][::CHAIN]
        else:
            articles = self._sections[path.partition("/")[0] + "/"]
            at = articles.index(path)
            yield from articles[at + 1 : at + 2] if (at + 1) % CHAIN else []


class NewsServer:
    """Serves a folder on a port of its own, each answer after a while, and remembers when which
    page was asked for."""

    def __init__(self, root: Path, latency: float) -> None:
        self.asked: list[tuple[float, str]] = []
        asked = self.asked

        class Handler(SimpleHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                if "." not in self.path or self.path.endswith(".html"):
                    time.sleep(latency)
                    asked.append((time.monotonic(), self.path.lstrip("/")))
                super().do_GET()

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(root)))
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> "NewsServer":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def taken(self) -> tuple[set[str], float]:
        """The pages that were asked for since the last call, and the seconds from the first request
        to the last."""
        asked, self.asked[:] = list(self.asked), []
        times = [at for at, _ in asked]
        return {path for _, path in asked}, max(times) - min(times) if times else 0.0
