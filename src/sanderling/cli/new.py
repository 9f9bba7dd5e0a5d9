"""`sanderling new`: a folder with an extractor, its test and the commands to use them."""

import argparse
import sys
from pathlib import Path

from sanderling.errors import UsageError

_ABOUT = """Makes a folder with an extractor, a test that needs no network, and a README with
the commands. The test passes; change both to what you need.

Example:
  sanderling new shop
"""
_FILES = {
    "extractors.py": '''"""What to take from pages."""

from collections.abc import Iterator
from dataclasses import dataclass

from sanderling import ReadPage, extractor


@dataclass
class Article:
    url: str
    title: str
    words: int


# Patterns select pages by their URLs: @extractor(r"/products/\\d+$", key="url")
@extractor(key="url")
def articles(page: ReadPage) -> Iterator[Article]:
    if page.tree is None:  # not HTML
        return
    heading = page.tree.select_one("h1")
    if heading is not None:
        yield Article(page.url, " ".join(heading.text.split()), len(page.text.split()))
''',
    "test_extractors.py": """from extractors import Article, articles
from sanderling.testing import read_html


def test_an_article_is_taken_from_its_page() -> None:
    page = read_html("<h1>Red  knots</h1><p>fly far", url="https://example.org/knots")
    assert list(articles(page)) == [Article("https://example.org/knots", "Red knots", 4)]


# With a page that a crawl has stored:
#   import sanderling
#   with sanderling.open("crawl") as site:
#       page = site.page("https://example.org/").for_extractors()
""",
    "README.md": """# {name}

```sh
python -m pytest                                                    # test the extractor
sanderling shell https://example.org/                               # try selectors on a page
sanderling crawl https://example.org/ -d crawl --extractor extractors.py:articles
sanderling export crawl --format items -o items.jsonl               # or csv, parquet, duckdb, sqlite
sanderling extract crawl                                            # after a change: run it on the stored pages
sanderling crawl -d crawl --again                                   # later: what changed
```
""",
    ".gitignore": "crawl/\n__pycache__/\n",
}


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser("new", description=_ABOUT)
    parser.add_argument("project", type=Path, help="the folder to make")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    folder: Path = options.project
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} is there already and not an empty folder")
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in _FILES.items():
        (folder / name).write_text(text.replace("{name}", folder.resolve().name), "utf-8")
    sys.stdout.write(f"{folder} has an extractor and its test; README.md has the commands\n")
    return 0
