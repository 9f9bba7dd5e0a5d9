"""`python -m bench alarms`: false alarms on pages that are never the same, beside other watchers.

Eleven noisy pages are visited twelve times and really edited three times. Each watcher visits them
as its user would have it do, with its defaults. Told at a visit without an edit: a false alarm.
"""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
import venv
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import msgspec

from bench.noisy_pages import NOISE, VISITS, is_edit, page
from bench.places import BenchError, working_folder

PEERS = {"webchanges": "webchanges==3.37.0", "changedetection.io": "changedetection.io==0.60.10"}
ENVIRONMENT = Path.home() / ".cache" / "sanderling-bench" / "watchers"
LAST = 6  # visits after which everything should be learned
PATIENCE = 180.0

# Visits the pages once; returns those of which it told.
Visit = Callable[[], set[str]]


def report(names: list[str]) -> int:
    """Prints a row for each watcher."""
    print(f"{'':20} {'false alarms':>12} {f'in the last {LAST}':>14} {'recall':>7}")
    for name, watcher in {
        "sanderling": sanderling,
        "webchanges": webchanges,
        "changedetection.io": changedetection,
    }.items():
        if names and name not in names:
            continue
        try:
            told = _told(watcher)
        except (BenchError, OSError, subprocess.SubprocessError, httpx.HTTPError) as error:
            print(f"{name:20} does not run here: {error}")
            continue
        false = [(name, visit) for name, visit in told if not is_edit(visit)]
        late = sum(visit >= VISITS - LAST for _, visit in false)
        edits = len(NOISE) * sum(map(is_edit, range(VISITS)))
        print(f"{name:20} {len(false):12} {late:14} {(len(told) - len(false)) / edits:7.2f}", flush=True)
    return 0


def _told(watcher: Callable[[str, Path], contextlib.AbstractContextManager[Visit]]) -> set[tuple[str, int]]:
    """The pages and visits of which a watcher told. The first visit finds the pages."""
    told: set[tuple[str, int]] = set()
    with (
        tempfile.TemporaryDirectory(prefix="bench-alarms-", dir=working_folder()) as home,
        _serving() as site,
        watcher(site.url, Path(home)) as visit_all,
    ):
        for visit in range(VISITS):
            site.visit = visit
            found = visit_all()
            told |= {(name, visit) for name in found if visit}
    return told


class _Site:
    url = ""
    visit = 0


