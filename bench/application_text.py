"""How much of the text of a real application is found: docsify shows Markdown files, and these say
what it has to show.

The application is crawled with `--render auto`. Its pages are fragments of one document, as docsify
makes them by default. The words of each Markdown file, rendered by another program, are compared
with those of the stored page, each as often as it stands there.
"""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
from collections import Counter
from pathlib import Path

from bench.applications import Application, documentation, rendered_markdown
from bench.places import SANDERLING, BenchError, say
from sanderling.documents.html import HtmlPage

_WORD = re.compile(r"\w+")


def report() -> int:
    with tempfile.TemporaryDirectory(prefix="bench-text-") as name, documentation(Path(name), fragments=True) as app:
        folder = Path(name, "crawl")
        say(f"crawling {len(app.urls)} pages ...")
        _sanderling("crawl", app.urls[0], "-d", str(folder), "--delay", "0", "--render", "auto")
        lines = _sanderling("export", str(folder), "--format", "jsonl", "-o", "-").splitlines()
        texts = {row["url"]: f"{row['title']} {row['text']}" for row in map(json.loads, lines)}
        found, total, missing = compared(app, texts)
    print(f"{found:,} of {total:,} words of {len(app.urls) - 1} Markdown files were found: {found / total:.2%}")
    for url, lost in sorted(missing.items(), key=lambda each: -each[1].total())[:5]:
        print(f"  {lost.total():4} not found of {url.rpartition('#/')[2]}: {', '.join(dict(lost.most_common(8)))}")
    return 0


def compared(app: Application, texts: dict[str, str]) -> tuple[int, int, dict[str, Counter[str]]]:
    """How many words were found, how many there are, and those that were not found by URL."""
    pages = app.urls[1:]
    files = [app.folder / f"{url.rpartition('#/')[2]}.md" for url in pages]
    found = total = 0
    missing = {}
    for url, html in zip(pages, rendered_markdown(files), strict=True):
        wanted = words(HtmlPage(html.encode(), "utf-8", url).text(spent=True))
        lost = wanted - words(texts.get(url, ""))
        found, total = found + wanted.total() - lost.total(), total + wanted.total()
        if lost:
            missing[url] = lost
    return found, total, missing


def words(text: str) -> Counter[str]:
    return Counter(_WORD.findall(text.lower()))


def _sanderling(*arguments: str) -> str:
    done = subprocess.run([str(SANDERLING), *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise BenchError(f"`sanderling {arguments[0]}` failed: {done.stderr.strip()}")
    return done.stdout
