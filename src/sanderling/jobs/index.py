"""`python -m sanderling.jobs.index DIR`: the process that keeps the search index up beside a crawl.

Not a command for people: the server starts it, and it ends with its standard input. It takes at
most a tenth of a core, so that the crawl never feels it: a polite crawl is followed within seconds,
and what a fast one leaves behind is indexed by the next search.
"""

import contextlib
import logging
import os
import select
import signal
import sys
import time
from pathlib import Path

from sanderling.errors import IndexInUse, SanderlingError
from sanderling.processes.memory_limit import limit_memory
from sanderling.repository.opening import reading
from sanderling.search.indexing import catch_up

POLITENESS = 10  # the crawl itself goes first
SHARE = 0.1  # of one core
# CPU seconds that may be saved up while there is nothing to do.
SAVED = 1.0
LOOK_EVERY = 5.0
SMALL_HEAP = 20_000_000


class IndexPace:
    """Keeps the CPU time of this process to its share of the time that passes."""

    def __init__(self) -> None:
        self._at = time.monotonic()
        self._spent = 0.0
        self._credit = SAVED

    def debt(self) -> float:
        """How long to pause now."""
        at, spent = time.monotonic(), time.process_time()
        self._credit = min(SAVED, self._credit + SHARE * (at - self._at)) - (spent - self._spent)
        self._at, self._spent = at, spent
        return max(0.0, -self._credit / SHARE)


def main(arguments: list[str]) -> int:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server is told, and we hear of it
    logging.disable()  # it is not read here
    os.nice(POLITENESS)
    limit_memory()
    pace = IndexPace()

    def go_on(done: int, all: int) -> bool:
        return not _dismissed(pace.debt())

    try:
        with reading(Path(arguments[0])) as (folder, store):
            ended = False
            while not ended:
                with contextlib.suppress(IndexInUse):  # whoever is at it does our work
                    catch_up(folder, store, go_on, SMALL_HEAP)
                ended = _dismissed(max(LOOK_EVERY, pace.debt()))
    except SanderlingError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def _dismissed(wait: float) -> bool:
    """Waits; at once True when the server has closed our standard input, or is no more."""
    return bool(select.select([sys.stdin], [], [], wait)[0])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
