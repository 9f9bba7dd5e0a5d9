"""Brings the search index up to what is stored: from the archive, in the order of the versions.

How far the index is stands in the index itself, written in the same commit as the pages. Whatever ends this process, the
next one goes on from there; what it had not committed is read again.
"""

import contextlib
import logging
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import msgspec
import tantivy

from sanderling.documents.fulltext import FullText, full_text
from sanderling.errors import BadIndex, Damaged
from sanderling.model import ChangeKind, Searchable
from sanderling.network import names
from sanderling.repository import searchable, warc
from sanderling.repository.folder import Folder
from sanderling.repository.store import Store
from sanderling.search import place
from sanderling.search.writing import HEAP, IndexProgress, Said, Writer
from sanderling.settings import Settings, load

_log = logging.getLogger("sanderling")

# Versions that are read from the store at a time, and that are committed at a time: a commit is a part of the index of
# its own, and parts are merged later, so that small ones cost twice.
BATCH = 200
# Of these, what is unpacked at a time: all are read, then all parsed, then all added. Page by page each of these steps
# would find its code and its tables gone from the processor's caches, which costs a third of a page's time.
UNPACKED = 8_000_000
COMMIT_EVERY = 20_000
COMMIT_AFTER = 20.0
# Of a page that changed, what its last versions are said to be changes: the one before, or before it left.
_REWRITTEN = 2

# Called with how many versions are done and how many there are; it may take its time, and False ends the work.
OnProgress = Callable[[int, int], bool]
Unpacked = tuple[Searchable, warc.Archived | None]


def catch_up(folder: Folder, store: Store, on_progress: OnProgress = lambda done, all: True, heap: int = HEAP) -> int:
    """Adds to the index what it does not have yet, all of it when there is none; returns how many versions.

    IndexInUse when another process is at it.
    """
    where = place.current(folder.index)
    if where is None:
        with place.rebuilding(folder.index):
            where = place.create(folder.index)
            place.open_index(where, fresh=True)
            place.install(folder.index, where)
            place.clear(folder.index, where)
    index = place.open_index(where)
    progress, rules = checked(index.searcher(), folder, store), _rules(store)
    if progress.number and progress.rules != rules:
        return rebuild(folder, store, on_progress)  # every version was judged anew
    if store.newest_version() <= progress.number:
        return 0
    with _writing(index, heap) as writer:
        index.reload()
        # Another process may have been at it until now.
        progress = msgspec.structs.replace(checked(index.searcher(), folder, store), rules=rules)

        def go_on(done: int, all: int) -> bool:
            return on_progress(done, all) and place.current(folder.index) == where

        done = _fill(writer, folder, store, progress, go_on, between=True)
    if place.current(folder.index) != where:
        place.discard(where)  # a new one took over
    return done


def rebuild(folder: Folder, store: Store, on_progress: OnProgress = lambda done, all: True) -> int:
    """Makes the index anew beside the old one, which serves until the new one takes over at once."""
    with place.rebuilding(folder.index):
        with contextlib.suppress(BadIndex):
            place.clear(folder.index, place.current(folder.index))
        where = place.create(folder.index)
        with contextlib.ExitStack() as failed:
            failed.callback(place.discard, where)
            with _writing(place.open_index(where, fresh=True), HEAP) as writer:
                done = _fill(writer, folder, store, IndexProgress(rules=_rules(store)), on_progress, between=False)
            place.install(folder.index, where)
            failed.pop_all()
        place.clear(folder.index, where)
    return done


def checked(searcher: tantivy.Searcher, folder: Folder, store: Store) -> IndexProgress:
    """How far the index is; BadIndex when it is not the index of this crawl."""
    progress = place.progress_of(searcher, folder.index)
    if progress.number:
        there = searchable.after(store, progress.number - 1, 1)
        if not there or there[0].number != progress.number or _place(there[0]) != progress.place:
            raise BadIndex(
                f"the index in {folder.index} is not of this crawl, or of a later state of it: "
                f"`sanderling reindex {folder.path}` makes it anew from the archive"
            )
    return progress


@contextlib.contextmanager
def _writing(index: tantivy.Index, heap: int) -> Iterator[Writer]:
    writer = Writer(index, heap)
    try:
        yield writer
    finally:
        writer.close()


def _fill(
    writer: Writer, folder: Folder, store: Store, progress: IndexProgress, on_progress: OnProgress, between: bool
) -> int:
    """Adds versions until there are no more, or nobody wants them; commits now and then in `between`."""
    newest = store.newest_version()
    settings = load(folder.settings)[0] if folder.settings.exists() else Settings()
    called = names(settings)
    done, since_commit, committed_at, going = 0, 0, time.monotonic(), True
    while going and (rows := searchable.after(store, progress.number, BATCH)):
        for part in _unpacked(folder.warcs, (*_outdated(store, rows, progress.number), *rows)):
            texts = [_text(version, archived, called) for version, archived in part]
            for (version, _), text in zip(part, texts, strict=True):
                _put(writer, version, text, progress.number, settings.ignore_robots)
        progress = IndexProgress(number=rows[-1].number, place=_place(rows[-1]), rules=progress.rules)
        done += len(rows)
        since_commit += len(rows)
        going = on_progress(progress.number, max(newest, progress.number))
        if between and (since_commit >= COMMIT_EVERY or time.monotonic() - committed_at >= COMMIT_AFTER):
            writer.commit(progress)
            since_commit, committed_at = 0, time.monotonic()
    if since_commit or not done:
        writer.commit(progress)
    return done


def _outdated(store: Store, rows: list[Searchable], indexed: int) -> Iterator[Searchable]:
    """Versions in the index that are the last ones of their pages no longer."""
    for page in {row.page: None for row in rows if row.version > 1}:
        yield from searchable.before(store, page, indexed, _REWRITTEN)


def _unpacked(warcs: Path, versions: Iterable[Searchable]) -> Iterator[list[Unpacked]]:
    """Versions that say something, with their documents, as many at a time as memory is meant to hold."""
    part: list[Unpacked] = []
    size = 0
    lost: set[str] = set()
    with contextlib.closing(warc.WarcReader(warcs)) as archive:
        for version in versions:
            if version.kinds & ChangeKind.GONE:
                continue  # the page's last words say that it is gone
            archived = None if version.noindex else _archived(archive, version, lost)
            part.append((version, archived))
            size += len(archived.body) if archived else 0
            if size >= UNPACKED:
                yield part
                part, size = [], 0
    yield part


def _archived(archive: warc.WarcReader, version: Searchable, lost: set[str]) -> warc.Archived | None:
    """Complains of a file once, however many pages are lost with it."""
    try:
        return archive.read(version.stored)
    except (Damaged, OSError) as error:
        if version.stored.warc not in lost:
            lost.add(version.stored.warc)
            _log.warning("%s is found by its address only, as may be others of that file: %s", version.url, error)
        return None


def _text(version: Searchable, archived: warc.Archived | None, called: frozenset[str]) -> FullText:
    if archived is None:
        return FullText(noindex=bool(version.noindex))
    return full_text(version.url, archived.body, archived.headers, called if version.noindex is None else None)


def _put(writer: Writer, version: Searchable, text: FullText, indexed: int, shows_all: bool) -> None:
    again = version.number <= indexed
    if text.noindex and not shows_all:
        if again:
            writer.remove(version.number)
        return
    writer.put(version, Said(text.title, text.headings, text.text, text.language), again)


def _rules(store: Store) -> str:
    return store.noted("rules") or "[]"


def _place(version: Searchable) -> str:
    return f"{version.stored.warc}:{version.stored.offset}"
