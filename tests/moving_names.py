"""Crawls in a network of their own, whose host names move between public and private addresses.

`unshare -mn python -m tests.moving_names FOLDER` prints what was asked for at which address, as
JSON. The names are in an /etc/hosts of its own, so the real resolvers of Python and libcurl are at
work.
"""

import json
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

from sanderling.browser.finding import find
from tests.conftest import FAST, command
from tests.rendering.rendering import namespaces_are_permitted
from tests.servers import Answer, PageServer, Socks, links, listening

PUBLIC, PRIVATE, OTHER = "93.184.216.34", "127.0.0.5", "127.0.0.6"
PORT = 8099
ONE_TRY = (*FAST, "--retries", 0, "--clients", 1)


def main(place: Path) -> None:
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    subprocess.run(["ip", "addr", "add", f"{PUBLIC}/32", "dev", "lo"], check=True)
    hosts = place / "hosts"
    hosts.write_text("")
    subprocess.run(["mount", "--bind", str(hosts), "/etc/hosts"], check=True)
    (place / "resolv.conf").write_text("nameserver 127.0.0.1\n")  # where nobody answers, and that is known at once
    subprocess.run(["mount", "--bind", str(place / "resolv.conf"), "/etc/resolv.conf"], check=True)
    with ExitStack() as stack:
        page = {"/": b"a page"}
        servers = {
            address: stack.enter_context(PageServer(page, where=(address, PORT)))
            for address in (PUBLIC, PRIVATE, OTHER)
        }
        found = {"moved": moved(place, hosts, servers), **proxied(place, hosts)}
        if find(None) is not None and namespaces_are_permitted():
            found["rendered"] = rendered(place, hosts, servers)
        sys.stdout.write(json.dumps(found))


def moved(place: Path, hosts: Path, servers: dict[str, PageServer]) -> list[object]:
    """Who is asked, when names of seeds are first at one address and then at another."""
    seen: list[object] = []

    def crawl(folder: str, at: str, *more: object) -> None:
        hosts.write_text(f"{at} seed.example\n")
        seed = f"http://seed.example:{PORT}/"
        done = run("crawl", seed, "-d", place / folder, *ONE_TRY, *more)
        asked = [address for address, server in servers.items() if server.asked]
        seen.append((folder, at, asked, done.returncode))
        for server in servers.values():
            server.asked.clear()

    crawl("public", PUBLIC)
    crawl("public", PRIVATE, "--again")
    crawl("inside", PRIVATE)
    crawl("inside", OTHER, "--again")
    crawl("inside", OTHER, "--again", "--allow-private")
    return seen


def proxied(place: Path, hosts: Path) -> dict[str, object]:
    """Which of the discovered names a proxy is asked for."""
    hosts.write_text(f"{PUBLIC} start.example\n{PUBLIC} outside.example\n{PRIVATE} inside.example\n")
    found = [f"http://{name}.example/" for name in ("outside", "inside", "unknown")]
    flags = (*ONE_TRY, "--scope", "any", "--no-sitemaps", "--ignore-robots")
    table = {"http://start.example/": links(*found), **dict.fromkeys(found, b"a page")}
    seen: dict[str, object] = {}
    with PageServer(table) as proxy:
        done = run("crawl", "http://start.example/", "-d", place / "http", *flags, "--proxy", proxy.origin)
        seen["http"] = (sorted({each.url for each in proxy.asked}), done.stderr)
    for kind in ("socks5", "socks5h"):
        with PageServer({"/": links(*found)}) as target:
            socks = Socks(target.origin)
            with listening(socks) as (host, port):
                told = f"{kind}://{host}:{port}"
                done = run("crawl", "http://start.example/", "-d", place / kind, *flags, "--proxy", told)
            seen[kind] = (sorted(set(socks.names)), done.stderr)
    return seen


def rendered(place: Path, hosts: Path, servers: dict[str, PageServer]) -> list[str]:
    """Where the requests of a rendered page arrive, whose names move inside while it is loaded."""

    def move(times: int) -> Answer:
        hosts.write_text(f"{PRIVATE} seed.example\n{PRIVATE} other.example\n")
        return Answer(b"moved", "text/plain", headers=(("Connection", "close"),))

    ask = "fetch('{}', {{ mode: 'no-cors' }}).then(() => 0, () => 0)"
    later = ", ".join(
        ask.format(f"http://{name}.example:{PORT}/secret?{n}") for name in ("seed", "other") for n in range(3)
    )
    servers[PUBLIC].table = {
        "/": f"<script>fetch('/move').then((a) => a.text()).then(() => Promise.all([{later}]))</script>".encode(),
        "/move": move,
        **{f"/secret?{n}": b"" for n in range(3)},
    }
    hosts.write_text(f"{PUBLIC} seed.example\n")
    run(
        "crawl",
        f"http://seed.example:{PORT}/",
        "-d",
        place / "rendered",
        *ONE_TRY,
        "--render",
        "always",
        "--max-depth",
        0,
    )
    return [address for address, server in servers.items() if server.asked]


def run(*arguments: object) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(command(*arguments), capture_output=True, text=True, timeout=100)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
