"""What the processes have in common that the server sends out for a result (`processes/job.py`)."""

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from sanderling.errors import SanderlingError, StoreAway, StoreLost
from sanderling.repository.folder import Folder
from sanderling.repository.opening import reading
from sanderling.repository.store import Store

POLITENESS = 10  # the crawl itself goes first
AGAIN_AFTER = 1.0  # seconds


def run(directory: str, work: Callable[[Folder, Store], object], waits: bool = False) -> int:
    """Works on a folder that is being crawled; what goes wrong is the last line on standard error.

    One that `waits` starts again when a database that went away is back, unless there is no reader
    left to hear of it."""
    os.nice(POLITENESS)
    sender, said = os.getppid(), ""
    while True:
        try:
            with reading(Path(directory)) as (folder, store):
                work(folder, store)
            return 0
        except SanderlingError as error:
            away = isinstance(error, StoreAway) and not isinstance(error, StoreLost)
            waits = waits and away and os.getppid() == sender
            if str(error) != said:  # read at the end only: what is said again and again would fill the pipe
                said = str(error)
                sys.stderr.write(f"{said}\n")
                sys.stderr.flush()
            if not waits:
                return 1
        time.sleep(AGAIN_AFTER)
