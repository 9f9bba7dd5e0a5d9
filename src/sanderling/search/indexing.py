"""Adds stored versions to the search index, in the order of their numbers. Their text comes from
the archive.

The index itself records how far it is, in the same commit as the pages. If this process is killed,
the next one continues from there and reads the versions again that were not committed.
"""

import contextlib
import logging
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path

import msgspec
import tantivy

from sanderling.errors import BadIndex, Damaged
from sanderling.model import ChangeKind, Forgotten, Searchable
from sanderling.network import names
from sanderling.repository import warc
from sanderling.repository.folder import Folder
from sanderling.repository.pruning import forgotten
from sanderling.repository.store import IndexStore
from sanderling.search import forgetting, location, searchable
from sanderling.search.fulltext import FullText, full_text
from sanderling.search.writing import HEAP, IndexProgress, Writer
from sanderling.settings import Settings, load

_log = logging.getLogger("sanderling")

BATCH = 200  # versions that are read from the store at a time
# Documents are unpacked up to this size, then all parsed, then all added. One page at a time takes
# a third longer, because each step finds its code and tables gone from the processor's caches.
UNPACKED_BYTES = 8_000_000
# Versions or seconds between two commits. A commit makes a new segment, and small segments are
# merged again later.
COMMIT_EVERY = 20_000
COMMIT_AFTER = 20.0
# A new version of a page changes the state of the version before it ("current" becomes "old" or
# "gone"). The last one may be a version without content, so that two are written again.
_REWRITTEN = 2

# Called with the number of versions that are done and of all versions. It may block. If it returns
# False, the work ends.
OnProgress = Callable[[int, int], bool]
Unpacked = tuple[Searchable, warc.Archived | None]


def catch_up(
    folder: Folder, store: IndexStore, on_progress: OnProgress = lambda done, all: True, heap: int = HEAP
) -> int:
    """Adds the missing versions to the index and returns how many they were. Makes the index if
    there is none.

    Raises IndexInUse if another process writes to the index.
    """
    where = location.current(folder.index)
    if where is None:
        with location.rebuilding(folder.index):
            where = location.create(folder.index)
            location.open_index(where, fresh=True)
            location.install(folder.index, where)
            location.clear(folder.index, where)
    index = location.open_index(where)
    progress, rules = checked(index.searcher(), folder, store), _rules(store)
    if progress.number and progress.rules != rules:
        return rebuild(folder, store, on_progress)  # with other rules, every version may have other kinds
    forget = forgetting.pending(store, progress)
    if forget is not None and forget.too_many:
        return rebuild(folder, store, on_progress)
    if forget is None and store.newest_version() <= progress.number:
        return 0
    with _writing(index, heap) as writer:
        index.reload()
        # Another process may have written to it until now.
        progress = msgspec.structs.replace(checked(index.searcher(), folder, store), rules=rules)

        def go_on(done: int, all: int) -> bool:
            return on_progress(done, all) and location.current(folder.index) == where

        if forget is not None:
            progress = _forget(writer, folder, store, progress, forget)
        done = _fill(writer, folder, store, progress, go_on, between=True)
    if location.current(folder.index) != where:
        location.discard(where)  # a new index replaced it
    elif forgetting.mostly_gone(where):
        rebuild(folder, store, on_progress)
    return done


def rebuild(
    folder: Folder, store: IndexStore, on_progress: OnProgress = lambda done, all: True,
    mark: Callable[[int], None] = lambda number: None, deadly: Collection[int] = (),
) -> int:  # fmt: skip
    """Makes a new index. Searches use the old one until the new one is complete.

    `mark` is called with the number of each version, below zero, before it is parsed. Those that
    are `deadly` are indexed by their addresses only.
    """
    with location.rebuilding(folder.index):
        with contextlib.suppress(BadIndex):
            location.clear(folder.index, location.current(folder.index))
        where = location.create(folder.index)
        with contextlib.ExitStack() as failed:
            failed.callback(location.discard, where)
            with _writing(location.open_index(where, fresh=True), HEAP) as writer:
                fresh = IndexProgress(rules=_rules(store), forgotten=forgotten(store).number)
                done = _fill(writer, folder, store, fresh, on_progress, between=False, mark=mark, deadly=deadly)
            location.install(folder.index, where)
            failed.pop_all()
        location.clear(folder.index, where)
    return done


def checked(searcher: tantivy.Searcher, folder: Folder, store: IndexStore) -> IndexProgress:
    """Returns how far the index is. Raises BadIndex if it is not the index of this crawl."""
    progress = location.progress_of(searcher, folder.index)
    if progress.number:
        there = searchable.after(store, progress.number - 1, 1)
        found = forgetting.pending(store, progress)
        left = found is not None and (found.too_many or progress.number in found.versions)
        if not left and (not there or there[0].number != progress.number or not _is_last(there[0], progress)):
            raise BadIndex(
                f"the index in {folder.index} belongs to another crawl or to a later state of this one: "
                f"`sanderling reindex {folder.path}` makes a new one from the archive"
            )
    return progress


def entries(folder: Folder, store: IndexStore) -> tuple[int, int]:
    """How many versions are in the index, and how many there can be at most; BadIndex when it is
    not of this crawl."""
    where = location.current(folder.index)
    if where is None:
        return 0, 0
    searcher = location.open_index(where).searcher()
    progress = checked(searcher, folder, store)
    stored = int(store.select("SELECT count(*) FROM versions WHERE number <= ?", progress.number)[0][0])
    if (left := forgetting.pending(store, progress)) is not None:
        stored = searcher.num_docs if left.too_many else stored + len(left.versions)
    return max(0, searcher.num_docs - 1), stored


