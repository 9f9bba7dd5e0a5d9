"""`sanderling recover`: pages and versions that only the archives know are taken back into the database."""

import argparse
import sys
import time
from contextlib import closing

from sanderling.cli.folders import add_folder
from sanderling.client.archive import Archive
from sanderling.client.reading import Reader
from sanderling.crawling.recovery import Recovered, recover
from sanderling.errors import BadFolder
from sanderling.jobs.client import LazyDetector, user_extractors
from sanderling.presenting.screen import NowAndThen, duration, many, size
from sanderling.repository.folder import Folder
from sanderling.repository.opening import reading, settings_for

_ABOUT = """Rebuilds the database of a crawl from its archives.

Use it when the database was lost (delete what is left of it first), or when an older one was
restored and the newer archives were set aside in `warc/orphaned/`. Every response in the archives
that the database does not know becomes a visit again: pages, versions, changes, links and new URLs.
Then the search index is made anew.

Responses that are older than what the database has stay where they are and are counted. Nothing is
deleted. A recovery that was interrupted goes on where it was.
"""


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser("recover", help="rebuild a lost database from the archives", description=_ABOUT)
    add_folder(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    folder, started = Folder(options.dir), time.monotonic()
    if not any(folder.warcs.rglob("*.warc.gz")):
        raise BadFolder(f"{folder.warcs} holds no archives")
    settings, seeds = settings_for(folder, {})
    with closing(LazyDetector(settings)) as detector:

        def read(archive: Archive) -> Reader:
            return Reader(settings, archive, lambda id: None, detector, user_extractors(settings, folder.path))

        progress = NowAndThen()
        found = recover(
            folder,
            settings,
            seeds,
            read,
            lambda done, whole: progress.say(f"recovering: {size(done)} of {size(whole)}"),
        )
    sys.stdout.write(_summary(found, time.monotonic() - started))
    if found.visits and settings.index:
        from sanderling.search.indexing import rebuild  # late: the index takes a moment to load

        with reading(options.dir) as (_, store):
            rebuild(folder, store)
    return 0


def _summary(found: Recovered, seconds: float) -> str:
    older = f"; {many(found.older, 'older visit')} left as they are" if found.older else ""
    if not found.visits:
        return f"nothing to take back: the database knows all that the archives hold{older}\n"
    return (
        f"{many(found.visits, 'visit')} from {many(found.archives, 'archive')} taken back, {duration(seconds)}: "
        f"{many(found.pages, 'page')}, {many(found.versions, 'version')}{older}\n"
    )
