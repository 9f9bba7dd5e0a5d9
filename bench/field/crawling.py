"""Crawls of the trial: what Sanderling and Scrapy found at an application, and what each cost."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from bench import peers
from bench.places import SANDERLING, BenchError

DEFAULTS = ("--delay", "0", "--per-host", "4")
# Minutes that a crawl may take. It ends by itself then; the other limit is for one that does not.
MINUTES, PATIENCE = 3, 600


@dataclass(frozen=True)
class Crawl:
    """What a crawler fetched, and how many requests it sent for it."""

    urls: frozenset[str]
    requests: int
    held: frozenset[str] = frozenset()


def crawl(folder: Path, *arguments: str, minutes: int = MINUTES) -> Crawl:
    """A crawl, or with `--again` one more visit to its pages."""
    before = _status(folder)["visits"] if folder.exists() else 0
    _say(
        "crawl", *arguments, "-d", str(folder), *DEFAULTS, "--max-time", f"{minutes}m", "--json", patience=60 * minutes
    )
    pages = [page for page in _lines("pages", folder) if page["status"] == 200]
    urls = {written(page["url"]) for page in pages}
    held = {written(page["url"]) for page in _lines("pages", folder, "--held")}
    return Crawl(frozenset(urls), _status(folder)["visits"] - before, frozenset(held))


def changes(folder: Path) -> dict[str, dict[str, Any]]:
    """What `sanderling changes` lists, by its id."""
    return {each["id"]: each for each in _lines("changes", folder)}


def finds(folder: Path, word: str) -> list[str]:
    """The URLs that a search finds, best first."""
    answer = _say("search", str(folder), word, "--json").splitlines()
    return [written(json.loads(hit)["url"]) for hit in answer]


def forms(folder: Path) -> int:
    """Requests that forms cost."""
    return sum(form.get("requests", 0) for form in _lines("forms", folder))


def scrapy(url: str, minutes: int = MINUTES) -> Crawl:
    peers.need_environment()
    command = [str(peers.ENVIRONMENT / "bin" / "python"), str(peers.HERE / "scrapy_field.py"), url, str(60 * minutes)]
    made = subprocess.run(command, capture_output=True, text=True, timeout=60 * minutes + PATIENCE)
    if made.returncode:
        raise BenchError(f"Scrapy ended with {made.returncode}: {made.stderr[-500:]}")
    said = json.loads(made.stdout.splitlines()[-1])
    return Crawl(frozenset(map(written, said["urls"])), said["requests"])


def written(url: str) -> str:
    """A URL as it is compared: crawlers escape differently."""
    return unquote(url)


def _status(folder: Path) -> dict[str, int]:
    return dict(json.loads(_say("status", str(folder), "--json")))


def _lines(command: str, folder: Path, *options: str) -> list[dict[str, Any]]:
    said: Sequence[str] = _say(command, str(folder), "--json", *options).splitlines()
    return [json.loads(line) for line in said]


def _say(*arguments: str, patience: int = 0) -> str:
    command = [str(SANDERLING), *arguments]
    made = subprocess.run(command, capture_output=True, text=True, timeout=patience + PATIENCE)
    if made.returncode:
        raise BenchError(f"sanderling {' '.join(arguments)} ended with {made.returncode}: {made.stderr[-500:]}")
    return made.stdout
