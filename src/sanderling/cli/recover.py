"""`sanderling recover`: pages and versions that only the archives know are taken back into the
database."""

import argparse
import sys
import time
from collections.abc import Callable
from contextlib import closing

from sanderling.cli import guarded
from sanderling.cli.folders import add_folder
from sanderling.client.archive import Archive
from sanderling.client.reading import Reader
from sanderling.errors import BadFolder
from sanderling.jobs.client import LazyDetector, topic_judge, user_extractors
from sanderling.presenting.screen import NowAndThen, duration, harmless, many, say, size
from sanderling.processes.apart import run_apart
from sanderling.processes.scratch import scratch
from sanderling.repository.folder import Folder
from sanderling.repository.opening import reading, settings_for
from sanderling.repository.remote import adopt, archives_in
from sanderling.server.recovery import Recovered, recover
from sanderling.server.topic.topic import for_clients, topic_of

_ABOUT = """Rebuilds the database of a crawl from its archives.

Use it when the database was lost (delete what is left of it first), or when an older one was
restored and the newer archives were set aside in `warc/orphaned/`. Every response in the archives
that the database does not know becomes a visit again, with its version, changes, links and new
URLs. Then the search index is rebuilt.

Responses that are older than what the database has are counted, but not read back. Nothing is
deleted. An interrupted recovery continues where it was. A page that crashes a parser is left out
and named; then the exit code is 1. One that does so only when it is indexed is found by its address.
"""


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser("recover", description=_ABOUT)
    add_folder(parser)
    parser.add_argument("--archive", metavar="URL", help="also take back the archives there: s3://bucket/prefix")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    folder = Folder(options.dir)
    if options.archive:
        folder.warcs.mkdir(parents=True, exist_ok=True)
    elif not archives_in(folder.warcs) and not any(folder.warcs.rglob("*.warc.gz")):
        others = any(folder.warcs.rglob("*.warc")) or any(folder.warcs.rglob("*.warc.zst"))
        hint = f" of ours; `sanderling import {folder.warcs} -d FOLDER` takes in others" if others else ""
        raise BadFolder(f"{folder.warcs} holds no archives{hint}")
    return take_back(folder, "recovering", options.archive)


def take_back(folder: Folder, doing: str, archive: str | None = None) -> int:
    """Reads what the database does not know, in a process that may crash. Archives in object
    storage at `archive` are noted first."""

    def apart(mark: Callable[[int], None], deadly: set[int]) -> int:
        if archive:  # here, since a client of object storage does not survive a fork
            code = guarded(lambda: _adopt(folder, archive))
            if code:
                return code
        return guarded(lambda: _recover(folder, doing, mark, deadly))

    with scratch("recover") as place:
        return run_apart(apart, place / "marker")


def _adopt(folder: Folder, archive: str) -> int:
    found = adopt(folder.warcs, archive)
    if not archives_in(folder.warcs):
        raise BadFolder(f"{archive} holds no archives")
    say(f"{many(found, 'archive')} in {archive} that {folder.path} did not know")
    return 0


def _recover(folder: Folder, doing: str, mark: Callable[[int], None], deadly: set[int]) -> int:
    started = time.monotonic()
    settings, seeds = settings_for(folder, {})
    with closing(LazyDetector(settings)) as detector:

        def read(archive: Archive) -> Reader:
            extract, judge = (
                user_extractors(settings, folder.path),
                topic_judge(for_clients(topic_of(settings, folder))),
            )
            return Reader(settings, archive, lambda id: None, detector, extract, judge)

        progress = NowAndThen()
        found = recover(
            folder,
            settings,
            seeds,
            read,
            lambda done, whole: progress.say(f"{doing}: {size(done)} of {size(whole)}"),
            mark,
            deadly,
        )
    unindexed = [-number for number in deadly if number < 0]  # what ended the process that made the index
    if found.visits or not unindexed:
        sys.stdout.write(_summary(found, time.monotonic() - started))
        sys.stdout.flush()  # this process may be ended by a page that is indexed
    for url in found.unreadable:
        say(f"could not be read and was left out; the next visit fetches it again: {harmless(url)}")
    if (found.visits or unindexed) and settings.index:
        from sanderling.search import searchable
        from sanderling.search.indexing import rebuild  # late: the index takes a moment to load

        with reading(folder.path) as (_, store):
            rebuild(folder, store, mark=mark, deadly=deadly)
            for number in unindexed:
                for version in searchable.after(store, number - 1, 1):
                    say(f"crashes a parser, and is found by its address only: {harmless(version.url)}")
    return 1 if deadly or found.unreadable else 0


def _summary(found: Recovered, seconds: float) -> str:
    older = f"; {many(found.older, 'older visit')} left as they are" if found.older else ""
    if not found.visits:
        return f"nothing to take back: the database knows all that the archives hold{older}\n"
    return (
        f"{many(found.visits, 'visit')} from {many(found.archives, 'archive')} taken back, {duration(seconds)}: "
        f"{many(found.pages, 'page')}, {many(found.versions, 'version')}{older}\n"
    )
