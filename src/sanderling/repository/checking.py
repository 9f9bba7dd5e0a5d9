"""Whether a crawl folder is sound: its archives, its rows, and that both say the same.

A quick look compares sizes. A deep one reads every record and every row.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from msgspec import Struct
from xxhash import xxh3_128_digest

from sanderling.errors import Damaged
from sanderling.model import ChangeKind, Lost, State
from sanderling.repository import archives, lost, warc
from sanderling.repository.folder import Folder
from sanderling.repository.remote import archives_in, exists, listed, place_of, size_of
from sanderling.repository.store import ArchiveStore, ChangeStore, GraphStore, HostStore, Totals

# Called with how much is done and how much there is.
OnProgress = Callable[[int, int], None]


class Finding(Struct, frozen=True):
    """Something that is not as it should be."""

    what: str  # missing, short, lost, unknown, set aside, damaged, row, totals, link, index
    where: str  # a file or a URL
    detail: str
    remedy: str = ""
    lost: Lost | None = None  # what cannot be read


class CheckedStore(ArchiveStore, Totals, ChangeStore, GraphStore, HostStore, Protocol):
    """What a check reads."""


# Bytes that no page needs, because their pages were queued again: nothing is damaged.
SET_ASIDE = "set aside"
_FETCH_AGAIN = "--repair has these pages fetched again at their next visit"
_TAKE_BACK = "`sanderling recover` takes back what is worth it"


def look(folder: Folder, store: CheckedStore) -> Iterator[Finding]:
    """What sizes and names tell, in no time."""
    committed = store.warcs()
    known = lost.known_lost(store)
    for short in archives.shortages(folder.warcs, committed):
        if not lost.holds(known, short.lost):
            what = "short" if short.size else "missing"
            yield Finding(what, short.name, str(short), _FETCH_AGAIN, short.lost)
    for place in known:
        if pages := store.distrusted(place):
            detail = (
                f"{pages:,} page{'s' * (pages != 1)} of {place.warc} lost their copy and were not fetched again yet"
            )
            yield Finding("lost", place.warc, detail, "the next visit does that: `sanderling crawl --again`")
    yield from _elsewhere(folder, known)
    for path in archives_in(folder.warcs):
        beyond = size_of(path) - committed.get(path.name, 0)
        if beyond > 0:
            detail = f"{beyond:,} bytes of {path.name} are not known to the database"
            yield Finding("unknown", path.name, detail, "the next run sets them aside; " + _TAKE_BACK)
    if orphans := archives.orphans(folder.warcs):
        size, count = sum(path.stat().st_size for path in orphans), len(orphans)
        some = f"{count} archive{'s' * (count != 1)} ({size:,} bytes) {'were' if count != 1 else 'was'}"
        detail = f"{some} set aside in {archives.ORPHANED}/"
        yield Finding(SET_ASIDE, archives.ORPHANED, detail, _TAKE_BACK)


def _elsewhere(folder: Folder, known: Iterable[Lost]) -> Iterator[Finding]:
    """What object storage has lost."""
    there: dict[str, dict[str, int]] = {}
    for path in archives_in(folder.warcs):
        place = None if path.exists() else place_of(path)
        if place is None:
            continue
        sizes = there.get(place.address) or there.setdefault(place.address, dict(listed(place.address)))
        size = sizes.get(path.name, 0)
        short = archives.Shortage(path.name, size, place.size)
        if size < place.size and not lost.holds(known, short.lost):
            detail = f"{short}, in {place.address}"
            yield Finding("short" if size else "missing", path.name, detail, _FETCH_AGAIN, short.lost)


def read_everything(folder: Folder, store: CheckedStore, on_progress: OnProgress) -> Iterator[Finding]:
    """What only reading tells: every record of every archive, every version, the links and the
    totals."""
    yield from _records(folder, store, on_progress)
    yield from _versions(folder, store, on_progress)
    yield from _links(store)
    yield from _totals(store)


def _records(folder: Folder, store: CheckedStore, on_progress: OnProgress) -> Iterator[Finding]:
    committed, known = store.warcs(), lost.known_lost(store)
    whole, before = sum(committed.values()), 0
    for name, length in sorted(committed.items()):
        path = folder.warcs / name
        for member in archives.members(path, length) if exists(path) else ():
            end = member.offset + member.length
            place = Lost(name, member.offset, end)
            on_progress(before + end, whole)
            if lost.covers(known, place):
                continue
            if member.content is None:
                detail = f"{name} is damaged from byte {member.offset:,} to {end:,}"
                yield Finding("damaged", name, detail, _FETCH_AGAIN, place)
            elif problem := warc.digest_problem(member.content):
                detail = f"{name} at byte {member.offset:,}: {problem}"
                yield Finding("damaged", name, detail, _FETCH_AGAIN, place)
        before += length


def _versions(folder: Folder, store: CheckedStore, on_progress: OnProgress) -> Iterator[Finding]:
    known = lost.known_lost(store)
    reader, newest = warc.WarcReader(folder.warcs), store.newest_version()
    for done, version in enumerate(store.changes(), 1):
        on_progress(done, newest)
        place = Lost(version.warc, version.offset, version.offset + version.length)
        if lost.covers(known, place):
            continue
        try:
            archived = reader.read(version.stored)
        except (Damaged, OSError) as error:
            yield Finding(
                "row", version.url, f"a version of {version.url} cannot be read: {error}", _FETCH_AGAIN, place
            )
            continue
        same = bool(version.digest) and xxh3_128_digest(archived.body).hex() == version.digest
        # Files with the same bytes are kept once, under one of their URLs.
        if archived.url != version.url and not same:
            detail = f"a version of {version.url} leads to the record of {archived.url}"
            yield Finding("row", version.url, detail, _FETCH_AGAIN, place)
        elif (
            not version.kinds & ChangeKind.GONE
            and version.digest
            and not same
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
