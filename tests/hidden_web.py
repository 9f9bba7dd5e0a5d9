"""A site with records that only its form leads to, and forms that must never be sent."""

import random
import threading
from collections.abc import Callable, Sequence
from http.server import BaseHTTPRequestHandler
from itertools import accumulate
from typing import Any
from urllib.parse import parse_qsl, quote, urlsplit

from sanderling.testing.prose import words
from tests.servers import Answer, ThreadedServer

SEARCH = "<form action=/find role=search><label>Words <input name=q></label><input type=submit value=Search></form>"


def texts(count: int, seed: int = 5, length: int = 30) -> list[str]:
    """Records as texts in which the frequencies of words follow Zipf's law."""
    vocabulary, rng = words(3), random.Random(seed)
    weights = list(accumulate(1 / (rank + 2) for rank in range(len(vocabulary))))
    return [" ".join(rng.choices(vocabulary, cum_weights=weights, k=length)) for _ in range(count)]


class HiddenWeb(ThreadedServer):
    """Answers with what `page(path, query)` makes, `/r/N` with a record, and `/find?q=` with a
    paged list."""

    def __init__(self, records: Sequence[str], home: str = SEARCH, page: Callable[..., Any] | None = None) -> None:
        self.records = records
        self.home = home
        self.asked: list[tuple[str, str, dict[str, str]]] = []  # method, path, what was sent
        self.held = threading.Event()  # answers wait while it is cleared
        self.held.set()
        self._page = page
        web = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                parts = urlsplit(self.path)
                self._answer(parts.path, dict(parse_qsl(parts.query, keep_blank_values=True)))

            def do_POST(self) -> None:
                sent = self.rfile.read(int(self.headers["Content-Length"])).decode()
                self._answer(urlsplit(self.path).path, dict(parse_qsl(sent, keep_blank_values=True)))

            def _answer(self, path: str, sent: dict[str, str]) -> None:
                web.asked.append((self.command, path, sent))
                web.held.wait(60)
                found = web.answer(path, sent)
                body, kind, status, more = found if isinstance(found, Answer) else Answer(found.encode())
                self.send_response(status)
                for name, value in (("Content-Type", kind), ("Content-Length", str(len(body))), *more):
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        super().__init__(Handler)
        self.url = f"http://127.0.0.1:{self.port}/"

    def answer(self, path: str, sent: dict[str, str]) -> "str | Answer":
        made = self._page(path, sent) if self._page is not None else None
        if made is not None:
            return made if isinstance(made, Answer) else layout(made)
        if path == "/":
            return layout(f"<p>{self.records[0] if self.records else 'nothing'}</p>{self.home}")
        if path == "/find":
            word = sent.get("q", "").lower()
            hits = [number for number, text in enumerate(self.records) if word and word in text.split()]
            return layout(listing(hits, f"/find?q={quote(word)}", int(sent.get("p", "1"))))
        if path.startswith("/r/") and path[3:].isdigit() and int(path[3:]) < len(self.records):
            return layout(f"<h1>Record {path[3:]}</h1><p>{self.records[int(path[3:])]}</p>")
        return Answer(b"not here", status=404)

    def sent(self, path: str) -> list[dict[str, str]]:
        """What was sent to a path."""
        return [sent for _, asked, sent in self.asked if asked == path]


def layout(text: str) -> str:
    return f"<html><title>Hidden</title><body><a href=/>home</a> <a href=/about>about</a>{text}</body></html>"


def listing(hits: Sequence[int], url: str, page: int, size: int = 10) -> str:
    part = hits[(page - 1) * size : page * size]
    rows = "".join(f"<li><a href=/r/{number}>record {number}</a>" for number in part)
    more = f'<a href="{url}&p={page + 1}">Next</a> <a href="{url}&sort=date">by date</a>'
    return f"<p>{len(hits)} results</p><ul>{rows}</ul>{more if len(hits) > page * size else ''}"
