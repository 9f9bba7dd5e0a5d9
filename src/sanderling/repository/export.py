"""The data of a crawl as others want it: chunks of bytes, in the order they are written."""

import json
from collections.abc import Callable, Iterator
from hashlib import sha1

import can_ada
import msgspec

from sanderling.model import PageRow, Stored
from sanderling.repository import warc
from sanderling.repository.folder import Folder
from sanderling.repository.store import Store

TextOf = Callable[[warc.Archived], str]


def warcs(folder: Folder, store: Store) -> Iterator[bytes]:
    """All WARC files as one: gzip members can simply follow each other."""
    for name, size in sorted(store.warcs().items()):
        with (folder.warcs / name).open("rb") as file:
            while size > 0:
                chunk = file.read(min(size, 1 << 20))
                size -= len(chunk)
                yield chunk


def links(folder: Folder, store: Store) -> Iterator[bytes]:
    """The link graph, an edge a line."""
    for source, targets in store.edges():
        yield "".join(f"{source}\t{target}\n" for target in targets).encode()


def jsonl(folder: Folder, store: Store, text_of: TextOf) -> Iterator[bytes]:
    """One object a page: its facts and its text."""
    for page in store.pages():
        if page.warc is None or not 200 <= page.status < 300:
            continue
        archived = warc.read(folder.warcs, Stored(page.warc, page.offset, page.length))
        facts = msgspec.to_builtins(page)
        yield (json.dumps({**facts, "text": text_of(archived)}, ensure_ascii=False).encode("utf-8", "replace") + b"\n")


def cdxj(folder: Folder, store: Store) -> Iterator[bytes]:
    """An index of the responses, sorted by reversed host name and path, then by time."""
    lines = sorted(_cdxj_line(folder, page) for page in store.pages() if page.warc is not None)
    yield from (line.encode() + b"\n" for line in lines)


def _cdxj_line(folder: Folder, page: PageRow) -> str:
    assert page.warc is not None
    archived = warc.read(folder.warcs, Stored(page.warc, page.offset, page.length))
    stamp = "".join(c for c in archived.at[:19] if c.isdigit())
    facts = {
        "url": page.url,
        "mime": page.mime or "unk",
        "status": str(page.status),
        "digest": "sha1:" + warc.base32(sha1(archived.body).digest()).decode(),
        "length": str(page.length),
        "offset": str(page.offset),
        "filename": page.warc,
    }
    return f"{surt(page.url)} {stamp} {json.dumps(facts)}"


def surt(url: str) -> str:
    """A URL with its host name reversed, so that sorting keeps a domain together."""
    parsed = can_ada.parse(url)
    host = parsed.hostname.lower().removeprefix("www.")
    labels = [host] if host[:1] == "[" or host.replace(".", "").isdigit() else host.split(".")[::-1]
    port = f":{parsed.port}" if parsed.port else ""
    return f"{','.join(labels)}{port}){parsed.pathname.lower()}{parsed.search.lower()}"
