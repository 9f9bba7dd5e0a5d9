"""Archives read back exchange by exchange: a response or revisit with what is told beside it."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from heapq import heappop, heappush
from pathlib import Path
from typing import NamedTuple

from sanderling.model import Stored
from sanderling.repository import archives, warc

_CAPTURES = ("response", "resource", "revisit")


class ArchivedExchange(NamedTuple):
    """One fetch as it lies in an archive."""

    stored: Stored
    end: int  # the first byte behind its records
    fields: dict[str, str]  # of the record, by their names in lower case
    content: bytes  # the record, uncompressed
    notes: list[tuple[str, str]]  # about the fetch
    conversion: bytes = b""  # the record of what a browser made of it, uncompressed
    converted: Stored | None = None  # where that is

    @property
    def url(self) -> str:
        return self.fields["warc-target-uri"]

    @property
    def at(self) -> float:
        """When the request was sent."""
        return datetime.fromisoformat(self.fields["warc-date"]).timestamp()

    @property
    def purpose(self) -> str:
        """What was asked for if it was no page: `robots`, `sitemap`, or `subresource` for what a
        page is made of."""
        return self.note("purpose")

    @property
    def is_revisit(self) -> bool:
        return self.fields["warc-type"] == "revisit"

    def note(self, name: str) -> str:
        """What is noted under a name in lower case; empty when nothing is."""
        return next((value for key, value in self.notes if key == name), "")


def exchanges(path: Path, end: int | None = None, start: int = 0) -> Iterator[ArchivedExchange]:
    """What is in an archive from byte `start` up to `end`, in its order. Damaged records are
    stepped over."""
    found: ArchivedExchange | None = None
    made = ""  # the id of its conversion
    for member in archives.members(path, end, start):
        if member.content is None:
            continue
        fields = warc.fields_of(member.content)
        kind, behind = fields.get("warc-type"), member.offset + member.length
        if kind in _CAPTURES:
            if found is not None:
                yield found
            stored = Stored(path.name, member.offset, member.length)
            found = ArchivedExchange(stored, behind, fields, member.content, [])
        elif found is not None and fields.get("warc-concurrent-to") == found.fields["warc-record-id"]:
            notes = warc.notes_of(member.content) if kind == "metadata" else found.notes
            found = found._replace(end=behind, notes=notes)
        elif (
            found is not None
            and kind == "conversion"
            and fields.get("warc-refers-to") == found.fields["warc-record-id"]
        ):
            converted, conversion = Stored(path.name, member.offset, member.length), member.content
            found = found._replace(end=behind, conversion=conversion, converted=converted)
            made = fields["warc-record-id"]
        elif found is not None and made in (fields.get("warc-concurrent-to"), fields.get("warc-refers-to")):
            found = found._replace(end=behind)
    if found is not None:
        yield found


def by_date(archived: Iterable[tuple[Path, int]]) -> Iterator[tuple[int, ArchivedExchange]]:
    """The exchanges of many archives, each from a byte on, about in the order they were made.

    Each comes with the number of its archive. Only archives that overlap in time are open at once.
    """
    parts = list(archived)
    firsts = ((n, next(exchanges(path, start=start), None)) for n, (path, start) in enumerate(parts))
    waiting = sorted(((first.at, n) for n, first in firsts if first is not None), reverse=True)
    current: list[tuple[float, int, ArchivedExchange, Iterator[ArchivedExchange]]] = []
    while waiting or current:
        if waiting and (not current or waiting[-1][0] <= current[0][0]):
            _, number = waiting.pop()
            path, start = parts[number]
            rest = exchanges(path, start=start)
        else:
            _, number, exchange, rest = heappop(current)
            yield number, exchange
        if (following := next(rest, None)) is not None:
            heappush(current, (following.at, number, following, rest))
