"""The archives of a crawl as other tools want them: one WARC file, and an index of captures."""

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any, NamedTuple

from sanderling.model import Stored
from sanderling.repository import archives, warc
from sanderling.repository.archive import type_of
from sanderling.repository.export import LeftOut
from sanderling.repository.folder import Folder
from sanderling.repository.method_keys import url_of_request
from sanderling.repository.remote import exists
from sanderling.repository.store import ArchiveStore
from sanderling.repository.surt import surt

_CAPTURED = ("response", "resource", "revisit", "conversion")


class RecordChoice(NamedTuple):
    """Which records are exported."""

    with_login: bool = False
    since: float = 0.0
    until: float = float("inf")
    urls: Any = None  # a pattern of the user's

    def takes(self, fields: dict[str, str]) -> bool:
        if not self.with_login and warc.LOGIN_FIELD in fields:
            return False
        if (self.since or self.until < float("inf")) and not self._in_time(fields["warc-date"]):
            return False
        url = fields.get("warc-target-uri", "").removeprefix(warc.DOM.decode()).removeprefix(warc.PICTURE.decode())
        return self.urls is None or not url or bool(self.urls.search(url))

    def _in_time(self, date: str) -> bool:
        return self.since <= datetime.fromisoformat(date).timestamp() < self.until


_ALL = RecordChoice()


def warcs(folder: Folder, store: ArchiveStore, left_out: LeftOut, chosen: RecordChoice = _ALL) -> Iterator[bytes]:
    """All WARC files as one: gzip members can simply follow each other. Damaged records are left
    out."""
    yield from (record.packed for _, record, _ in records(folder, store, left_out, chosen))


def records(
    folder: Folder, store: ArchiveStore, left_out: LeftOut, chosen: RecordChoice
) -> Iterator[tuple[str, archives.Member, bytes]]:
    """Every record that can be read: the name of its file, its place in it and its content."""
    for name, size in sorted(store.warcs().items()):
        path, end = folder.warcs / name, 0
        for member in archives.members(path, size) if exists(path) else ():
            end = member.offset + member.length
            if member.content is None:
                left_out.note(f"{name} is damaged from byte {member.offset:,} to {end:,}")
            elif chosen.takes(warc.fields_of(member.content)):
                yield name, member, member.content
        if end < size:
            left_out.note(f"{name} ends at byte {end:,} of {size:,}")


def cdxj(folder: Folder, store: ArchiveStore, left_out: LeftOut, chosen: RecordChoice = _ALL) -> Iterator[bytes]:
    """An index of all that can be replayed from the archives, sorted by reversed host name and
    path, then by time."""
    index = CaptureIndex()
    for name, record, content in records(folder, store, left_out, chosen):
        index.add(Stored(name, record.offset, record.length), warc.fields_of(content), content)
    yield from (line + b"\n" for line in index.lines())


class CaptureIndex:
    """Collects the lines of an index from the records of archives, in their order."""

    def __init__(self) -> None:
        self._lines: list[bytes] = []
        self._last: _Capture | None = None

    def add(self, stored: Stored, fields: dict[str, str], content: bytes) -> None:
        if fields["warc-type"] in _CAPTURED:
            self._end()
            self._last = _Capture(stored, fields, content, fields["warc-target-uri"])
        elif fields["warc-type"] == "request" and self._last is not None and _is_of(fields, self._last.fields):
            self._last = self._last._replace(key=url_of_request(self._last.key, content))

    def lines(self) -> list[bytes]:
        """All of them, sorted."""
        self._end()
        self._last = None
        self._lines.sort()
        return self._lines

    def _end(self) -> None:
        if self._last is not None:
            self._lines.append(_cdxj_line(self._last))


class _Capture(NamedTuple):
    """A record that can be replayed."""

    stored: Stored
    fields: dict[str, str]
    content: bytes
    key: str  # the URL, and what the request sent


def _is_of(request: dict[str, str], response: dict[str, str]) -> bool:
    return response.get("warc-record-id", "") in request.get("warc-concurrent-to", "-")


def _cdxj_line(capture: _Capture) -> bytes:
    stored, fields, content, key = capture
    url, facts = fields["warc-target-uri"], {"mime": "warc/revisit"}
    if fields["warc-type"] != "revisit":
        archived = warc.parse(content)
        mime = type_of(archived).partition(";")[0].strip()
        facts = {"mime": mime or "unk", "status": str(archived.status)}
    if digest := fields.get("warc-payload-digest"):
        facts["digest"] = digest
    facts |= {"length": str(stored.length), "offset": str(stored.offset), "filename": stored.warc}
    stamp = "".join(c for c in fields["warc-date"][:19] if c.isdigit())
    return f"{surt(key)} {stamp} {json.dumps({'url': url, **facts})}".encode()
