"""Pages in pieces for retrieval: one for each heading, with an id that stays."""

import re
from collections.abc import Iterator
from typing import Final

from msgspec import Struct
from xxhash import xxh3_128_hexdigest

# Longer pieces are cut between paragraphs, in characters. Models read a few hundred words at once.
LONGEST: Final = 4000
_MARK: Final = re.compile(r"\n(?:(?P<level>#{1,6}) +(?P<name>.*)| {0,3}(?P<fence>```|~~~))")


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
    text = "\n" + "\n".join(markdown.splitlines())
    above: list[tuple[int, str]] = []
    fence, start = "", 1
    for mark in _MARK.finditer(text):
        if mark["fence"]:
            fence = "" if fence == mark["fence"] else fence or mark["fence"]
        elif not fence:
            yield tuple(name for _, name in above), text[start : mark.start()]
            level, start = len(mark["level"]), mark.end() + 1
            above = [*(each for each in above if each[0] < level), (level, mark["name"])]
    yield tuple(name for _, name in above), text[start:]


def _parts(text: str) -> Iterator[str]:
    """A text in pieces that are not too long, cut between paragraphs."""
    whole, start = text.strip(), 0
    while len(whole) - start > LONGEST:
        end = whole.rfind("\n\n", start, start + LONGEST)
        end = end if end > start else start + LONGEST
        yield whole[start:end].strip()
        while whole[end].isspace():
            end += 1
        start = end
    if whole:
        yield whole[start:]
