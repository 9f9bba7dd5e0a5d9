"""Archives that lie in object storage, and files that are brought there.

A file that was uploaded is replaced by a note of where it is: `NAME.remote` in the place of `NAME`.
So a folder knows all its archives without asking the storage, and one whose storage cannot be
reached has lost nothing. Credentials are those of the environment (`AWS_ACCESS_KEY_ID` and the
like), and are never written.
"""

import os
import re
from collections.abc import Iterable, Iterator
from datetime import timedelta
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import msgspec

from sanderling.errors import ArchiveAway, Damaged, UsageError
from sanderling.files import write_whole

NOTE = ".remote"
_ARCHIVES = "*.warc.gz"
# Who reads on gets so much with each request.
AHEAD = 4 << 20
_TIMES = {"timeout": "120s", "connect_timeout": "10s"}
_RETRIES = {"max_retries": 3, "retry_timeout": timedelta(seconds=30)}
# Parts of files that are uploaded while they are made. Storage takes 10,000 parts of a file.
_PART, _PARTS_AT_ONCE = 32 << 20, 2
_NAME = r"[\w!.*'()=+-]*[\w!*'()=+-][\w!.*'()=+-]*"  # not of dots alone
_FILE = re.compile(rf"(s3://[a-z0-9][a-z0-9.-]{{1,62}})/({_NAME}(?:/{_NAME})*)", re.ASCII)
# What a missing bucket, wrong credentials and a silent server are said with.
_LONGEST = 200


class RemotePlace(msgspec.Struct, frozen=True):
    """Where an archive is, and how long it is."""

    address: str
    size: int


class RemoteFile(NamedTuple):
    """A file in object storage, as the user named it."""

    bucket: str
    name: str

    def __str__(self) -> str:
        return f"{self.bucket}/{self.name}"


class ReadableBytes(Protocol):
    """An archive that is open."""

    size: int

    def pread(self, length: int, offset: int) -> bytes: ...

    def close(self) -> None: ...


class LocalBytes:
    def __init__(self, path: Path) -> None:
        self._file = path.open("rb", buffering=0)
        self.size = os.fstat(self._file.fileno()).st_size

    def pread(self, length: int, offset: int) -> bytes:
        return os.pread(self._file.fileno(), length, offset)

    def close(self) -> None:
        self._file.close()


class RemoteBytes:
    """Read by ranges. With `ahead`, more is asked for than is read."""

    def __init__(self, name: str, place: RemotePlace, ahead: int) -> None:
        self._name, self._place, self._ahead = name, place, ahead
        self._start, self._block = 0, b""
        self.size = place.size

    def pread(self, length: int, offset: int) -> bytes:
        length = max(0, min(length, self.size - offset))
        if not self._start <= offset <= offset + length <= self._start + len(self._block):
            wanted = min(max(length, self._ahead), self.size - offset)
            self._start, self._block = offset, self._asked(wanted, offset) if wanted > 0 else b""
        at = offset - self._start
        return self._block[at : at + length]

    def _asked(self, length: int, offset: int) -> bytes:
        module = import_module("obstore")
        try:
            found = module.get_range(storage(self._place.address), self._name, start=offset, length=length)
        except FileNotFoundError:
            raise Damaged(f"{self._name} is missing from {self._place.address}") from None
        except Exception as error:
            if " 416 " in str(error):
                raise Damaged(f"{self._name} in {self._place.address} is shorter than it was") from None
            raise away(self._place.address, error) from None
        return bytes(found)

    def close(self) -> None:
        self._block = b""


def open_archive(path: Path, ahead: int = 0) -> ReadableBytes:
    """Opens an archive, in the folder or in object storage; FileNotFoundError if it is in none."""
    try:
        return LocalBytes(path)
    except FileNotFoundError:
        place = place_of(path)
        if place is None:
            raise
        return RemoteBytes(path.name, place, ahead)


def archives_in(folder: Path) -> list[Path]:
    """All archives of a folder, also those that are elsewhere, by the paths they have here."""
    noted = (path.with_name(path.name.removesuffix(NOTE)) for path in folder.glob(_ARCHIVES + NOTE))
    return sorted({*folder.glob(_ARCHIVES), *noted})