@contextlib.contextmanager
def _writing(index: tantivy.Index, heap: int) -> Iterator[Writer]:
    writer = Writer(index, heap)
    try:
        yield writer
    finally:
        writer.close()


def _fill(
    writer: Writer, folder: Folder, store: IndexStore, progress: IndexProgress, on_progress: OnProgress, between: bool,
    mark: Callable[[int], None] = lambda number: None, deadly: Collection[int] = (),
) -> int:  # fmt: skip
    """Adds versions until there are no more, or `on_progress` returns False.

    With `between`, it also commits now and then before the end.
    """
    newest = store.newest_version()
    settings = load(folder.settings)[0] if folder.settings.exists() else Settings()
    called = names(settings)
    done, since_commit, committed_at, going = 0, 0, time.monotonic(), True
    while going and (rows := searchable.after(store, progress.number, BATCH)):
        for part in _unpacked(store, folder.warcs, (*_last_indexed(store, rows, progress.number), *rows)):
            texts = []
            for version, archived in part:
                mark(-version.number)
                texts.append(_text(version, archived if -version.number not in deadly else None, called))
            mark(0)
            for (version, _), text in zip(part, texts, strict=True):
                _put(writer, version, text, progress.number, settings.ignore_robots)
        progress = IndexProgress(
            number=rows[-1].number, place=_place(rows[-1]), seen=_seen(rows[-1]), rules=progress.rules
        )
        done += len(rows)
        since_commit += len(rows)
        going = on_progress(progress.number, max(newest, progress.number))
        if between and (since_commit >= COMMIT_EVERY or time.monotonic() - committed_at >= COMMIT_AFTER):
            writer.commit(progress)
            since_commit, committed_at = 0, time.monotonic()
    if since_commit or not done:
        writer.commit(progress)
    return done


def _forget(
    writer: Writer, folder: Folder, store: IndexStore, progress: IndexProgress, left: Forgotten
) -> IndexProgress:
    """Removes what is not kept any more; the next commit includes it."""
    settings = load(folder.settings)[0] if folder.settings.exists() else Settings()
    called = names(settings)
    for number in left.versions:
        writer.remove(number)
    for part in _unpacked(store, folder.warcs, forgetting.neighbours(store, left, progress.number)):
        for version, archived in part:
            _put(writer, version, _text(version, archived, called), progress.number, settings.ignore_robots)
    last = forgetting.last_before(store, progress.number)
    return msgspec.structs.replace(
        progress, forgotten=left.number, number=last.number if last else 0,
        place=_place(last) if last else "", seen=_seen(last) if last else "",
    )  # fmt: skip


def _last_indexed(store: IndexStore, rows: list[Searchable], indexed: int) -> Iterator[Searchable]:
    """The last indexed versions of pages that have new versions in `rows`."""
    for page in {row.page: None for row in rows if row.version > 1}:
        yield from searchable.before(store, page, indexed, _REWRITTEN)


def _unpacked(store: IndexStore, warcs: Path, versions: Iterable[Searchable]) -> Iterator[list[Unpacked]]:
    """Yields versions with their archived documents, in parts that fit in memory."""
    part: list[Unpacked] = []
    size = 0
    lost: set[str] = set()
    with contextlib.closing(warc.WarcReader(warcs)) as archive:
        for version in versions:
            if version.kinds & ChangeKind.GONE:
                continue  # it has no content; the version before it is marked as gone
            archived = None if version.noindex else _archived(store, archive, version, lost)
            part.append((version, archived))
            size += len(archived.body) if archived else 0
            if size >= UNPACKED_BYTES:
                yield part
                part, size = [], 0
    yield part


def _archived(store: IndexStore, archive: warc.WarcReader, version: Searchable, lost: set[str]) -> warc.Archived | None:
    """Reads a document. If a WARC file is damaged, it logs one warning for the file, not one for
    each page."""
    try:
        return archive.read(version.stored)
    except (Damaged, OSError) as error:
        now = searchable.after(store, version.number - 1, 1)
        if now and now[0].number == version.number and now[0].stored != version.stored:  # the archive was replaced
            return _archived(store, archive, now[0], lost)
        if version.stored.warc not in lost:
            lost.add(version.stored.warc)
            _log.warning(
                "%s is indexed by its address only, and so may be other pages of the same file: %s", version.url, error
            )
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
    writer.put(version, text, again)


def behind(store: IndexStore, progress: IndexProgress) -> int:
    """How many versions are not indexed. All of them count if they have to be indexed again."""
    indexed = progress.number if progress.rules == _rules(store) else 0
    return max(0, store.newest_version() - indexed)


def _rules(store: IndexStore) -> str:
    """The rules of change detection, when extractors were last run on stored pages, and the model
    that judged these."""
    return (store.noted("rules") or "[]") + store.noted("extracted") + store.noted("judged_by")


def _is_last(version: Searchable, progress: IndexProgress) -> bool:
    """Whether an index ends with this version."""
    return _place(version) == progress.place or _seen(version) == progress.seen


def _place(version: Searchable) -> str:
    return f"{version.stored.warc}:{version.stored.offset}"


def _seen(version: Searchable) -> str:
    return f"{version.at} {version.url}"
