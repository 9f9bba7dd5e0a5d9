"""An endless site: real pages beside a calendar, session ids in URLs, endless subdomains, growing
paths and queries.

with TrapWeb(pages=1500).serve() as site:
    crawl(site.url, proxy=site.proxy, scope="domain")
    assert len(site.found) > 0.95 * len(site.real)
    assert site.wasted < 3000
"""

import threading
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from random import Random
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

from sanderling.testing.prose import nouns, sentences

HOME = "trap.test"
_BRANCHING = 6
_MONTHS = "January February March April May June July August September October November December".split()  # noqa: SIM905


@dataclass(frozen=True)
class TrapWeb:
    """`pages` real pages on one host. Links to a third of them have a new session id in every
    answer."""

    pages: int = 300
    seed: int = 0
    echo: bool = False  # every trap page also contains its own address, so that no two are equal

    @cached_property
    def paths(self) -> list[str]:
        words = nouns(self.seed)
        found = ["/"]
        for number in range(1, self.pages):
            section = ("guide", "news", "shop")[number % 3]
            found.append(f"/{section}/{words[number % 256]}-{words[number * 7 % 256]}-{number}")
        return found

    def serve(self) -> "ServedTraps":
        return ServedTraps(self)

    def body(self, number: int, session: str) -> str:
        """A real page with links to its children in a tree, to a few other pages and into every
        trap."""
        chance = Random(f"{self.seed}/{number}")
        text = " ".join(chance.sample(sentences(self.seed), 12))
        others = [chance.randrange(self.pages) for _ in range(4)]
        children = range(number * _BRANCHING + 1, min((number + 1) * _BRANCHING + 1, self.pages))
        links = [self._link(each, session) for each in (0, *children, *others)]
        traps = ["/calendar/2024/5/", "/wiki/start/", "/search?tag=" + nouns(self.seed)[number % 5], "/lost/" + session]
        traps.append(f"http://n{number % 3}.{HOME}/")
        return _page(f"{nouns(self.seed)[number % 256].title()} {number}", text, links + traps)

    def _link(self, number: int, session: str) -> str:
        path = self.paths[number]
        return f"{path}?visit={session}" if path.startswith("/shop/") else path


def trap(host: str, path: str, query: str) -> str | None:
    """The trap page at an address. None if there is none."""
    if host != HOME:
        name = host.removesuffix("." + HOME)
        return _page(
            "Welcome", "One of our many friendly sites.", [f"http://{name}a.{HOME}/", f"http://{name}b.{HOME}/"]
        )
    if path.startswith("/calendar/"):
        return _calendar(path)
    if path.startswith("/wiki/"):
        return _page("Wiki", "Nothing has been written here yet.", ["more/", "edit/", "history/"])
    if path == "/search":
        more = [f"?{query}&tag={word}" for word in ("red", "green", "blue")]
        return _page("Search", "Your search has found nothing, try again with another tag.", more)
    if path.startswith("/lost/"):
        return _page("Oops", "We could not find that page.", ["/"])
    return None


def _calendar(path: str) -> str | None:
    try:
        numbers = [int(part) for part in path.strip("/").split("/")[1:]]
    except ValueError:
        return None
    if len(numbers) == 3:
        year, month, day = numbers
        return _page(f"{day} {_MONTHS[month % 12]} {year}", "Nothing is planned for this day.", ["../"])
    if len(numbers) != 2:
        return None
    year, month = numbers
    days = " ".join(f"{day}/" for day in range(1, 29)).split()
    before = f"/calendar/{year - (month == 1)}/{(month - 2) % 12 + 1}/"
    after = f"/calendar/{year + (month == 12)}/{month % 12 + 1}/"
    return _page(f"{_MONTHS[month % 12]} {year}", "What happens this month.", [before, after, *days])


def _page(title: str, text: str, links: list[str]) -> str:
    items = "".join(f'<li><a href="{link.replace("&", "&amp;")}">{n}</a></li>\n' for n, link in enumerate(links))
    return f"<!DOCTYPE html><html><head><title>{title}</title></head><body><h1>{title}</h1><p>{text}</p><ul>{items}</ul></body></html>"


class ServedTraps:
    """A running server: the value of `with web.serve() as site`.

    url, proxy     the seed, and the proxy that knows the hosts
    requests       how often each URL was requested
    real, found    the paths of the real pages, and of those that were fetched
    wasted         fetches that returned no real page, or a real page for a second time
    """

    def __init__(self, web: TrapWeb) -> None:
        self.web = web
        self.url = f"http://{HOME}/"
        self.real = set(web.paths)
        self.found: set[str] = set()
        self.requests: Counter[str] = Counter()
        self.answered = 0
        self.wasted = 0
        self._sessions = count(1)
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        site = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1

            def do_GET(self) -> None:
                status, body = site.answer(self.path)
                self.send_response(status)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.proxy = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), name="trap-web", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def answer(self, url: str) -> tuple[int, bytes]:
        parts = urlsplit(url)
        host, path = parts.hostname or HOME, parts.path or "/"
        with self._lock:
            self.requests[url] += 1
            if path in ("/robots.txt", "/sitemap.xml"):
                return 404, b""
            self.answered += 1
            # Made from a counter, but without any similarity to the one before.
            session = f"{next(self._sessions) * 0x9E3779B97F4A7C15 & 0xFFFFFFFF:08x}"
            if host == HOME and path in self.real:
                self.wasted += path in self.found
                self.found.add(path)
            else:
                self.wasted += 1
        if host == HOME and path in self.real:
            return 200, self.web.body(self.web.paths.index(path), session).encode()
        body = trap(host, path, parts.query)
        if body is None:
            return 404, b""
        if self.web.echo:
            body = body.replace("<p>", f"<p>{host} {path.replace('/', ' ')} {parts.query}. ".replace("&", "&amp;"))
        return 200, body.encode()
