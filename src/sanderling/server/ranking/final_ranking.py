"""The last look at a crawl: how important each of its pages is, by all links that were found.

While a crawl runs, importances come with the ranks (`reranker.py`), but for a breadth-first
one and the newest pages. So it ends with one more round: a small crawl's in the server itself, a
large one's in a process that begins while the clients leave.
"""

import contextlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from sanderling.errors import StoreAway
from sanderling.model import Counts
from sanderling.processes import entry_points
from sanderling.processes.job import Job
from sanderling.repository.store import Notes, RankingStore, WeightStore
from sanderling.server.ranking.reranker import read

# Up to this many known URLs it takes a tenth of a second, less than a process takes to start.
FEW = 5_000
# When less than this share of the versions is new, the pages are about as important as they were.
NEW_SHARE = 0.01


class FinalRankingStore(RankingStore, WeightStore, Notes, Protocol):
    """What is ranked, and where the result goes."""


class FinalRanking:
    """Begins when a crawl ends, unless somebody had enough of it."""

    def __init__(self, store: FinalRankingStore, folder: Path, result: Path) -> None:
        self._store = store
        self._job = Job(entry_points.command("rank", folder, "-"), result)
        self._versions = 0  # the crawl had, when this began

    def begin(self, counts: Counts) -> None:
        if counts.versions <= int(self._store.noted("weighed") or 0) * (1 + NEW_SHARE):
            return
        self._versions = counts.versions
        if counts.known > FEW:
            self._job.begin()

    def finish(self, had_enough: Callable[[], bool]) -> None:
        if not self._versions:
            return
        if not self._job.out:
            from sanderling.server.ranking.snapshot import rerank

            rerank(self._store, None, self._job.result)
        while self._job.out and not self._job.back():
            if had_enough():
                return
            time.sleep(0.02)
        if self._job.complaint:
            return  # the next crawl of this folder tries again
        with contextlib.suppress(StoreAway):
            for step in read(self._job.result)[1]:
                self._store.weigh(step.importances)
            self._store.note("weighed", str(self._versions))

    def close(self) -> None:
        self._job.close()
