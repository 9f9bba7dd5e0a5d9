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

    @property
    def is_ours(self) -> bool:
        """Whether our crawler wrote it: it says how far from the seeds it is."""
        return bool(self.note("hopsfromseed"))

    def note(self, name: str) -> str:
        """What is noted under a name in lower case; empty when nothing is."""
        return next((value for key, value in self.notes if key == name), "")


def exchanges(path: Path, end: int | None = None, start: int = 0) -> Iterator[ArchivedExchange]:
    """What is in an archive from byte `start` up to `end`, in its order. Damaged records are
    stepped over."""
    found: ArchivedExchange | None = None
    made = ""  # the id of its conversion
    asked: dict[str, str] = {}  # the fields of a request that is no GET: some write it first
    method = b""
    for member in archives.members(path, end, start):
        if member.content is None:
            continue
        fields = warc.fields_of(member.content)
        if not _is_whole(fields):
            continue
        kind, behind = fields.get("warc-type"), member.offset + member.length
        if kind in _CAPTURES:
            if found is not None:
                yield found
            stored = Stored(path.name, member.offset, member.length)
            notes = [("method", method.decode("latin-1"))] if asked and _belong_together(asked, fields) else []
            found = ArchivedExchange(stored, behind, fields, member.content, notes)
        elif found is not None and fields.get("warc-concurrent-to") == found.fields["warc-record-id"]:
            notes = [*found.notes, *warc.notes_of(member.content)] if kind == "metadata" else found.notes
            if kind == "request" and (method := _method(member.content)) != b"GET":
                notes = [*notes, ("method", method.decode("latin-1"))]
            found = found._replace(end=behind, notes=notes)
        elif (
            found is not None
            and kind == "conversion"
            and fields.get("warc-refers-to") == found.fields["warc-record-id"]
        ):
            converted, conversion = Stored(path.name, member.offset, member.length), member.content
            found = found._replace(end=behind, conversion=conversion, converted=converted)
            made = fields["warc-record-id"]
        elif kind == "request" and (method := _method(member.content)) != b"GET":
            asked = fields
        elif found is not None and made in (fields.get("warc-concurrent-to"), fields.get("warc-refers-to")):
            found = found._replace(end=behind)
    if found is not None:
        yield found


def _is_whole(fields: dict[str, str]) -> bool:
    """Whether a record has what every record must have. Strangers leave much out."""
    try:
        datetime.fromisoformat(fields.get("warc-date", ""))
    except ValueError:
        return False
    captured = fields.get("warc-type") in _CAPTURES
    return bool(fields.get("warc-record-id")) and (not captured or bool(fields.get("warc-target-uri")))


def _belong_together(request: dict[str, str], response: dict[str, str]) -> bool:
    """Whether either names the other one."""
    return (
        request.get("warc-concurrent-to") == response["warc-record-id"]
        or response.get("warc-concurrent-to") == request["warc-record-id"]
    )


def _method(request: bytes) -> bytes:
    """What was asked with; empty for a record that is no HTTP request."""
    return request.partition(b"\r\n\r\n")[2][:32].partition(b" ")[0]


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
