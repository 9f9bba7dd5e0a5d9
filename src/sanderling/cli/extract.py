"""`sanderling extract`: runs the extractors of a crawl on the pages that are already stored."""

import argparse
import contextlib
import sys
import time
from collections.abc import Iterator

from sanderling.cli.folders import add_folder
from sanderling.documents.extracting import Extracted, Extractor, extract, load
from sanderling.errors import Damaged, UsageError
from sanderling.model import ChangeKind, VersionRow
from sanderling.presenting.screen import duration, many, say
from sanderling.repository import views, warc
from sanderling.repository.archive import page_in
from sanderling.repository.folder import Folder, hold
from sanderling.repository.opening import open_store, settings_for
from sanderling.repository.store import ExtractedStore
from sanderling.server.extractors import ExtractorFailures, note_keys

_ABOUT = """Runs the extractors in sanderling.toml on the newest version of every stored page.

Replaces the data that is stored with these versions. Nothing is fetched. The next search updates
the search index.
"""
_BATCH = 200


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser("extract", description=_ABOUT)
    add_folder(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    started = time.monotonic()
    folder = Folder(options.dir)
    folder.require()
    settings, _ = settings_for(folder, {})
    if not settings.extractors:
        raise UsageError(f'{folder.settings} names no extractors, such as extractors = ["file.py:function"]')
    extractors = load(settings.extractors, folder.path)
    with hold(folder), contextlib.closing(open_store(folder, readonly=False)) as store:
        try:
            note_keys(extractors, store)
            pages, found = _extract_all(folder, store, extractors)
        finally:
            store.note("extracted", str(time.time()))  # a new index is made when this differs
    sys.stdout.write(f"data of {found:,} of {many(pages, 'page')} stored, {duration(time.monotonic() - started)}\n")
    return 0


def _extract_all(folder: Folder, store: ExtractedStore, extractors: list[Extractor]) -> tuple[int, int]:
    """Returns the number of pages, and of those with data."""
    pages = found = last = 0
    failures = ExtractorFailures()
    while rows := views.newest_versions(store, last, _BATCH):
        made = [*_extracted(folder, rows, extractors)]
        for message in failures.new((row.url, result.failed) for row, result in made):
            say(message)
        store.put_extracted([(row.number, _with_topics(row, result.data)) for row, result in made])
        pages += len(made)
        found += sum(bool(result.data) for _, result in made)
        last = rows[-1].number
    return pages, found


def _with_topics(row: VersionRow, data: bytes) -> str | None:
    """The data with what a crawl of several topics has said of the page."""
    if by_topic := (row.extracted or {}).get("topics"):
        from sanderling.topics.judging import with_topics

        data = with_topics(data, by_topic)
    return data.decode() or None


def _extracted(
    folder: Folder, rows: list[VersionRow], extractors: list[Extractor]
) -> Iterator[tuple[VersionRow, Extracted]]:
    with contextlib.closing(warc.WarcReader(folder.warcs)) as archive:
        for row in rows:
            if row.kinds & ChangeKind.GONE:
                continue
            try:
                page = page_in(archive.read(row.stored))
            except (Damaged, OSError) as error:
                say(f"{row.url} is left out: {error}")
                continue
            yield row, extract(extractors, page)
