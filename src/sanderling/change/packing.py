"""Whether two packed files hold the same, or as much. Those that are made anew for each request say
when that was."""

from io import BytesIO
from zipfile import BadZipFile, ZipFile

_GZIP, _ZIP = b"\x1f\x8b", b"PK\x03\x04"
# The time, how hard it was packed, and the system.
_MADE = slice(4, 10)


def same_content(old: bytes, new: bytes) -> bool:
    if old.startswith(_GZIP) and new.startswith(_GZIP):
        return _without_time(old) == _without_time(new)
    if old.startswith(_ZIP) and new.startswith(_ZIP):
        listed = _listed(old)
        return bool(listed) and listed == _listed(new)
    return False


def same_size(old: bytes, new: bytes) -> bool:
    """Whether two files are equally large, unpacked if they are packed."""
    return _size(old) == _size(new)


def _size(body: bytes) -> int:
    if body.startswith(_GZIP):
        return int.from_bytes(body[-4:], "little")  # its last field
    if body.startswith(_ZIP) and (listed := _listed(body)):
        return sum(size for _, _, size in listed)
    return len(body)


def _without_time(packed: bytes) -> bytes:
    return packed[: _MADE.start] + packed[_MADE.stop :]


def _listed(packed: bytes) -> list[tuple[str, int, int]]:
    """The files in a ZIP file, with checksum and size."""
    try:
        with ZipFile(BytesIO(packed)) as files:
            return sorted((file.filename, file.CRC, file.file_size) for file in files.infolist())
    except (BadZipFile, ValueError, NotImplementedError, EOFError, OSError):
        return []
