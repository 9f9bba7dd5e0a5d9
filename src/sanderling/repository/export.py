"""The data of a crawl as others want it: chunks of bytes, in the order they are written."""

import io
import json
from array import array
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from importlib import import_module
from itertools import islice
from typing import Any, TypeVar
from xml.sax.saxutils import escape

import msgspec

from sanderling.errors import Damaged, UsageError
from sanderling.model import Stored
from sanderling.repository import warc
from sanderling.repository.archive import main_text_of
from sanderling.repository.folder import Folder
from sanderling.repository.store import GraphStore, LinkStore, Store
from sanderling.repository.templates import SiteTemplates, sampled
from sanderling.urls import identity

TextOf = Callable[[warc.Archived], str]
Row = TypeVar("Row")

_ROWS_AT_ONCE = 50_000
_GRAPHML_HEAD = b"""<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="url" for="node" attr.name="url" attr.type="string"/>
<graph id="links" edgedefault="directed">
"""


class LeftOut:
    """What an export could not read."""

    def __init__(self) -> None:
        self.count = 0
        self.first = ""

    def note(self, what: str) -> None:
        self.count += 1
        self.first = self.first or what


def links(folder: Folder, store: LinkStore, left_out: LeftOut, with_login: bool = False) -> Iterator[bytes]:
    """The link graph, an edge a line."""
    for source, targets in _edges(store, with_login):
        yield "".join(f"{source}\t{target}\n" for target in targets).encode()


def _edges(store: LinkStore, with_login: bool) -> Iterator[tuple[str, list[str]]]:
    """Each page with the pages it links to, without what only the user's login shows."""
    hidden = set[int]() if with_login else store.behind_login()
    if not hidden:
        yield from store.edges()
        return
    for source, targets in store.edges():
        if identity(source) not in hidden:
            yield source, [target for target in targets if identity(target) not in hidden]


def links_parquet(folder: Folder, store: LinkStore, left_out: LeftOut, with_login: bool = False) -> Iterator[bytes]:
    """The link graph as a table with the columns `source` and `target`."""
    try:
        arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        raise UsageError("Parquet needs the package pyarrow: install sanderling[parquet]") from None
    schema = arrow.schema([("source", arrow.string()), ("target", arrow.string())])
    written = WrittenBytes()
    with parquet.ParquetWriter(arrow.PythonFile(written, "w"), schema, compression="zstd") as writer:
        for batch in _batches((source, target) for source, targets in _edges(store, with_login) for target in targets):
            writer.write_table(arrow.table(list(zip(*batch, strict=True)), schema=schema))
            yield written.take()
    yield written.take()


def links_graphml(folder: Folder, store: GraphStore, left_out: LeftOut, with_login: bool = False) -> Iterator[bytes]:
    """The link graph for graph programs: every known URL as a node, every link as an edge."""
    import numpy as np  # late: this file is wired into the server, which has no use for it

    from sanderling.graph import Places

    yield _GRAPHML_HEAD
    ids = array("q")
    hidden = set[int]() if with_login else store.behind_login()
    for batch in _batches((id, url) for id, url in store.url_texts() if id not in hidden):
        ids.extend(id for id, _ in batch)
        yield "".join(f'<node id="n{id}"><data key="url">{escape(url)}</data></node>\n' for id, url in batch).encode(
            "utf-8", "replace"
        )
    known = Places(np.sort(np.frombuffer(ids, np.int64)) if ids else np.empty(0, np.int64))
    for page, packed in store.packed_links():
        targets = np.frombuffer(packed, np.int64)
        # While a crawl runs, pages come in that were no nodes yet.
        if known.of(np.array([page]))[0] >= 0:
            there = targets[known.of(targets) >= 0].tolist()
            yield "".join(f'<edge source="n{page}" target="n{target}"/>\n' for target in there).encode()
    yield b"</graph></graphml>\n"


def _batches(rows: Iterable[Row]) -> Iterator[list[Row]]:
    rest = iter(rows)
    while batch := list(islice(rest, _ROWS_AT_ONCE)):
        yield batch


class WrittenBytes(io.RawIOBase):
    """A file that hands on what is written to it."""

    def __init__(self) -> None:
        self._chunks: list[bytes] = []
        self._size = 0

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return False

    def tell(self) -> int:
        return self._size

    def write(self, data: Any) -> int:
        self._chunks.append(bytes(data))
        self._size += len(self._chunks[-1])
        return len(self._chunks[-1])

    def take(self) -> bytes:
        """What was written since it was last taken."""
        taken, self._chunks = b"".join(self._chunks), []
        return taken


def jsonl(
    folder: Folder, store: Store, left_out: LeftOut, text_of: TextOf, with_login: bool = False
) -> Iterator[bytes]:
    """One object a page: its facts, its text and its main content."""
    with closing(warc.WarcReader(folder.warcs)) as reader:
        templates = SiteTemplates(lambda: sampled(store, with_login), reader.read)
        for page in store.pages():
            if page.warc is None or (page.login and not with_login) or not 200 <= page.status < 300:
                continue
            archived = readable(reader, page.url, Stored(page.warc, page.offset, page.length), left_out)
            if archived is not None:
                texts = {"text": text_of(archived), "main": main_text_of(archived, templates.of(page.url))}
                facts = {**msgspec.to_builtins(page), **texts}
                yield json.dumps(facts, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def readable(reader: warc.WarcReader, url: str, stored: Stored, left_out: LeftOut) -> warc.Archived | None:
    """A response, or None for one that is noted as left out."""
    try:
        return reader.read(stored)
    except (Damaged, OSError) as error:
        left_out.note(f"{url}: {error}")
        return None
