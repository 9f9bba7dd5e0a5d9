"""Files that are packed anew for each request."""

import gzip
from io import BytesIO
from zipfile import ZipFile, ZipInfo

from sanderling.change.packing import same_content


def zipped(text: str, year: int) -> bytes:
    packed = BytesIO()
    with ZipFile(packed, "w") as files:
        files.writestr(ZipInfo("notes.txt", (year, 1, 1, 0, 0, 0)), text)
    return packed.getvalue()


def test_the_time_at_which_a_file_was_packed_is_no_change() -> None:
    packed = gzip.compress(b"some notes", mtime=1)
    assert same_content(packed, gzip.compress(b"some notes", mtime=2))
    assert not same_content(packed, gzip.compress(b"other notes", mtime=1))
    assert same_content(zipped("some notes", 2025), zipped("some notes", 2026))
    assert not same_content(zipped("some notes", 2025), zipped("other notes", 2025))
    assert not same_content(packed, zipped("some notes", 2025))
    assert not same_content(b"PK\x03\x04 damaged", b"PK\x03\x04 damaged too")
