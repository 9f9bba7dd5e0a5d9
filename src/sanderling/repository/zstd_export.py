"""The archives of a crawl as one `.warc.zst` file: a frame for each record, and before them the
dictionary that all are packed with, which was made from some of them."""

from collections.abc import Iterator
from importlib import import_module
from itertools import chain, islice
from typing import Any

from sanderling.errors import UsageError
from sanderling.repository.archive_export import RecordChoice, records
from sanderling.repository.export import LeftOut
from sanderling.repository.folder import Folder
from sanderling.repository.store import ArchiveStore

# The dictionary is made from the first records. Of each it sees the beginning.
_SAMPLED, _OF_EACH = 3000, 16 << 10
_DICTIONARY_SIZE = 112 << 10
_LEVEL = 9
# Fewer records do not say what records have in common.
_FEWEST = 64
_FRAME = b"\x5d\x2a\x4d\x18"  # a frame that readers without a use for it skip


def warc_zst(folder: Folder, store: ArchiveStore, left_out: LeftOut, chosen: RecordChoice) -> Iterator[bytes]:
    """The chunks of the file."""
    try:
        zstd = import_module("zstandard")
    except ImportError:
        raise UsageError("zstd needs the package zstandard: install sanderling[zstd]") from None
    contents = (content for _, _, content in records(folder, store, left_out, chosen))
    first = [*islice(contents, _SAMPLED)]
    known = _dictionary(zstd, [content[:_OF_EACH] for content in first])
    if known is not None:
        packed = zstd.ZstdCompressor(level=_LEVEL).compress(known.as_bytes())
        yield _FRAME + len(packed).to_bytes(4, "little") + packed
    packer = zstd.ZstdCompressor(level=_LEVEL, write_checksum=True, dict_data=known)
    yield from (packer.compress(content) for content in chain(first, contents))


def _dictionary(zstd: Any, samples: list[bytes]) -> Any:
    if len(samples) < _FEWEST:
        return None
    try:
        return zstd.train_dictionary(_DICTIONARY_SIZE, samples)
    except zstd.ZstdError:  # they have too little in common
        return None
