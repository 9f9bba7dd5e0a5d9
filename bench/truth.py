"""Finds the URLs that a crawler must find on the bench's web, from the files alone, without
HTTP."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from urllib.parse import unquote, urlsplit

from bench import web
from bench.links import links
from bench.places import CACHE, SANDERLING, BenchError, say

ORIGIN = "http://truth.invalid"
HTML = (".html", ".htm", ".shtml")


@dataclass(frozen=True)
class Truth:
    """Paths (with query, if any) on the host. `pages` answer 200; `html` are those that contain
    links."""

    pages: frozenset[str]
    html: frozenset[str]
    redirects: frozenset[str]
    broken: frozenset[str]

    def urls(self, site: web.Web) -> frozenset[str]:
        return frozenset(site.url.rstrip("/") + path for path in self.pages)


@dataclass(frozen=True)
class Difference:
    missing: list[str]
    unexpected: list[str]

    def __bool__(self) -> bool:
        return bool(self.missing or self.unexpected)

    def __str__(self) -> str:
        if not self:
            return "the crawled pages are exactly the true ones"
        lines = [f"{len(self.missing)} pages missing, {len(self.unexpected)} not expected"]
        lines += [f"  missing     {url}" for url in self.missing[:20]]
        lines += [f"  unexpected  {url}" for url in self.unexpected[:20]]
        return "\n".join(lines)


def truth(root: Path) -> Truth:
    """The truth of the site at `root`, from the cache unless the packages or the walk itself have
    changed."""
    cached = CACHE / f"truth-{_fingerprint()}.json"
    if cached.exists():
        stored = json.loads(cached.read_text())
        return Truth(**{name: frozenset(paths) for name, paths in stored.items()})
    say("Working out the true set of pages from the files (once, about a minute) ...")
    walked = _walk(root)
    fresh = cached.with_suffix(f".{os.getpid()}")
    fresh.write_text(json.dumps({name: sorted(paths) for name, paths in vars(walked).items()}))
    fresh.replace(cached)
    return walked


def compare(expected: frozenset[str], urls: Iterable[str]) -> Difference:
    crawled = frozenset(urls)
    return Difference(sorted(expected - crawled), sorted(crawled - expected))


def crawled_pages(directory: Path) -> list[str]:
    """URLs that answered 200 in a Sanderling crawl."""
    return [url for url, row in crawled(directory).items() if row["status"] == 200]


def check(expected: frozenset[str], directory: Path) -> Difference:
    """Compares a Sanderling crawl with the truth, and says why pages are missing."""
    rows = crawled(directory)
    found = compare(expected, (url for url, row in rows.items() if row["status"] == 200))
    fates = [f"{url}  ({_fate(rows.get(url))})" for url in found.missing]
    return Difference(fates, found.unexpected)


def _fate(row: dict[str, object] | None) -> str:
    if row is None:
        return "no answer on record"
    return f"status {row['status']}, {row.get('state')}: {row.get('reason') or 'no reason given'}"


def crawled(directory: Path) -> dict[str, dict[str, object]]:
    command = [str(SANDERLING), "pages", str(directory), "--json"]
    answer = subprocess.run(command, capture_output=True, text=True)
    if answer.returncode != 0:
        raise BenchError(f"sanderling pages failed: {answer.stderr.strip()}")
    return {row["url"]: row for row in map(json.loads, answer.stdout.splitlines())}


def report(directory: str | None, port: int) -> int:
    """Prints the size of the truth, or the result for a finished crawl."""
    root = web.build()
    expected = truth(root)
    if directory is None:
        others = len(expected.pages) - len(expected.html)
        print(f"{len(expected.pages)} pages answer 200: {len(expected.html)} HTML and {others} other files")
        print(f"{len(expected.redirects)} redirects, {len(expected.broken)} broken links")
        return 0
    difference = check(expected.urls(web.Web(root, port)), Path(directory))
    print(difference)
    return 1 if difference else 0


def _walk(root: Path) -> Truth:
    pages: set[str] = set()
    html: set[str] = set()
    redirects: set[str] = set()
    broken: set[str] = set()
    seen = {"/"}
    wave = ["/"]
    with ProcessPoolExecutor() as pool:
        while wave:
            found: set[str] = set()
            to_parse: list[str] = []
            for path in wave:
                file = _answer(root, path)
                if file is None:
                    broken.add(path)
                elif file.endswith("/"):
                    redirects.add(path)
                    found.add(_with_slash(path))
                else:
                    pages.add(path)
                    if file.endswith(HTML):
                        html.add(path)
                        to_parse.append(path)
            for targets in pool.map(partial(_targets, root), to_parse, chunksize=32):
                found |= targets
            wave = sorted(found - seen)
            seen |= found
    return Truth(frozenset(pages), frozenset(html), frozenset(redirects), frozenset(broken))


def _answer(root: Path, path: str) -> str | None:
    """The file nginx would answer with, the folder (ending in /) it would redirect to, or None: an
    error."""
    name = os.path.normpath(unquote(urlsplit(path).path).lstrip("/"))
    wants_folder = path.partition("?")[0].endswith("/")
    file = root / name
    if file.is_dir():
        if not wants_folder:
            return f"{file}/"
        file = file / "index.html"
        return str(file) if file.is_file() else None
    return str(file) if file.is_file() and not wants_folder else None


def _with_slash(path: str) -> str:
    before, mark, query = path.partition("?")
    return f"{before}/{mark}{query}"


def _targets(root: Path, path: str) -> set[str]:
    file = _answer(root, path)
    assert file is not None
    found = links(Path(file).read_bytes(), ORIGIN + path)
    return {link.removeprefix(ORIGIN) for link in found if link.startswith(ORIGIN + "/")}


def _fingerprint() -> str:
    digest = hashlib.sha256(json.dumps(web.versions(), sort_keys=True).encode())
    for source in ("links.py", "truth.py", "web.py"):
        digest.update(Path(__file__).with_name(source).read_bytes())
    return digest.hexdigest()[:16]
