"""Screenshots in the archives. That of a version lies directly behind its record."""

from contextlib import closing
from pathlib import Path

from isal import igzip_lib

from sanderling.model import LARGEST_SCREENSHOT, Stored
from sanderling.repository import warc
from sanderling.repository.remote import open_archive

# As much as its fields and the packing add.
_BESIDE = 8192


def has_screenshot(folder: Path, stored: Stored) -> bool:
    """Whether a version has a screenshot, without reading all of it."""
    return _is_screenshot(_behind(folder, stored, _BESIDE))


def screenshot_of(folder: Path, stored: Stored) -> bytes:
    """The screenshot of a version, as WebP; empty if there is none."""
    content = _behind(folder, stored, LARGEST_SCREENSHOT + _BESIDE)
    if not _is_screenshot(content) or warc.digest_problem(content):
        return b""
    return warc.parse(content).body


def _is_screenshot(content: bytes) -> bool:
    if not content.startswith(b"WARC/"):
        return False
    fields = warc.fields_of(content)
    return fields.get("warc-type") == "conversion" and fields.get("content-type") == warc.SCREENSHOT.decode()


def _behind(folder: Path, stored: Stored, size: int) -> bytes:
    """So much of the record behind another one, uncompressed; empty if there is none."""
    unpacker = igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP)
    try:
        with closing(open_archive(folder / stored.warc)) as file:
            return unpacker.decompress(file.pread(size, stored.offset + stored.length), size)
    except (OSError, igzip_lib.IsalError):  # type: ignore[misc]  # the stub calls it an instance
        return b""
