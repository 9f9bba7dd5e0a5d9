"""The WARC files of a crawl as files: which bytes the database vouches for, and what becomes of the
rest.

An archive is deleted only when another one has what is kept of it (`pruning`). Bytes that the
database does not know, because a crash came before their commit or because an older database was
restored, are set aside in `warc/orphaned/`.
"""

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple

from isal import igzip_lib

from sanderling.errors import Damaged
from sanderling.model import Lost
from sanderling.repository import fencing
from sanderling.repository.remote import AHEAD, ReadableBytes, archives_in, open_archive, size_of

ORPHANED = "orphaned"
# A file with nothing but its `warcinfo` record is smaller than this, and any response makes it
# larger.
_ONLY_HEAD = 1024
_CHUNK = 1 << 16
_MAGIC = b"\x1f\x8b\x08"
# A record that unpacks to more is not read: it is a bomb, or of another program. So is one that
# unpacks to more than so many times its size, unless it is small.
LARGEST_RECORD = 1 << 30
_MOST_TIMES, _SMALL_RECORD = 200, 64 << 20


class Shortage(NamedTuple):
    """An archive that has fewer bytes than the database vouches for."""

    name: str
    size: int  # 0 when the file is missing
    committed: int

    @property
    def lost(self) -> Lost:
        return Lost(self.name, self.size, self.committed)

    def __str__(self) -> str:
        if not self.size:
            return f"{self.name} is missing ({self.committed:,} bytes)"
        return f"{self.name} is shorter than it was: {self.size:,} of {self.committed:,} bytes are left"


class Member(NamedTuple):
    """One gzip member of an archive, which is one record."""

    offset: int
    length: int
    content: bytes | None  # None where bytes are damaged
    packed: bytes = b""  # as it lies in the file


def require_none(folder: Path) -> None:
    """Refuses archives that an empty database would orphan all at once: most likely the database
    was lost."""
    found = len(archives_in(folder))
    if found:
        raise Damaged(
            f"{folder} holds {found} archive{'s' * (found > 1)}, and the crawl's database is empty: restore it from a "
            f"backup, rebuild it with `sanderling recover {folder.parent}`, or move the archives away to start again"
        )


def rebuilt_by(folder: Path) -> str:
    """What to do about a database that is lost; nothing for a folder without archives."""
    found = archives_in(folder / "warc") or any(folder.glob(f"warc/{ORPHANED}/*.warc.gz"))
    return f"`sanderling recover {folder}` rebuilds it from the archives" if found else ""


def shortages(folder: Path, committed: Mapping[str, int]) -> list[Shortage]:
    """The archives that lost bytes which the database vouches for."""
    sizes = {path.name: size_of(path) for path in archives_in(folder)}
    return [
        Shortage(name, sizes.get(name, 0), length)
        for name, length in sorted(committed.items())
        if sizes.get(name, 0) < length
    ]


def seal(folder: Path, committed: Mapping[str, int], prefix: str = "") -> list[str]:
    """Makes sure that no process writes to the archives any more; returns what was done with new
    files.

    With a `prefix`, this is done for the files of one client, and other clients go on.
    """
    done = []
    if not prefix:
        for place in fencing.move_runs_away(folder, folder / ORPHANED):
            done += _set_aside_run(place, folder, committed)
    for path in sorted(folder.glob(f"{prefix}*.warc.gz")):
        fencing.take_from_writer(path)
    return done


def set_aside(folder: Path, committed: Mapping[str, int], prefix: str = "") -> list[str]:
    """Moves what was not committed to `orphaned/`; returns what was done.

    Those bytes belong to pages that are queued again. If they stayed, these pages would be stored
    twice. With a `prefix`, this is done for the files of one client, and other clients go on.
    """
    done = seal(folder, committed, prefix)
    for path in sorted(folder.glob(f"{prefix}*.warc.gz")):
        if path.is_symlink():  # it lies elsewhere, and nobody here writes to it
            continue
        keep, size = committed.get(path.name, 0), path.stat().st_size
        if not keep:
            done += _set_aside_file(path, folder)
        elif size > keep:
            done.append(_set_aside_tail(path, keep, size))
    return done


