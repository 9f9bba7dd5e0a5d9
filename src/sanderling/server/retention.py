"""Removes what the setting `keep` does not keep, at the beginning of a run or when the user asks.

What somebody is still to be told of stays until then.
"""

import contextlib
from collections.abc import Callable
from typing import NamedTuple

from sanderling import clock
from sanderling.clock import DAY
from sanderling.errors import BadIndex, UsageError
from sanderling.repository import pruning
from sanderling.repository.folder import Folder
from sanderling.repository.pruning import PruningChoice
from sanderling.repository.store import PruningStore
from sanderling.retention import Keep, read_keep
from sanderling.settings import Settings

# A run removes what makes up at least this share of an archive, so that a large folder is not
# rewritten every day: one byte that leaves costs at most three that are copied.
WORTH_IT = 0.25
EVERY = DAY
_LOOKED = "pruned_at"
_ALL = 1 << 62


class ToldUntil(NamedTuple):
    """Up to which version everybody was told."""

    number: int
    waiting: list[str]  # who has not been told of the newest one


def keep_of(settings: Settings, rule: str = "") -> Callable[[str], Keep]:
    """How long the versions of a URL are kept. A `rule` wins over that of the folder."""
    whole = read_keep(rule or settings.keep)
    watched = {each.url: read_keep(each.keep) for each in settings.watch if each.keep}
    return lambda url: watched.get(url, whole)


def keeps_everything(settings: Settings) -> bool:
    rules = (settings.keep, *(each.keep for each in settings.watch))
    return all(read_keep(each).everything for each in rules)


def told(folder: Folder, settings: Settings, newest: int) -> ToldUntil:
    """Of which versions everybody was told who wants to be: webhooks, addresses and named
    readers."""
    from sanderling.telling import record  # late: most folders have nobody to tell
    from sanderling.telling.receivers import receivers

    reached = {}
    for receiver in receivers(folder, settings):
        kept = record.read(folder.webhooks, receiver.key)
        if kept is not None and not kept.disabled:
            reached[receiver.name] = kept.delivered
    for path in folder.readers.glob("*"):
        version = path.read_text().partition(".")[0]
        if version.isdecimal():
            reached[f"the reader {path.name}"] = int(version)
    return ToldUntil(min([newest, *reached.values()]), [name for name, number in reached.items() if number < newest])


def choose(folder: Folder, store: PruningStore, settings: Settings, rule: str = "") -> tuple[PruningChoice, ToldUntil]:
    try:
        keep = keep_of(settings, rule)
    except ValueError as error:
        raise UsageError(f"{rule!r}: {error}") from None
    reached = told(folder, settings, store.newest_version())
    return pruning.choose(folder, store, keep, clock.now(), reached.number), reached


def drop_what_is_forgotten(folder: Folder, store: PruningStore) -> None:
    """Ends the note of what the index has to forget, if it has done so or there is none."""
    from sanderling.search import location  # late: the index takes a moment to load

    if not pruning.forgotten(store).versions:
        return
    with contextlib.suppress(BadIndex):
        where = location.current(folder.index)
        index = location.open_index(where).searcher() if where is not None else None
        pruning.forget(store, location.progress_of(index, folder.index).forgotten if index is not None else _ALL)


def prune_now_and_then(folder: Folder, store: PruningStore, settings: Settings) -> list[str]:
    """Once a day, removes what is worth it; says what was done."""
    if keeps_everything(settings):
        return []
    now = clock.now()
    if 0 <= now - float(store.noted(_LOOKED) or 0) < EVERY:
        return []
    drop_what_is_forgotten(folder, store)
    choice = pruning.worthwhile(folder, choose(folder, store, settings)[0], WORTH_IT)
    store.note(_LOOKED, str(now))
    try:
        freed = pruning.prune(folder, store, choice)
    except OSError as error:  # most likely there is no room for the new archives
        return [f"versions that are not kept were not removed: {error.strerror}; `sanderling prune` goes on"]
    if not freed.versions:
        return []
    return [f"removed {freed.versions:,} versions that are not kept: {freed.bytes / 1e6:,.1f} MB of archives"]
