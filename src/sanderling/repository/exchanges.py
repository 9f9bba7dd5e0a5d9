"""Archives read back exchange by exchange: a response or revisit with what is told beside it."""

from collections.abc import Iterator
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
    notes: dict[str, str]  # about the fetch

    @property
    def purpose(self) -> str:
        """What was asked for if it was no page: `robots` or `sitemap`."""
        return self.notes.get("purpose", "")

    @property
    def is_revisit(self) -> bool:
        return self.fields["warc-type"] == "revisit"


def exchanges(path: Path, end: int | None = None) -> Iterator[ArchivedExchange]:
    """What is in an archive, up to `end`, in its order. Damaged records are stepped over."""
    found: ArchivedExchange | None = None
    for member in archives.members(path, end):
        if member.content is None:
            continue
        fields = warc.fields_of(member.content)
        kind, behind = fields.get("warc-type"), member.offset + member.length
        if kind in _CAPTURES:
            if found is not None:
                yield found
            stored = Stored(path.name, member.offset, member.length)
            found = ArchivedExchange(stored, behind, fields, member.content, {})
        elif found is not None and fields.get("warc-concurrent-to") == found.fields["warc-record-id"]:
            notes = warc.notes_of(member.content) if kind == "metadata" else found.notes
            found = found._replace(end=behind, notes=notes)
    if found is not None:
        yield found
