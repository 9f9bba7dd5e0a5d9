"""What the processes have in common that the server sends out for a result (`server/errand.py`)."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

from sanderling.cli.folders import reading
from sanderling.errors import SanderlingError
from sanderling.repository.folder import Folder
from sanderling.repository.store import Store

POLITENESS = 10  # the crawl itself goes first


def run(directory: str, work: Callable[[Folder, Store], object]) -> int:
    """Works on a folder that is being crawled; what goes wrong is the last line on standard error."""
    os.nice(POLITENESS)
    try:
        with reading(Path(directory)) as (folder, store):
            work(folder, store)
    except SanderlingError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0
