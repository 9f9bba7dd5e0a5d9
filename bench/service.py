"""`python -m bench service`: the memory of `sanderling serve --keep-fresh` with 20 watched pages.

The proportional set size (PSS) of the server and all its children is summed three times a second:
memory that processes share counts once.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

WATCHES, EVERY = 20, 40


class _Shop(BaseHTTPRequestHandler):
    asked = 0

    def do_GET(self) -> None:
        type(self).asked += 1
        body = f"<title>P</title><b class=price>{self.asked % 7}.00</b><p>{'words and more ' * 2000}".encode()
        self.send_response(200 if self.path != "/robots.txt" else 404)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def report(seconds: float) -> int:
    shop = ThreadingHTTPServer(("127.0.0.1", 0), _Shop)
    threading.Thread(target=shop.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory(prefix="sanderling-service-") as place, _served(Path(place), shop) as pid:
        totals, most, most_of = [], 0.0, dict[str, float]()
        ends = time.monotonic() + seconds
        while time.monotonic() < ends:
            found = dict(_memory(each) for each in _tree(pid))
            totals.append(sum(found.values()))
            if totals[-1] > most:
                most, most_of = totals[-1], found
            time.sleep(0.3)
    print(f"{_Shop.asked} visits; MB: median {sorted(totals)[len(totals) // 2]:.0f}, most {most:.0f}")
    for name, each in most_of.items():
        print(f"  {each:5.0f}  {name}")
    return 0


@contextlib.contextmanager
def _served(home: Path, shop: ThreadingHTTPServer) -> Iterator[int]:
    urls = [f"http://127.0.0.1:{shop.server_port}/p/{n}" for n in range(WATCHES)]
    tables = "".join(f'\n[[watch]]\nurl = "{url}"\nselect = [".price"]\nevery = "{EVERY}s"\n' for url in urls)
    (home / "shops").mkdir()
    settings = f"seeds = {json.dumps(urls)}\nmax_depth = 0\nsitemaps = false\n{tables}"
    (home / "shops" / "sanderling.toml").write_text(settings)
    command = [sys.executable, "-m", "sanderling", "serve", str(home), "--keep-fresh", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            yield server.pid
        finally:
            server.terminate()


def _tree(pid: int) -> list[int]:
    found = [pid]
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").glob("*/children"):
            for child in task.read_text().split():
                found += _tree(int(child))
    return found


def _memory(pid: int) -> tuple[str, float]:
    """What a process runs, and its part of the memory in MB."""
    with contextlib.suppress(OSError):
        words = Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return f"{pid} {words[:90]}", int(line.split()[1]) / 1024
    return str(pid), 0.0
