"""Measures how much faster a second crawl is if nothing has changed: with 304, and with the same
bytes.

For the same bytes, the stored validators are deleted, so that the server sends every page again.
"""

from __future__ import annotations

import json
import sqlite3
import tempfile
from pathlib import Path

from bench import web
from bench.measure import measure
from bench.places import RESULTS, SANDERLING, say

FLAGS = ["--clients", "2", "--per-host", "32", "--delay", "0", "--ignore-robots", "--allow-private", "--json"]


def revisit(folder: str | None) -> int:
    rows: dict[str, dict[str, float]] = {}
    with web.serve() as site, tempfile.TemporaryDirectory(prefix="bench-revisit-", dir=folder) as name:
        crawl = Path(name, "crawl")
        rows["first crawl"] = _lap([site.url, "-d", str(crawl)])
        rows["again, 304"] = _lap(["-d", str(crawl), "--again"])
        with sqlite3.connect(crawl / "sanderling.db") as store:
            store.execute("UPDATE pages SET etag = '', modified = ''")
        rows["again, same bytes"] = _lap(["-d", str(crawl), "--again"])
    first = rows["first crawl"]
    for title, row in rows.items():
        pace = row["pages_per_second"] / first["pages_per_second"]
        say(
            f"{title:20} {row['visits']:>8,.0f} visits {row['seconds']:6.1f} s {row['pages_per_second']:>8,.0f}/s {pace:5.1f}x"
        )
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / "revisit.json").write_text(json.dumps(rows, indent=2))
    return 0


def _lap(arguments: list[str]) -> dict[str, float]:
    outcome = measure([str(SANDERLING), "crawl", *arguments, *FLAGS])
    report = outcome.last_json()
    visits = float(str(report["fetched"])) + float(str(report["gone"]))
    seconds = float(str(report["seconds"]))
    return {"visits": visits, "seconds": seconds, "pages_per_second": visits / seconds, "cpu": outcome.weight.cpu}
