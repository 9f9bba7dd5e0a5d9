"""Whether a crawl folder is sound: its archives, its rows, and that both say the same.

A quick look compares sizes. A deep one reads every record and every row.
"""

from collections.abc import Callable, Iterator
from typing import Protocol

from msgspec import Struct
from xxhash import xxh3_128_digest

from sanderling.errors import Damaged
from sanderling.model import ChangeKind, State
from sanderling.repository import archives, warc
from sanderling.repository.folder import Folder
from sanderling.repository.store import ArchiveStore, ChangeStore, GraphStore, HostStore, Totals

# Called with how much is done and how much there is.
OnProgress = Callable[[int, int], None]


class Finding(Struct, frozen=True):
    """Something that is not as it should be."""

    what: str  # missing, short, unknown, damaged, row, totals, link
    where: str  # a file or a URL
    detail: str
    remedy: str = ""
    lost: tuple[str, int, int] | None = None  # archive, first byte and end of what cannot be read


class CheckedStore(ArchiveStore, Totals, ChangeStore, GraphStore, HostStore, Protocol):
    """What a check reads."""


_FETCH_AGAIN = "--repair has these pages fetched again at their next visit"
_TAKE_BACK = "`sanderling recover` takes back what is worth it"


def look(folder: Folder, store: CheckedStore) -> Iterator[Finding]:
    """What sizes and names tell, in no time."""
    committed = store.warcs()
    for short in archives.shortages(folder.warcs, committed):
        what = "short" if short.size else "missing"
        yield Finding(what, short.name, str(short), _FETCH_AGAIN, (short.name, short.size, short.committed))
    for path in sorted(folder.warcs.glob("*.warc.gz")):
        beyond = path.stat().st_size - committed.get(path.name, 0)
        if beyond > 0:
            detail = f"{beyond:,} bytes of {path.name} are not known to the database"
            yield Finding("unknown", path.name, detail, "the next run sets them aside; " + _TAKE_BACK)
    if orphans := archives.orphans(folder.warcs):
        size = sum(path.stat().st_size for path in orphans)
        detail = f"{len(orphans)} archives ({size:,} bytes) were set aside in {archives.ORPHANED}/"
        yield Finding("unknown", archives.ORPHANED, detail, _TAKE_BACK)


def read_everything(folder: Folder, store: CheckedStore, on_progress: OnProgress) -> Iterator[Finding]:
    """What only reading tells: every record of every archive, every version, the links and the
    totals."""
    yield from _records(folder, store, on_progress)
    yield from _versions(folder, store, on_progress)
    yield from _links(store)
    yield from _totals(store)


def _records(folder: Folder, store: CheckedStore, on_progress: OnProgress) -> Iterator[Finding]:
    committed = store.warcs()
    whole, before = sum(committed.values()), 0
    for name, length in sorted(committed.items()):
        path = folder.warcs / name
        for member in archives.members(path, length) if path.exists() else ():
            end = member.offset + member.length
            if member.content is None:
                detail = f"{name} is damaged from byte {member.offset:,} to {end:,}"
                yield Finding("damaged", name, detail, _FETCH_AGAIN, (name, member.offset, end))
            elif problem := warc.digest_problem(member.content):
                detail = f"{name} at byte {member.offset:,}: {problem}"
                yield Finding("damaged", name, detail, _FETCH_AGAIN, (name, member.offset, end))
            on_progress(before + end, whole)
        before += length


def _versions(folder: Folder, store: CheckedStore, on_progress: OnProgress) -> Iterator[Finding]:
    reader, newest = warc.WarcReader(folder.warcs), store.newest_version()
    for done, version in enumerate(store.changes(), 1):
        on_progress(done, newest)
        place = (version.warc, version.offset, version.offset + version.length)
        try:
            archived = reader.read(version.stored)
        except (Damaged, OSError) as error:
            yield Finding(
                "row", version.url, f"a version of {version.url} cannot be read: {error}", _FETCH_AGAIN, place
            )
            continue
        gone = version.kinds & ChangeKind.GONE
        if archived.url != version.url:
            detail = f"a version of {version.url} leads to the record of {archived.url}"
            yield Finding("row", version.url, detail, _FETCH_AGAIN, place)
        elif (
            not gone
            and version.digest
            and xxh3_128_digest(archived.body).hex() != version.digest
            and reader.fields(version.stored).get("warc-truncated") != warc.LEFT_OUT
        ):
            yield Finding("row", version.url, f"a version of {version.url} has another content", _FETCH_AGAIN, place)
    reader.close()


def _links(store: CheckedStore) -> Iterator[Finding]:
    import numpy as np  # late: only a deep check needs it

    ids = np.sort(np.fromiter((id for id, _ in store.url_texts()), np.int64))
    lost = 0
    for _, packed in store.packed_links():
        targets = np.frombuffer(packed, np.int64)
        places = np.searchsorted(ids, targets)
        places[places == len(ids)] = 0
        lost += int((ids[places] != targets).sum()) if len(ids) else len(targets)
    if lost:
        yield Finding("link", "links", f"{lost:,} links lead to URLs that the database does not know")


_COUNTED = {
    "queued": State.QUEUED, "fetched": State.FETCHED, "failed": State.FAILED, "gone": State.GONE,
    "excluded": State.EXCLUDED, "held": State.KNOWN,
}  # fmt: skip


def _totals(store: CheckedStore) -> Iterator[Finding]:
    states: dict[int, int] = {}
    for per_state in store.host_states().values():
        for state, count in per_state.items():
            states[state] = states.get(state, 0) + count
    said = store.counts()
    found = {name: states.get(state, 0) for name, state in _COUNTED.items()} | {"known": sum(states.values())}
    for name, count in found.items():
        if getattr(said, name) != count:
            detail = f"the total of {name} URLs is {getattr(said, name):,}, and {count:,} are there"
            yield Finding("totals", name, detail)