@contextmanager
def _serving() -> Iterator[_Site]:
    site = _Site()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name = self.path.strip("/")
            index = "<title>Index</title>" + "".join(f"<p><a href=/{each}>{each}</a></p>" for each in NOISE)
            body = (page(name, site.visit) if name in NOISE else index if not name else "").encode()
            self.send_response(200 if body else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    site.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


# ---- the watchers


@contextmanager
def sanderling(url: str, home: Path) -> Iterator[Visit]:
    folder = home / "crawl"
    command = [sys.executable, "-m", "sanderling"]
    known = 0

    def run(*arguments: str) -> bytes:
        ran = subprocess.run([*command, *arguments], capture_output=True)
        if ran.returncode:
            raise BenchError(ran.stderr.decode().strip())
        return ran.stdout

    def visit() -> set[str]:
        nonlocal known
        # The links of the pages themselves are left alone, as the peers do.
        pages = "|".join(NOISE)
        first = [url + "/", "-d", str(folder), "--delay", "0", "--no-index", "--no-sitemaps", "--max-depth", "1", "--include", f"/({pages})?$"]  # fmt: skip
        run("crawl", *(["-d", str(folder), "--again"] if known else first))
        rows = [msgspec.json.decode(line) for line in run("changes", str(folder), "--json").splitlines()]
        new, known = rows[: len(rows) - max(0, known - 1)], len(rows) + 1
        return {str(row["url"]).rpartition("/")[2] for row in new} & NOISE.keys()

    yield visit


@contextmanager
def webchanges(url: str, home: Path) -> Iterator[Visit]:
    program = _installed("webchanges") / "webchanges"
    jobs = home / "jobs.yaml"
    jobs.write_text("\n---\n".join(f"name: {name}\nurl: {url}/{name}" for name in NOISE))
    places = {"--jobs": jobs, "--config": home / "config.yaml", "--database": home / "db", "--hooks": home / "hooks.py"}
    files = [str(each) for pair in places.items() for each in pair]

    def visit() -> set[str]:
        environment = {**os.environ, "HOME": str(home), "PYTHONIOENCODING": "utf-8"}
        if not (home / "config.yaml").exists():
            subprocess.run([program, *files, "--list"], capture_output=True, env=environment, timeout=PATIENCE)
        ran = subprocess.run([program, *files], capture_output=True, text=True, env=environment, timeout=PATIENCE)
        told = {
            line.partition("CHANGED: ")[2].split(" (")[0].strip()
            for line in ran.stdout.splitlines()
            if "CHANGED: " in line
        }
        if ran.returncode and not told:
            raise BenchError(ran.stderr.strip()[-300:])
        return told & NOISE.keys()

    yield visit


@contextmanager
def changedetection(url: str, home: Path) -> Iterator[Visit]:
    program = _installed("changedetection.io") / "changedetection.io"
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environment = {**os.environ, "HOME": str(home), "ALLOW_IANA_RESTRICTED_ADDRESSES": "true", "DISABLE_VERSION_CHECK": "true", "MINIMUM_SECONDS_RECHECK_TIME": "0"}  # fmt: skip
    log = (home / "log").open("wb")
    process = subprocess.Popen(
        [program, "-d", home, "-p", str(port), "-h", "127.0.0.1", "-C"], env=environment, stdout=log, stderr=log
    )
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE) as http:
            _until(lambda: _answers(http))
            key = _api_key(home)
            http.headers["x-api-key"] = key
            for each in http.get("/api/v1/watch").json():  # it begins with examples
                http.delete(f"/api/v1/watch/{each}")
            for name in NOISE:
                made = http.post("/api/v1/watch", json={"url": f"{url}/{name}", "time_between_check": {"weeks": 1}})
                if made.status_code != 201:
                    raise BenchError(made.text[:300])
            known: dict[str, int] = {}
            yield lambda: _rechecked(http, known)
    finally:
        process.terminate()
        process.wait()
        log.close()


def _rechecked(http: httpx.Client, known: dict[str, int]) -> set[str]:
    before = time.time()
    time.sleep(1.1)  # its times are in whole seconds
    http.get("/api/v1/watch?recheck_all=1")
    _until(lambda: all(each["last_checked"] > before for each in http.get("/api/v1/watch").json().values()))
    changed: set[str] = set()
    for uuid, each in http.get("/api/v1/watch").json().items():
        at = int(each["last_changed"])
        if at != known.get(uuid, at):
            changed.add(str(each["url"]).rpartition("/")[2])
        known[uuid] = at
    return changed


def _answers(http: httpx.Client) -> bool:
    with contextlib.suppress(httpx.HTTPError):
        return http.get("/").status_code < 500
    return False


def _api_key(home: Path) -> str:
    for file in (home / "changedetection.json", home / "url-watches.json"):
        if file.exists():
            return str(msgspec.json.decode(file.read_bytes())["settings"]["application"]["api_access_token"])
    raise BenchError("its file of settings is not where it was")


def _until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not true():
        if time.monotonic() > deadline:
            raise BenchError(f"nothing within {PATIENCE:.0f} s")
        time.sleep(0.2)


def _installed(name: str) -> Path:
    """The programs of a peer's own environment. Its many packages stay apart from ours."""
    place = ENVIRONMENT / PEERS[name]
    stamp = place / "installed"
    if not stamp.exists():
        print(f"installing {PEERS[name]} into {place} ...", file=sys.stderr)
        venv.create(place, with_pip=True)
        ran = subprocess.run([place / "bin" / "pip", "install", "-q", PEERS[name]], capture_output=True, text=True)
        if ran.returncode:
            raise BenchError(f"{PEERS[name]} cannot be installed: {ran.stderr.strip()[-200:]}")
        stamp.touch()
    return place / "bin"