def exists(path: Path) -> bool:
    return path.exists() or _note_of(path).exists()


def size_of(path: Path) -> int:
    """The length of an archive, wherever it is."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        place = place_of(path)
        if place is None:
            raise
        return place.size


def place_of(path: Path) -> RemotePlace | None:
    """Where an archive is, if it is not in the folder."""
    try:
        return msgspec.json.decode(_note_of(path).read_bytes(), type=RemotePlace)
    except FileNotFoundError:
        return None
    except msgspec.DecodeError:
        raise Damaged(f"{_note_of(path)} is no note of where an archive is") from None


def upload(path: Path, address: str) -> None:
    """Brings an archive to object storage and leaves a note in its place. Whenever it is
    interrupted, the archive is whole in one of the two."""
    size, module = path.stat().st_size, import_module("obstore")
    try:
        module.put(storage(address), path.name, path)
        there = module.head(storage(address), path.name)["size"]
    except Exception as error:
        raise away(address, error) from None
    if there != size:
        raise ArchiveAway(f"{address} has {there:,} of {size:,} bytes of {path.name}")
    write_whole(_note_of(path), msgspec.json.encode(RemotePlace(address, size)))
    path.unlink()


def remote_file(text: str) -> RemoteFile:
    found = _FILE.fullmatch(text)
    if found is None:
        raise UsageError(f"{text!r} is not an address of a file such as s3://bucket/prefix/name")
    return RemoteFile(found[1], found[2])


def file_exists(file: RemoteFile) -> bool:
    store, module = storage(file.bucket), import_module("obstore")
    try:
        module.head(store, file.name)
    except FileNotFoundError:
        return False
    except module.exceptions.BaseError as error:
        raise away(str(file), error) from None
    return True


def write_file(file: RemoteFile, chunks: Iterable[bytes]) -> None:
    """Uploads a file in parts while it is made. It is there when all of it is: whatever ends the
    upload, its parts are given up, and a file that was there before stays."""
    store, module = storage(file.bucket), import_module("obstore")
    try:
        module.put(store, file.name, iter(chunks), chunk_size=_PART, max_concurrency=_PARTS_AT_ONCE)
    except (FileNotFoundError, module.exceptions.BaseError) as error:
        if isinstance(error, FileNotFoundError) and "NoSuchBucket" not in str(error):
            raise
        raise away(str(file), error) from None


def adopt(folder: Path, address: str) -> int:
    """Notes the archives in object storage that a folder does not know; returns how many."""
    found = 0
    for name, size in listed(address):
        path = folder / name
        if name.endswith(".warc.gz") and "/" not in name and not exists(path):
            write_whole(_note_of(path), msgspec.json.encode(RemotePlace(address, size)))
            found += 1
    return found


def listed(address: str) -> Iterator[tuple[str, int]]:
    """The names and lengths of all objects at an address."""
    module = import_module("obstore")
    try:
        for batch in module.list(storage(address)):
            yield from ((each["path"], each["size"]) for each in batch)
    except Exception as error:
        raise away(address, error) from None


@lru_cache(16)
def storage(address: str) -> Any:
    """A client for an address. Every process makes its own."""
    try:
        made = import_module("obstore.store").from_url
    except ImportError:
        raise UsageError("archives in object storage need `pip install 'sanderling[s3]'`") from None
    plain = os.environ.get("AWS_ENDPOINT_URL", os.environ.get("AWS_ENDPOINT", "")).startswith("http://")
    return made(address, client_options={**_TIMES, "allow_http": plain}, retry_config=_RETRIES)


def away(address: str, error: Exception) -> Exception:
    """What is told of storage that does not answer as it should."""
    if isinstance(error, UsageError | ArchiveAway):
        return error
    if "NoSuchBucket" in str(error):
        return ArchiveAway(f"there is no bucket {address.split('/')[2]} in the object storage")
    said = str(error).partition("\n")[0].partition("Debug source")[0].strip()
    return ArchiveAway(f"{address} cannot be reached, and nothing is lost: {said[:_LONGEST]}")


def _note_of(path: Path) -> Path:
    return path.with_name(path.name + NOTE)
