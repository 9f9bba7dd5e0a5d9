"""The server's side of ranking: when to score the queue anew, and how new ranks come in a few at a time.

The scoring itself is a short-lived process of its own (`snapshot` says what it does). Here nothing waits for it,
nothing is large, and nothing imports numpy.
"""

import struct
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import msgspec

_RECORD = struct.Struct("<qd")

# So many ranks are written at a time: 10 to 20 ms in which the server does nothing else.
BATCH = 1000
# The queue is scored again when the crawl has grown by this share since, but the process may take no more than one
# in so many seconds, and never comes so soon after the last one.
GROWTH = 0.1
ONE_SECOND_IN = 20.0
SHORTEST_PAUSE = 5.0
FEWEST_PAGES = 50


class Result(msgspec.Struct, frozen=True):
    """The first line of a result; the records follow it."""

    order: str
    queued: int
    moved: int
    links: int
    newcomers: list[float]
    seconds: float
    cpu: float


def write(path: Path, head: Result, records: bytes) -> None:
    """A result under its name, complete or not at all."""
    part = path.with_name(path.name + ".part")
    with part.open("wb") as file:
        file.write(msgspec.json.encode(head) + b"\n")
        file.write(records)
    part.replace(path)


def read(path: Path) -> tuple[Result, Iterator[list[tuple[int, float]]]]:
    """A result's head, and its (id, rank) pairs in batches of a bounded size."""
    file = path.open("rb")
    head = msgspec.json.decode(file.readline(), type=Result)
    return head, _batches(file)


def _batches(file: IO[bytes]) -> Iterator[list[tuple[int, float]]]:
    with file:
        while chunk := file.read(_RECORD.size * BATCH):
            yield list(_RECORD.iter_unpack(chunk))


class Reranker:
    """Starts the job when it is due and hands out its result."""

    def __init__(self, order: str, command: list[str], result: Path) -> None:
        """`command` is completed with the path of the result; `breadth-first` needs no job and starts none."""
        self._idle = order == "breadth-first"
        self._command = [*command, str(result)]
        self._result = result
        self._job: subprocess.Popen[bytes] | None = None
        self._batches: Iterator[list[tuple[int, float]]] | None = None
        self._newcomers: list[float] = []
        self._scored_at = 0  # how many pages there were
        self._not_before = time.monotonic() + SHORTEST_PAUSE
        self.last: Result | None = None
        self.complaint = ""  # why the last job brought nothing

    def rank(self, depth: int) -> float:
        """The rank of a URL just found."""
        if not self._newcomers:
            return -float(depth)
        return self._newcomers[min(depth, len(self._newcomers) - 1)]

    def step(self, fetched: int) -> list[tuple[int, float]]:
        """To be called now and then: returns a few (id, rank) to be written, mostly none."""
        if self._idle:
            return []
        if self._batches is not None:
            batch = next(self._batches, [])
            if not batch:
                self._batches = None
            return batch
        if self._job is not None:
            self._look_after(self._job)
        elif time.monotonic() >= self._not_before and fetched >= max(FEWEST_PAGES, self._scored_at * (1 + GROWTH)):
            self._scored_at = fetched
            self._result.unlink(missing_ok=True)
            self._job = subprocess.Popen(
                self._command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
            )
        return []

    def close(self) -> None:
        """Ends a job that is still running; its result is worth nothing to anybody else."""
        if self._job is not None:
            self._job.kill()
            self._job.communicate()
            self._job = None
        if self._batches is not None:
            self._batches.close()  # type: ignore[attr-defined]
            self._batches = None

    def _look_after(self, job: subprocess.Popen[bytes]) -> None:
        if job.poll() is None:
            return
        _, errors = job.communicate()
        self._job = None
        self._not_before = time.monotonic() + SHORTEST_PAUSE
        if job.returncode != 0:
            self.complaint = errors.decode(errors="replace").strip().rpartition("\n")[2] or f"code {job.returncode}"
            return
        self.complaint = ""
        self.last, self._batches = read(self._result)
        self._newcomers = self.last.newcomers
        self._not_before = time.monotonic() + max(SHORTEST_PAUSE, self.last.cpu * ONE_SECOND_IN)
