"""Writes what clients on other machines archived into the folder of the crawl, before their reports
are taken in.

A thread does this, because it waits for the disk, and because unpacking would take a third of the
server's time.
"""

import os
import re
import threading
from pathlib import Path
from typing import IO

from sanderling.cluster.messages import ArchivePiece
from sanderling.cluster.pieces import Packed, Unpacker
from sanderling.model import Stored, VisitReport
from sanderling.urls import identity

_NAME = re.compile(r"([0-9a-f]{12})-\d{14}-\d{5}\.warc\.gz")


class BadPiece(ValueError):
    """A machine sent something that cannot be; the message says what."""


class Landing:
    """The archives of one client."""

    def __init__(self, folder: Path, client: str) -> None:
        self._folder = folder
        self._client = client
        self._unpacker = Unpacker()
        self._file: IO[bytes] | None = None
        self._name = ""
        self._ends: dict[str, int] = {}
        self._open = True
        self._turn = threading.Lock()

    def take(self, piece: ArchivePiece) -> None:
        """Writes a part of an archive."""
        found = _NAME.fullmatch(piece.warc)
        if found is None or found[1] != self._client:
            raise BadPiece(f"an archive of {self._client} is called {piece.warc[:80]!r}")
        if piece.offset != self._ends.get(piece.warc, 0):
            raise BadPiece(f"{piece.warc} continues at byte {piece.offset}, not at {self._ends.get(piece.warc, 0)}")
        try:
            part = self._unpacker.unpack(Packed(piece.packed, piece.zstd), piece.size, piece.digest)
        except ValueError as error:
            raise BadPiece(f"{piece.warc}: {error}") from None
        with self._turn:
            if self._open:
                self._write(piece.warc, part)

    def check(self, report: VisitReport) -> VisitReport:
        """Refuses a report about bytes that are not here, and makes those that are safe.

        Returns the report with the places where its pages are here.
        """
        self._refuse_wrong(report)
        if report.warcs:
            self._make_safe()
        return report

    def _refuse_wrong(self, report: VisitReport) -> None:
        if report.client != self._client:
            raise BadPiece(f"{self._client} reports as {report.client}")
        if any(self._ends.get(name, -1) != end for name, end in report.warcs.items()):
            raise BadPiece(f"{self._client} reports an archive that it did not send")
        for visit in report.visits:
            if len(visit.links) % 8 or any(identity(found.url) != found.id for found in visit.found):
                raise BadPiece(f"{self._client} reports links that are none")
            place = visit.stored
            if place is not None and not _within(place, self._ends.get(place.warc, 0)):
                raise BadPiece(f"{self._client} reports a page in an archive that it did not send")

    def _make_safe(self) -> None:
        with self._turn:
            if self._file is not None:
                os.fdatasync(self._file.fileno())

    def close(self) -> None:
        """From now on nothing is written."""
        with self._turn:
            self._open = False
            self._end_file()

    def _write(self, name: str, part: bytes) -> None:
        if self._file is None or name != self._name:
            self._end_file()
            self._file, self._name = (self._folder / name).open("xb", buffering=0), name
        rest = memoryview(part)
        while rest:
            rest = rest[self._file.write(rest) :]
        self._ends[name] = self._ends.get(name, 0) + len(part)

    def _end_file(self) -> None:
        if self._file is not None:
            os.fdatasync(self._file.fileno())
            self._file.close()
            self._file = None


def _within(place: Stored, end: int) -> bool:
    return place.offset >= 0 and place.length > 0 and place.offset + place.length <= end
