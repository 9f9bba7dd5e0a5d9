"""Removes versions that are not kept: from the database, and with their records from the archives.

Some archives are replaced by one with what stays of them. **Why a kill loses nothing.** The new
archive is on the disk, and its name is noted, before one transaction removes the versions and moves
the others to it. Only then the old archives are deleted. `settle` ends what a kill interrupted:
before the transaction, it deletes the new archive; after it, the old ones. The next run removes the
rest.

The search index learns from a note which versions it has to forget (`search/forgetting.py`).
"""

import time
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from pathlib import Path

import msgspec

from sanderling.errors import Damaged
from sanderling.model import ChangeKind, Forgotten, History, Pruned
from sanderling.repository import archives, lost, revisit_bases, rewriting
from sanderling.repository.folder import Folder
from sanderling.repository.remote import archives_in
from sanderling.repository.revisit_bases import Bases
from sanderling.repository.rewriting import Replaced
from sanderling.repository.store import Notes, PruningStore
from sanderling.retention import Keep, expendable

FORGOTTEN = "pruned"  # the note for the index
_WORK = "pruning"  # the note of what is being replaced
# As much of old archives is replaced by one new archive.
_TOGETHER = 1 << 30
# What the request and the notes beside a response take, in bytes; from an archive of small pages.
_BESIDE = 960
# With more versions to forget, a new index is cheaper.
_MOST_FORGOTTEN = 200_000

OnProgress = Callable[[int, int], None]


class PruningChoice(msgspec.Struct):
    """What leaves a folder, and what has to stay for a while."""

    leaving: dict[str, list[History]]  # by the name of the archive
    untold: int = 0  # versions that stay because somebody has not been told of them
    stuck: dict[str, str] = {}  # archives that cannot be rewritten, with the reason
    based_on: int = 0  # versions that stay because visits of other URLs refer to them

    @property
    def versions(self) -> list[History]:
        return [each for some in self.leaving.values() for each in some]


class Freed(msgspec.Struct):
    """What a run has removed."""

    versions: int = 0
    bytes: int = 0  # of archives


class _Work(msgspec.Struct, frozen=True):
    new: str
    old: list[str] = []  # empty until the new one is in use


def settle(folder: Folder, store: PruningStore) -> None:
    """Ends what a kill interrupted. To be called while the folder is held."""
    if not (noted := store.noted(_WORK)):
        return
    work, committed = msgspec.json.decode(noted, type=_Work), store.warcs()
    rewriting.part_of(folder.warcs, work.new).unlink(missing_ok=True)
    missing = archives.shortages(folder.warcs, committed)
    if not missing:  # else an older database was restored: nothing is deleted
        for name in work.old or [work.new]:
            if name and name not in committed:
                (folder.warcs / name).unlink(missing_ok=True)
    store.note(_WORK, "")


def choose(folder: Folder, store: PruningStore, keep_of: Callable[[str], Keep], now: float, told: int) -> PruningChoice:
    """The versions that are not kept. `told` is the last version of which everybody was told."""
    found = PruningChoice({})
    stuck = _stuck(folder, store)
    for url, group in groupby(store.histories(), key=lambda row: row.url):
        keep = keep_of(url)
        if keep.everything:
            continue
        rows = list(group)
        content = [n for n, row in enumerate(rows) if not row.kinds & ChangeKind.GONE]
        for n in expendable([row.at for row in rows], keep, now):
            row = rows[n]._replace(until=rows[n + 1].at)
            if content and n == content[-1]:
                continue  # the copy that the page has
            if row.number > told:
                found.untold += 1
            elif row.stored.warc in stuck:
                found.stuck[row.stored.warc] = stuck[row.stored.warc]
            else:
                found.leaving.setdefault(row.stored.warc, []).append(row)
    return found


def worthwhile(folder: Folder, choice: PruningChoice, least: float) -> PruningChoice:
    """Only what makes up at least this share of its archive: rewriting costs as much as the archive
    is large."""

    def share(name: str) -> float:
        sizes = {row.stored.offset: row.stored.length + _BESIDE for row in choice.leaving[name]}
        return sum(sizes.values()) / (folder.warcs / name).stat().st_size

    return msgspec.structs.replace(
        choice, leaving={name: some for name, some in choice.leaving.items() if share(name) >= least}
    )


def prune(
    folder: Folder, store: PruningStore, choice: PruningChoice, on_progress: OnProgress = lambda done, all: None
) -> Freed:
    """Removes what was chosen. The folder has to be held, and no client may write to it."""
    freed, all = Freed(), len(choice.versions)
    bases = _bases(folder, store, choice)
    leaving = [name for name, some in choice.leaving.items() if some]
    # Visits leave before what they refer to, so that none refers to nothing if this is interrupted.
    for names in _groups(folder, {*bases.by_archive} - {*leaving}):
        _replace(folder, store, names, choice, bases.leaving, freed)
    for names in _groups(folder, leaving):
        _replace(folder, store, names, choice, bases.leaving, freed)
        on_progress(freed.versions, all)
    return freed


