"""Makes a history of a real documentation: when each of its pages appeared, changed and went.

The pages are the sources of a documentation in the source distributions of a package on PyPI; a
release publishes them all. It writes the CSV that `sanderling lab freshness --history` reads. All
releases are downloaded, one after the other: some hundred MB.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import hashlib
import io
import json
import re
import tarfile
import urllib.request
import zipfile
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from pip._internal.models.index import PyPI

from bench.places import BenchError, say

_ENDINGS = (".rst", ".md", ".txt")
_FEWEST = 3  # pages; a release with fewer has its documentation elsewhere

Pages = dict[str, bytes]
Row = tuple[str, str, int, int, int]


class Release(NamedTuple):
    at: float
    version: tuple[int, ...]
    url: str


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("package", help="a package on PyPI, such as scrapy")
    parser.add_argument("folder", help="where its documentation is in a source distribution, such as docs/")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FILE.csv.gz", help="what to write")


def run(options: argparse.Namespace) -> int:
    rows: list[Row] = []
    before: Pages = {}
    released = releases(options.package)
    for number, release in enumerate(released, 1):
        after = pages_of(_fetched(release.url), options.folder)
        if len(after) >= _FEWEST:
            rows += differences(before, after, int(release.at))
            before = after
        say(f"{number} of {len(released)} releases, {len(before)} pages")
    if not rows:
        raise BenchError(f"no release of {options.package} has pages in {options.folder}")
    with gzip.open(options.output, "wt", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("page", "event", "at", "text_changed", "main_changed"), *rows])
    return 0


def releases(package: str) -> list[Release]:
    """Final releases in the order of their dates. The site shows the newest version: later releases
    of older ones are left out."""
    listed = _fetched(f"{PyPI.simple_url}/{package}/").decode()
    urls = {name: url for url, name in re.findall(r'<a href="([^"#]+)[^>]*>([^<]+)</a>', listed)}
    known = json.loads(_fetched(f"{PyPI.pypi_url}/{package}/json"))["releases"]
    found = []
    for version, files in known.items():
        name, at = next(
            ((file["url"].rsplit("/", 1)[-1], file["upload_time_iso_8601"]) for file in files if file["packagetype"] == "sdist"),
            ("", ""),
        )  # fmt: skip
        if name in urls and re.fullmatch(r"[\d.]+", version):
            when = datetime.fromisoformat(at.replace("Z", "+00:00")).timestamp()
            found.append(Release(when, tuple(map(int, re.findall(r"\d+", version))), urls[name]))
    newest: list[Release] = []
    for release in sorted(found):
        if not newest or release.version > newest[-1].version:
            newest.append(release)
    return newest


def pages_of(archive: bytes, folder: str) -> Pages:
    """The digest of each page; white space does not count."""
    return {
        name: hashlib.sha256(b" ".join(body.split())).digest()
        for name, body in _files(archive)
        if name.startswith(folder) and name.endswith(_ENDINGS)
    }


def differences(before: Pages, after: Pages, at: int) -> list[Row]:
    gone = [(name, "deleted", at, 1, 1) for name in sorted(before.keys() - after.keys())]
    new = [(name, "created", at, 1, 1) for name in sorted(after.keys() - before.keys())]
    same = before.keys() & after.keys()
    return [*gone, *new, *((name, "changed", at, 1, 1) for name in sorted(same) if before[name] != after[name])]


def _files(archive: bytes) -> Iterator[tuple[str, bytes]]:
    """Of a source distribution, without the name of its first folder."""
    if zipfile.is_zipfile(io.BytesIO(archive)):
        with zipfile.ZipFile(io.BytesIO(archive)) as zipped:
            for name in zipped.namelist():
                yield name.partition("/")[2], zipped.read(name)
        return
    with tarfile.open(fileobj=io.BytesIO(archive)) as packed:
        for member in packed:
            if member.isfile() and (file := packed.extractfile(member)):
                yield member.name.partition("/")[2], file.read()


def _fetched(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=60) as answer:
        return bytes(answer.read())
