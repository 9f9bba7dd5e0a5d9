"""Copies what stays of archives into a new one.

An archive is a sequence of units: a response with its request, what is told about it and what a
browser made of it. A unit stays or leaves as a whole. Its bytes are copied as they are.
"""

import os
import time
import uuid
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import IO, NamedTuple

from sanderling import __version__
from sanderling.errors import Damaged
from sanderling.model import Stored
from sanderling.repository import archives, fencing, warc

_CAPTURES = ("response", "resource", "revisit")
_CHUNK = 1 << 20
_SUBRESOURCE = "subresource"
# What a browser loads for a page is archived within this time behind the page, in seconds.
_LOADING = 120.0


class Unit:
    """One exchange in an archive."""

    def __init__(self) -> None:
        self.places: list[tuple[int, int]] = []  # offset and length of each record
        self.ids: set[str] = set()
        self.url = ""
        self.at = 0.0
        self.purpose = ""
        self.rendered = False
        self.original = ""  # the id of the record that a revisit refers to
        self.is_head = False  # it says what wrote the file

    def add(self, member: archives.Member, fields: dict[str, str]) -> None:
        assert member.content is not None
        self.places.append((member.offset, member.length))
        kind = fields.get("warc-type")
        self.ids.add(fields.get("warc-record-id", ""))
        if kind in _CAPTURES:
            self.url = fields.get("warc-target-uri", "")
            self.at = time_of(fields.get("warc-date", ""))
            if kind == "revisit":
                self.original = fields.get("warc-refers-to", "")
        elif kind == "conversion":
            self.rendered = True
        elif kind == "metadata":
            notes = dict(warc.notes_of(member.content))
            self.purpose = self.purpose or notes.get("purpose", "")
        elif kind == "warcinfo":
            self.is_head = b"software: Sanderling/" in member.content

    @property
    def offsets(self) -> set[int]:
        return {offset for offset, _ in self.places}


def time_of(date: str) -> float:
    try:
        return datetime.fromisoformat(date).timestamp()
    except ValueError:
        return 0.0


def units(path: Path, end: int) -> list[Unit]:
    """The units of an archive, in its order. Raises Damaged where a record cannot be read: such an
    archive stays as it is."""
    found: list[Unit] = []
    by_id: dict[str, Unit] = {}
    for member in archives.members(path, end):
        if member.content is None:
            raise Damaged(f"{path.name} is damaged at byte {member.offset:,}")
        fields = warc.fields_of(member.content)
        names = [fields.get("warc-record-id", ""), fields.get("warc-concurrent-to", "")]
        if fields.get("warc-type") == "conversion":
            names.append(fields.get("warc-refers-to", ""))
        names = [name for name in names if name]
        unit = next((by_id[name] for name in names if name in by_id), None)
        if unit is None:
            unit = Unit()
            found.append(unit)
        by_id.update(dict.fromkeys(names, unit))
        unit.add(member, fields)
    return found


class Replaced(NamedTuple):
    """An archive that is replaced."""

    path: Path
    units: list[Unit]
    live: set[int]  # places of versions and pages that stay
    dead: set[int]  # places of versions that leave


def staying(sources: Iterable[Replaced], originals: set[str]) -> Iterator[tuple[Path, list[Unit]]]:
    """What stays of each archive. Visits that refer to one of the `originals` leave with it."""
    sources = list(sources)
    newest = {
        unit.url: unit.at
        for unit in sorted((u for s in sources for u in s.units if u.purpose == _SUBRESOURCE), key=lambda unit: unit.at)
    }
    for source in sources:
        left, stays = list[float](), list[Unit]()
        pages = [unit.at for unit in source.units if unit.rendered and unit.offsets & source.live]
        for unit in source.units:
            if not unit.offsets & source.live and (unit.offsets & source.dead or unit.original in originals):
                left.append(unit.at)
            elif not unit.is_head:
                stays.append(unit)
        yield (
            source.path,
            [
                unit for unit in stays
                if unit.purpose != _SUBRESOURCE or unit.at == newest[unit.url]
                or any(_loads(at, unit) for at in pages) or not any(_loads(at, unit) for at in left)
            ],
        )  # fmt: skip


def _loads(at: float, unit: Unit) -> bool:
    """Whether a page of a time may have loaded a file."""
    return at - 1 <= unit.at <= at + _LOADING


class Copied(NamedTuple):
    """An archive that was written."""

    name: str
    size: int
    moved: list[tuple[str, int, Stored]]  # the archive and the place of each record, and its new place


def copy(warcs: Path, name: str, chosen: Iterable[tuple[Path, list[Unit]]]) -> Copied:
    """Writes a new archive with some units of others. It has its name when all of it is on the
    disk; without any unit there is none."""
    part, moved, end = part_of(warcs, name), [], 0
    with part.open("wb") as target:
        for path, some in chosen:
            with path.open("rb", buffering=0) as source:
                for offset, length in sorted(place for unit in some for place in unit.places):
                    end = end or target.write(_head(name))
                    moved.append((path.name, offset, Stored(name, end, length)))
                    _copy_bytes(source, target, offset, length)
                    end += length
        target.flush()
        os.fsync(target.fileno())
    if not moved:
        part.unlink()
        return Copied("", 0, [])
    part.rename(warcs / name)
    fencing.sync(warcs)
    return Copied(name, end, moved)


def part_of(warcs: Path, name: str) -> Path:
    return warcs / f"{name}.part"


def _copy_bytes(source: IO[bytes], target: IO[bytes], offset: int, length: int) -> None:
    while length:
        chunk = os.pread(source.fileno(), min(length, _CHUNK), offset)
        if not chunk:
            raise Damaged(f"{source.name} ends early")
        target.write(chunk)
        offset, length = offset + len(chunk), length - len(chunk)


def _head(name: str) -> bytes:
    """The record at the beginning of an archive, which says what wrote it."""
    fields = f"software: Sanderling/{__version__}\r\nformat: WARC File Format 1.1\r\n".encode()
    about = b"WARC-Filename: %b\r\n" % name.encode()
    id = f"urn:uuid:{uuid.uuid4()}".encode()
    return warc.packed_record(
        warc.record(b"warcinfo", id, warc.date_of(time.time()), b"", warc.NOTES, (fields,), about)
    )