def forgotten(store: Notes) -> Forgotten:
    """What the index has to forget."""
    noted = store.noted(FORGOTTEN)
    return msgspec.json.decode(noted, type=Forgotten) if noted else Forgotten()


def forget(store: Notes, until: int) -> None:
    """The index has forgotten all up to a number."""
    found = forgotten(store)
    if found.versions and found.number <= until:
        store.note(FORGOTTEN, msgspec.json.encode(Forgotten(found.number)).decode())


def _stuck(folder: Folder, store: PruningStore) -> dict[str, str]:
    """Archives that stay as they are."""
    found = {each.name: "it lost bytes" for each in archives.shortages(folder.warcs, store.warcs())}
    found |= {each.warc: "some of it is lost" for each in lost.known_lost(store)}
    linked = {path.name: "it is a link" for path in folder.warcs.glob("*.warc.gz") if path.is_symlink()}
    elsewhere = {path.name: "it is in object storage" for path in archives_in(folder.warcs) if not path.exists()}
    return found | linked | elsewhere


def _bases(folder: Folder, store: PruningStore, choice: PruningChoice) -> Bases:
    """Which visits leave with the versions that they refer to. Versions that are needed by other
    visits leave the choice."""
    committed = store.warcs()
    bases = revisit_bases.of(folder, committed, _stuck(folder, store))
    for name, some in list(choice.leaving.items()):
        until = {row.stored.offset: row.until for row in some}
        needed = set[int]()
        try:
            found = rewriting.units(folder.warcs / name, committed[name]) if bases.known else []
        except Damaged:
            continue
        for unit in found:
            places = unit.offsets & until.keys()
            for id in unit.ids & bases.known.keys() if places else ():
                if bases.known[id].is_only(unit.url, max(map(until.__getitem__, places))):
                    bases.leaving.add(id)
                else:
                    needed |= places
        choice.leaving[name] = [row for row in some if row.stored.offset not in needed]
        choice.based_on += len(some) - len(choice.leaving[name])
    return bases


def _groups(folder: Folder, names: Iterable[str]) -> Iterator[list[str]]:
    group, size = list[str](), 0
    for name in sorted(names):
        length = (folder.warcs / name).stat().st_size
        if group and size + length > _TOGETHER:
            yield group
            group, size = [], 0
        group.append(name)
        size += length
    if group:
        yield group


def _replace(
    folder: Folder, store: PruningStore, names: list[str], choice: PruningChoice, originals: set[str], freed: Freed
) -> None:
    """Replaces some archives by one without what leaves."""
    sources = [*_sources(folder, store, names, choice)]
    names = [source.path.name for source in sources]
    numbers = [row.number for name in names for row in choice.leaving.get(name, ())]
    if not sources:
        return
    new = _new_name(folder.warcs)
    store.note(_WORK, msgspec.json.encode(_Work(new)).decode())
    copied = rewriting.copy(folder.warcs, new, rewriting.staying(sources, originals))
    places = {(source.path.name, place) for source in sources for place in source.live}
    moved = [each for each in copied.moved if each[:2] in places]
    if len(moved) < len(places):
        raise Damaged(f"{', '.join(names)}: {len(places) - len(moved)} places that versions name hold no record")
    work = msgspec.json.encode(_Work(new, names)).decode()
    notes = {FORGOTTEN: _noted_for_index(store, numbers), _WORK: work}
    before = sum(source.path.stat().st_size for source in sources)
    store.prune(Pruned(numbers, copied.name, copied.size, moved, names, notes))
    freed.versions += len(numbers)
    freed.bytes += before - copied.size
    settle(folder, store)


def _sources(folder: Folder, store: PruningStore, names: list[str], choice: PruningChoice) -> Iterator[Replaced]:
    committed = store.warcs()
    for name in names:
        leaving = choice.leaving.get(name, [])
        live = store.places_in(name, (row.number for row in leaving))
        try:
            units = rewriting.units(folder.warcs / name, committed[name])
        except Damaged as error:
            choice.stuck[name] = str(error)
            choice.leaving.pop(name, None)
        else:
            yield Replaced(folder.warcs / name, units, live, {row.stored.offset for row in leaving} - live)


def _noted_for_index(store: PruningStore, numbers: list[int]) -> str:
    before = forgotten(store)
    versions = [*before.versions, *numbers]
    pages = sorted({*before.pages, *store.pages_of(numbers)})
    too_many = before.too_many or len(versions) > _MOST_FORGOTTEN
    after = Forgotten(before.number + 1, [] if too_many else versions, [] if too_many else pages, too_many)
    return msgspec.json.encode(after).decode()


def _new_name(warcs: Path) -> str:
    stamp, number = time.strftime("%Y%m%d%H%M%S", time.gmtime()), 0
    while (warcs / f"pruned-{stamp}-{number:05d}.warc.gz").exists():
        number += 1
    return f"pruned-{stamp}-{number:05d}.warc.gz"
