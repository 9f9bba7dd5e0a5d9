"""Pages in pieces for retrieval: one for each heading, with an id that stays."""

import re
from collections.abc import Iterator
from typing import Final

from msgspec import Struct
from xxhash import xxh3_128_hexdigest

# Longer pieces are cut between paragraphs, in characters. Models read a few hundred words at once.
LONGEST: Final = 4000
_HEADING: Final = re.compile(r"(#{1,6}) +(.*)")
_FENCE: Final = re.compile(r" {0,3}(```|~~~)")


class Chunk(Struct, frozen=True, kw_only=True):
    """A piece of a page."""

    id: str  # of the page, the headings above the piece, and how often these came before
    url: str
    title: str
    path: list[str]  # the headings above it, the outermost first
    text: str  # Markdown
    digest: str


def chunks(url: str, title: str, markdown: str) -> Iterator[Chunk]:
    """The pieces of a page. The id of a piece stays when only its text changes."""
    seen: dict[tuple[str, ...], int] = {}
    for path, text in _sections(markdown):
        for part in _parts(text):
            number = seen[path] = seen.get(path, -1) + 1
            id = xxh3_128_hexdigest("\n".join((url, *path, str(number))).encode("utf-8", "replace"))
            digest = xxh3_128_hexdigest(part.encode("utf-8", "replace"))
            yield Chunk(id=id, url=url, title=title, path=list(path), text=part, digest=digest)


def _sections(markdown: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """The text below each heading, with the headings above it."""
    above: list[tuple[int, str]] = []
    lines: list[str] = []
    fence = ""
    for line in markdown.splitlines():
        if ("```" in line or "~~~" in line) and (mark := _FENCE.match(line)):
            fence = "" if fence == mark[1] else fence or mark[1]
        if not fence and line.startswith("#") and (heading := _HEADING.fullmatch(line)):
            yield tuple(name for _, name in above), "\n".join(lines)
            level = len(heading[1])
            above, lines = [*(each for each in above if each[0] < level), (level, heading[2])], []
        else:
            lines.append(line)
    yield tuple(name for _, name in above), "\n".join(lines)


def _parts(text: str) -> Iterator[str]:
    """A text in pieces that are not too long, cut between paragraphs."""
    rest = text.strip()
    while len(rest) > LONGEST:
        end = rest.rfind("\n\n", 0, LONGEST)
        end = end if end > 0 else LONGEST
        yield rest[:end].strip()
        rest = rest[end:].strip()
    if rest:
        yield rest
