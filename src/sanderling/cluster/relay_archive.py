"""The archive of a relay: what its children archived, in files of its own, on their way to the
server.

A child sends parts of its archives and then a report that names them. The parts wait in memory
until the report is here. Then they are appended to the file of the relay, whole, and the report
says where its pages are in that file. So a relay has one growing file, like a client, and its
machine sends it on like that of a client.
"""

from bisect import bisect_right
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, NamedTuple

from msgspec.structs import replace

from sanderling.cluster.landing import Landing
from sanderling.model import Stored, Visit, VisitReport

ROTATE_AT = 256 << 20


class RelayArchive:
    """Appends to the files of one relay."""

    def __init__(self, place: Path, relay: str, rotate_at: int = ROTATE_AT) -> None:
        self._place = place
        self._relay = relay
        self._rotate_at = rotate_at
        self._serial = 0
        self._file: IO[bytes] | None = None
        self.name = ""
        self.end = 0

    def append(self, part: bytes) -> int:
        """Writes records; returns where in the file `name` they begin."""
        if self._file is None or self.end >= self._rotate_at:
            self._next_file()
        assert self._file is not None
        rest, start = memoryview(part), self.end
        while rest:
            rest = rest[self._file.write(rest) :]
        self.end += len(part)
        return start

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _next_file(self) -> None:
        self.close()
        stamp = datetime.now(UTC).strftime("%Y%m%d%H%M%S")
        self.name, self.end = f"{self._relay}-{stamp}-{self._serial:05d}.warc.gz", 0
        self._serial += 1
        self._file = (self._place / self.name).open("xb", buffering=0)


class _Moved(NamedTuple):
    """From this byte of a child's archive on, it is in a file of the relay, at other offsets."""

    start: int
    name: str
    by: int


class RelayLanding(Landing):
    """The archives of one child."""

    def __init__(self, archive: RelayArchive, child: str) -> None:
        super().__init__(Path(), child)
        self._archive = archive
        self._waiting: dict[str, list[bytes]] = {}
        self._moved: dict[str, list[_Moved]] = {}

    def check(self, report: VisitReport) -> VisitReport:
        self._refuse_wrong(report)
        with self._turn:
            ends = dict(map(self._move, report.warcs))
        return replace(report, visits=[self._relocated(visit) for visit in report.visits], warcs=ends)

    def _write(self, name: str, part: bytes) -> None:
        self._waiting.setdefault(name, []).append(part)
        self._ends[name] = self._ends.get(name, 0) + len(part)

    def _move(self, name: str) -> tuple[str, int]:
        """Appends what waits of an archive; returns how far the relay's file is."""
        part = b"".join(self._waiting.pop(name, ()))
        if part:
            start = self._ends[name] - len(part)
            by = self._archive.append(part) - start
            moved, found = self._moved.setdefault(name, []), _Moved(start, self._archive.name, by)
            if not moved or moved[-1][1:] != found[1:]:
                moved.append(found)
        return self._archive.name, self._archive.end

    def _relocated(self, visit: Visit) -> Visit:
        place = visit.stored
        if place is None:
            return visit
        moved = self._moved[place.warc]
        found = moved[bisect_right(moved, place.offset, key=lambda each: each.start) - 1]
        return replace(visit, stored=Stored(found.name, place.offset + found.by, place.length))
