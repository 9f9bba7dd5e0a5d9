"""Crawls in a network of their own, whose DNS server fails for a while.

`unshare -mn python -m tests.failing_names FOLDER` prints how each crawl ended, as JSON. The
resolver of the system asks our server, so the path is that of every crawl: libcurl, the C library,
UDP.
"""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from sanderling.server.requests import remote
from sanderling.testing import ServedWeb, SyntheticWeb
from tests.conftest import FAST, command, started
from tests.names_server import NamesServer
from tests.waiting import PATIENCE, until

NAME = "names.example"
FLAGS = (*FAST, "--clients", 1, "--retry-wait", "200ms", "--retries", 1, "--render", "never", "--json")


def main(place: Path) -> None:
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    for target, text in (
        ("/etc/hosts", "127.0.0.1 localhost\n"),
        ("/etc/resolv.conf", "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n"),
    ):
        source = place / Path(target).name
        source.write_text(text)
        subprocess.run(["mount", "--bind", str(source), target], check=True)
    ended = {}
    with NamesServer(NAME, "127.0.0.1", ("127.0.0.1", 53)) as names:
        for mood in ("nxdomain", "servfail"):
            with SyntheticWeb(hosts=1, pages=60, seed=5).serve(name=NAME) as site:
                ended[mood] = {
                    "short": short_outage(place / f"short-{mood}", site, names, mood),
                    "long": long_outage(place / f"long-{mood}", site, names, mood),
                    "pages": len(site.direct.reachable(0)),
                }
    sys.stdout.write(json.dumps(ended))


def short_outage(folder: Path, site: ServedWeb, names: NamesServer, mood: str) -> dict[str, object]:
    """Names fail in mid-crawl. A client that knows the address is not hurt, so it is replaced by
    one that does not."""
    site.hold(after=20)
    with started("crawl", site.url, "-d", folder, *FLAGS, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        until(lambda: site.held)
        names.mood, asked = mood, names.asked[mood]  # type: ignore[assignment, index]
        os.kill(remote.look(folder, PATIENCE).clients[0].pid, signal.SIGKILL)
        site.release()
        until(lambda: names.asked[mood] > asked + 4)  # type: ignore[index]
        names.mood = "answers"
        said, errors = process.communicate(timeout=PATIENCE)
    return {"code": process.returncode, "errors": errors, **json.loads(said)}


def long_outage(folder: Path, site: ServedWeb, names: NamesServer, mood: str) -> list[dict[str, object]]:
    """A crawl that was interrupted goes on while names fail, for longer than it waits; then once
    more when they work."""
    found = []
    patience = ("--max-pages", 1000, "--host-patience", "1s")
    for now, limits in (("answers", ("--max-pages", 20)), (mood, patience), ("answers", patience)):
        names.mood = now  # type: ignore[assignment]
        arguments = command("crawl", site.url, "-d", folder, *FLAGS, *limits)
        done = subprocess.run(arguments, capture_output=True, text=True, timeout=PATIENCE)
        found.append({"code": done.returncode, "errors": done.stderr, **json.loads(done.stdout or "{}")})
    return found


if __name__ == "__main__":
    main(Path(sys.argv[1]))
