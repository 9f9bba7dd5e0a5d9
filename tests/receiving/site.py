"""A site of files, and a refresh that keeps a copy of it."""

import contextlib
import json
import os
import subprocess
from collections import Counter
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler
from pathlib import Path
from typing import Any

from sanderling.server.requests import remote
from tests.conftest import FAST, Run, command
from tests.servers import WORDS, ThreadedServer
from tests.waiting import PATIENCE, until


class FileSite(ThreadedServer):
    """Serves a folder over HTTP and counts requests by path."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.requests: Counter[str] = Counter()
        requests = self.requests

        class Handler(SimpleHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                requests[self.path] += 1
                super().do_GET()

            def log_message(self, *_: object) -> None:
                pass

        super().__init__(partial(Handler, directory=str(root)))  # type: ignore[arg-type]
        self.host = f"127.0.0.1:{self.port}"
        self.url = f"http://{self.host}"

    def write(self, name: str, text: str) -> None:
        """Replaces a page as a whole, so that nobody reads half of it."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_name(f".{path.name}.part")
        beside.write_text(f"<!doctype html><title>{name}</title><h1>{name}</h1><p>{text}</p>", "utf-8")
        beside.replace(path)


def prose(number: int) -> str:
    """A text of its own for every number."""
    return " ".join(f"{WORDS[number % len(WORDS)]} {word} {number * 7919 + n}" for n, word in enumerate(WORDS))


def make_site(root: Path, pages: int) -> FileSite:
    root.mkdir()
    site = FileSite(root)
    for number in range(pages):
        site.write(f"p{number}.html", prose(number))
    links = "".join(f'<a href="/p{number}.html">{number}</a> ' for number in range(pages))
    site.write("index.html", links)
    return site


def crawl(sanderling: Run, site: FileSite, folder: Path, *more: object) -> None:
    ran = sanderling("crawl", f"{site.url}/", "-d", folder, *FAST, "--no-index", *more)
    assert ran.code == 0, ran.err


@contextlib.contextmanager
def refreshing(folder: Path, *arguments: object, budget: str = "50/s") -> Iterator["subprocess.Popen[str]"]:
    """A refresh that runs for ever and has planned."""
    run = subprocess.Popen(
        command("refresh", folder, "--forever", "--json", "--budget", budget, "--no-index", *arguments),
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=dict(os.environ), start_new_session=True,
    )  # fmt: skip
    try:
        until(lambda: answers(folder))
        yield run
    finally:
        if run.poll() is None:
            run.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            run.communicate(timeout=PATIENCE)


def answers(folder: Path) -> bool:
    try:
        remote.look(folder, PATIENCE)
    except remote.NotRunning:
        return False
    return True


def versions(sanderling: Run, folder: Path, url: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in sanderling("history", folder, url, "--json").out.splitlines()]