def _set_aside_run(place: Path, folder: Path, committed: Mapping[str, int]) -> list[str]:
    """Empties the folder of a run that is over. A power cut may have undone the rename of a file
    that is committed."""
    done = []
    for path in sorted(place.glob("*.warc.gz")):
        fencing.take_from_writer(path)
        if committed.get(path.name) and not (folder / path.name).exists():
            path.rename(folder / path.name)
        else:
            done += _set_aside_file(path, folder)
    shutil.rmtree(place, ignore_errors=True)
    if not done:
        with suppress(OSError):  # something was set aside before
            place.parent.rmdir()
    return done


def _set_aside_file(path: Path, folder: Path) -> list[str]:
    if path.stat().st_size < _ONLY_HEAD:
        path.unlink()
        return []
    path.rename(_free(_orphaned(folder) / path.name))
    return [f"set {path.name} aside in {ORPHANED}/: the database does not know it"]


def _set_aside_tail(path: Path, keep: int, size: int) -> str:
    place = _free(_orphaned(path.parent) / f"{path.name.removesuffix('.warc.gz')}-from-{keep}.warc.gz")
    part = place.with_name(place.name + ".part")
    with path.open("rb") as source, part.open("wb") as target:
        source.seek(keep)
        while chunk := source.read(1 << 20):
            target.write(chunk)
        target.flush()
        os.fsync(target.fileno())
    part.replace(place)
    os.truncate(path, keep)
    return f"set {size - keep:,} bytes of {path.name} aside in {ORPHANED}/: they were not committed"


def orphans(folder: Path) -> list[Path]:
    """What was set aside."""
    return sorted((folder / ORPHANED).glob("*.warc.gz"))


def free_name(folder: Path, orphan: Path) -> str:
    """The name that an archive which was set aside gets among the others."""
    return _free(folder / orphan.name).name


def _orphaned(folder: Path) -> Path:
    place = folder / ORPHANED
    place.mkdir(exist_ok=True)
    return place


def _free(place: Path) -> Path:
    """A name that no file has."""
    number, found = 1, place
    while found.exists():
        number += 1
        found = place.with_name(f"{place.name.removesuffix('.warc.gz')}-{number}.warc.gz")
    return found


def members(path: Path, end: int | None = None, start: int = 0) -> Iterator[Member]:
    """The records of an archive in their order, from `start` to `end`; a damaged stretch is one
    without content."""
    with closing(open_archive(path, AHEAD)) as file:
        offset, length = start, file.size if end is None else min(end, file.size)
        while offset < length:
            found = _member(file, offset, length)
            if found is None:
                following = _next_member(file, offset + 1, length)
                found = Member(offset, following - offset, None)
            yield found
            offset += found.length


def _member(file: ReadableBytes, offset: int, end: int) -> Member | None:
    """The member at an offset; None when there is no whole one."""
    unpacker, at, size = igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP), offset, 0
    parts: list[bytes] = []
    packed: list[bytes] = []
    is_bomb = False
    try:
        while not unpacker.eof:
            chunk = file.pread(min(_CHUNK, end - at), at)
            if not chunk:
                return None
            at += len(chunk)
            unpacked = unpacker.decompress(chunk)
            size += len(unpacked)
            is_bomb = is_bomb or size > LARGEST_RECORD or size > max(_SMALL_RECORD, _MOST_TIMES * (at - offset))
            if is_bomb:  # goes on only to find its end
                parts, packed = [], []
            else:
                parts.append(unpacked)
                packed.append(chunk)
    except igzip_lib.IsalError:  # type: ignore[misc]  # the stub calls it an instance
        return None
    content, length = b"".join(parts), at - len(unpacker.unused_data) - offset
    if is_bomb:
        return Member(offset, length, None)
    return Member(offset, length, content, b"".join(packed)[:length]) if content.startswith(b"WARC/") else None


def _next_member(file: ReadableBytes, start: int, end: int) -> int:
    """Where the next whole member begins behind a damaged one, or the end."""
    at = start
    while at < end:
        chunk = file.pread(min(_CHUNK, end - at), at)
        place = chunk.find(_MAGIC)
        if place < 0:
            at += max(1, len(chunk) - len(_MAGIC) + 1)
        elif _member(file, at + place, end) is not None:
            return at + place
        else:
            at += place + 1
    return end
