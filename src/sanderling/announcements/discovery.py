"""Finds reports where robots.txt names them."""

import re
from collections.abc import Iterator

from sanderling.urls import canonical, join

# Lines of one robots.txt that are read. A host may hold several sites.
MOST_LINES = 100

_LINE = re.compile(r"^[ \t]*announce[ \t]*:[ \t]*([^#\s]{1,8192})", re.IGNORECASE | re.MULTILINE)


def in_robots(text: str) -> Iterator[str]:
    """The manifests that a robots.txt names, on any host: each is believed for its own origin
    only."""
    for number, line in enumerate(_LINE.finditer(text)):
        if number >= MOST_LINES:
            break
        if url := canonical(line[1]):
            yield url


def file_of_report(manifest: str, name: str) -> str:
    """The URL of another file of a report: beside the manifest."""
    url = join(manifest, f"./{name}")
    if url is None:
        raise ValueError(name)
    return url
