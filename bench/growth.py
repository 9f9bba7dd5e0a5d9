"""`python -m bench growth`: how much a watched page of 115 KB takes in a year of visits every ten
minutes.

The visits are archived by the writer of a client and taken in by `sanderling import`, because a
year of real visits takes a year. A service prunes every day: of the page that is thinned, only
those visits are archived that are left, and those of the last day, which are pruned here.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from bench.places import working_folder
from sanderling.client.warc_writer import WarcWriter
from sanderling.model import Exchange
from sanderling.retention import expendable, read_keep
from sanderling.testing.prose import sentences

PAGE_BYTES = 115_000
EVERY = 600.0
URL = "https://shop.example/p/7"
DAY = 86400.0


def report(days: int) -> int:
    print(f"{'':44}{'versions':>9} {'folder':>9} {'archives':>9} {'index':>9} {'database':>9}")
    with tempfile.TemporaryDirectory(prefix="sanderling-growth-", dir=working_folder()) as place:
        home = Path(place)
        for name, changes_every, keep in (
            ("a new price every day (--select .price)", DAY, "all"),
            ("another page at each visit, keep = thin", EVERY, "thin"),
        ):
            _row(name, *_grown(home, days, changes_every, keep))
    return 0


def _grown(home: Path, days: int, changes_every: float, keep: str) -> tuple[int, Path]:
    """A folder after some days. Visits that change nothing add nothing, so they are left out."""
    folder = home / f"{changes_every:.0f}"
    if not folder.exists():
        source = home / "source"
        source.mkdir(exist_ok=True)
        for old in source.iterdir():
            old.unlink()
        now = datetime.now(UTC).timestamp()
        times = [now - n * changes_every for n in range(int(days * DAY / changes_every), 0, -1)]
        left = set(expendable(times, read_keep(keep), now - DAY))
        _archive(source, [at for n, at in enumerate(times) if n not in left])
        _run("import", source, "-d", folder)
        _run("search", folder, "price", "--limit", 1)
    if keep != "all":
        _run("prune", folder, "--keep", keep)
    out = _run("history", folder, URL, "--json")
    return len(out.splitlines()), folder


def _archive(folder: Path, times: list[float]) -> None:
    writer = WarcWriter(folder, "year")
    text = sentences(7)
    items = [f"<li class=item><a href='/p/{n}'>{text[n % len(text)]}</a></li>" for n in range(20_000)]
    body: list[str] = []
    while sum(map(len, body)) < PAGE_BYTES - 200:
        body.append(items[len(body)])
    for n, at in enumerate(times):
        html = (
            f"<html><title>Kettle</title><body><b class=price>{79 + n % 50}.{n % 100:02d}</b>"
            f"<p>visit {n}<ul>{''.join(body)}</ul></body></html>"
        ).encode()
        head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(html)}\r\n\r\n".encode()
        request = b"GET /p/7 HTTP/1.1\r\nHost: shop.example\r\n\r\n"
        notes = b"fetchTimeMs: 20\r\nhopsFromSeed: 0\r\n"
        writer.add(Exchange(URL, at, request, head, html, "text/html", "", False, "", notes))
        if n % 100 == 0:
            writer.flush()
    writer.close()


def _run(*arguments: object) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "sanderling", *map(str, arguments)], capture_output=True, text=True, check=True
    )
    return done.stdout


def _row(name: str, versions: int, folder: Path) -> None:
    sizes = [_size(folder / part) for part in ("", "warc", "index")]
    database = sum(each.stat().st_size for each in folder.glob("sanderling.db*"))
    columns = " ".join(f"{size / 1e6:6.1f} MB" for size in (*sizes, database))
    print(f"{name:44}{versions:9,} {columns}", flush=True)


def _size(folder: Path) -> int:
    return sum(each.stat().st_size for each in folder.rglob("*") if each.is_file())
