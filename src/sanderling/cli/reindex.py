"""`sanderling reindex`: a new search index from the archive."""

import argparse
import sys
import time

from sanderling.cli.folders import add_folder
from sanderling.presenting.screen import NowAndThen, duration, many
from sanderling.repository.opening import reading
from sanderling.search.indexing import rebuild


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "reindex",
        description="Rebuilds the search index from the archive. Searches use the old index until the new one is complete.",
    )  # fmt: skip
    add_folder(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    started = time.monotonic()
    with reading(options.dir) as (folder, store):
        done = rebuild(folder, store, ReindexProgress())
    sys.stdout.write(f"{many(done, 'version')} indexed in {folder.index}, {duration(time.monotonic() - started)}\n")
    return 0


class ReindexProgress(NowAndThen):
    """Says how far the index is."""

    def __init__(self, what: str = "indexing") -> None:
        super().__init__()
        self._what = what

    def __call__(self, done: int, all: int) -> bool:
        self.say(f"{self._what}: {done:,} of {all:,} versions")
        return True
