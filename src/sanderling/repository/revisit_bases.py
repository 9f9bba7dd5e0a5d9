"""Which records of archives are the base of revisit records: of visits that found the same again.

Finding them means to read an archive whole. So what was found is kept beside the archives: a file
that has not grown is not read again.
"""

from collections.abc import Container, Mapping
from pathlib import Path

import msgspec

from sanderling.files import write_whole
from sanderling.repository import archives, warc
from sanderling.repository.folder import Folder
from sanderling.repository.remote import exists
from sanderling.repository.rewriting import time_of

_PLACE = "sanderling.revisits"


class RevisitBase(msgspec.Struct):
    """What refers to a record: visits of these URLs, the last one at a time."""

    urls: set[str]
    last: float

    def is_only(self, url: str, until: float) -> bool:
        """Whether only visits of a URL before a time refer to it."""
        return self.urls == {url} and self.last < until

    def add(self, other: "RevisitBase") -> None:
        self.urls |= other.urls
        self.last = max(self.last, other.last)


class _Read(msgspec.Struct, frozen=True):
    """What was found in an archive of a size."""

    size: int
    bases: dict[str, RevisitBase]


class Bases:
    """The bases of a folder by their ids, and which of them leave."""

    def __init__(self, read: Mapping[str, _Read], stuck: Container[str]) -> None:
        self._read = read
        self.known: dict[str, RevisitBase] = {}
        self.leaving: set[str] = set()
        for name, each in read.items():
            for id, base in each.bases.items():
                known = self.known.setdefault(id, RevisitBase(set(), 0.0))
                known.add(base)
                if name in stuck:
                    known.last = float("inf")

    @property
    def by_archive(self) -> list[str]:
        """The archives with visits that refer to what leaves."""
        return [name for name, each in self._read.items() if each.bases.keys() & self.leaving]


def of(folder: Folder, committed: Mapping[str, int], stuck: Container[str]) -> Bases:
    """`stuck` archives stay as they are."""
    place = folder.path / _PLACE
    try:
        before = msgspec.json.decode(place.read_bytes(), type=dict[str, _Read])
    except (FileNotFoundError, msgspec.DecodeError):
        before = {}
    found = {}
    for name, size in committed.items():
        known, path = before.get(name), folder.warcs / name
        if known is not None and known.size == size:
            found[name] = known
        elif exists(path):
            found[name] = _Read(size, _bases_in(path, size))
    if found != before:
        write_whole(place, msgspec.json.encode(found), sync=False)
    return Bases(found, stuck)


def _bases_in(path: Path, size: int) -> dict[str, RevisitBase]:
    found: dict[str, RevisitBase] = {}
    for member in archives.members(path, size):
        if member.content is not None and b"WARC-Type: revisit" in member.content[:200]:
            fields = warc.fields_of(member.content)
            if id := fields.get("warc-refers-to"):
                base = RevisitBase({fields.get("warc-target-uri", "")}, time_of(fields.get("warc-date", "")))
                found.setdefault(id, RevisitBase(set(), 0.0)).add(base)
    return found
