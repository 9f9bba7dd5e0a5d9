"""The server's side of ranking: when to score again, and how new ranks and importances come in a
few at a time.

The scoring itself is a short-lived process of its own (`snapshot` says what it does). Here nothing
waits for it, nothing is large, and nothing imports numpy.
"""

import struct
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple

import msgspec

from sanderling.files import write_whole
from sanderling.processes.job import Job
from sanderling.settings import is_scored

_RECORD = struct.Struct("<qd")

# Ranks from here on are no scores: what has them comes before all that is scored, and keeps them.
FRONT = 1e6

# How many are written at a time: ranks take 10 to 20 ms in which the server does nothing else,
# importances less.
BATCH = 1000
# The queue is scored again when the crawl has grown by this share since, but the process may take
# no more than this share of the time, and never starts this soon after the last one.
GROWTH = 0.1
ONE_SECOND_IN = 20.0
SHORTEST_PAUSE = 5.0
FEWEST_PAGES = 50


class RankResult(msgspec.Struct, frozen=True):
    """The first line of a result; the records follow it: ranks of queued URLs, then importances of
    pages."""

    moved: int
    weighed: int
    newcomers: list[float]
    cpu: float
    weights: list[float] = []  # of the parts of a link's score, if the order has any


class RankBatch(NamedTuple):
    """A few values to be written, by id."""

    ranks: list[tuple[int, float]]
    importances: list[tuple[int, float]]


NOTHING = RankBatch([], [])


def write(path: Path, head: RankResult, records: bytes) -> None:
    """A result under its name, complete or not at all."""
    write_whole(path, msgspec.json.encode(head), b"\n", records, sync=False)


def read(path: Path) -> tuple[RankResult, Iterator[RankBatch]]:
    """A result's head, and what it holds in steps of a bounded size."""
    with path.open("rb") as file:
        line = file.readline()
    head = msgspec.json.decode(line, type=RankResult)
    return head, _steps(path, len(line), head)


def _steps(path: Path, start: int, head: RankResult) -> Iterator[RankBatch]:
    with path.open("rb") as file:
        file.seek(start)
        for some in _batches(file, head.moved):
            yield RankBatch(some, [])
        for some in _batches(file, head.weighed):
            yield RankBatch([], some)


def _batches(file: IO[bytes], count: int) -> Iterator[list[tuple[int, float]]]:
    for start in range(0, count, BATCH):
        yield list(_RECORD.iter_unpack(file.read(_RECORD.size * min(BATCH, count - start))))


class Reranker:
    """Starts the job when it is due and hands out its result."""

    def __init__(self, order: str, command: list[str], result: Path) -> None:
        """`command` is completed with the path of the result; an order that needs no scores starts
        no job."""
        self._idle = not is_scored(order)
        self._job = Job(command, result)
        self._steps: Iterator[RankBatch] | None = None
        self._newcomers: list[float] = []
        self.weights: list[float] = []
        self._scored_at = 0  # how many pages there were
        self._not_before = time.monotonic() + SHORTEST_PAUSE

    def rank(self, depth: int) -> float:
        """The rank of a URL just found."""
        if not self._newcomers:
            return -float(depth)
        return self._newcomers[min(depth, len(self._newcomers) - 1)]

    def step(self, fetched: int) -> RankBatch:
        """To be called now and then: returns a few values to be written, mostly none."""
        if self._idle:
            return NOTHING
        if self._steps is not None:
            step = next(self._steps, NOTHING)
            if step is NOTHING:
                self._steps = None
            return step
        if self._job.out:
            self._look_after()
        elif time.monotonic() >= self._not_before and fetched >= max(FEWEST_PAGES, self._scored_at * (1 + GROWTH)):
            self._scored_at = fetched
            self._job.begin()
        return NOTHING

    def close(self) -> None:
        self._job.close()
        if self._steps is not None:
            self._steps.close()  # type: ignore[attr-defined]
            self._steps = None

    def _look_after(self) -> None:
        if not self._job.back():
            return
        self._not_before = time.monotonic() + SHORTEST_PAUSE
        if self._job.complaint:
            return
        head, self._steps = read(self._job.result)
        self._newcomers = head.newcomers
        self.weights = head.weights
        self._not_before = time.monotonic() + max(SHORTEST_PAUSE, head.cpu * ONE_SECOND_IN)
