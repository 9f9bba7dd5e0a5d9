"""`python -m sanderling.jobs.plan DIR TERMS RESULT`: the process that plans a refresh beside it.

Not a command for people: the server starts it and reads its result.
"""

import gc
import sys
from pathlib import Path

import msgspec

from sanderling import clock
from sanderling.clock import DAY
from sanderling.jobs.running import run
from sanderling.repository.folder import Folder
from sanderling.repository.opening import settings_for
from sanderling.repository.store import Store
from sanderling.server.revisits.planner import plan, read
from sanderling.server.revisits.schedule import write
from sanderling.server.revisits.terms import Terms


def main(arguments: list[str]) -> int:
    directory, terms, result = arguments

    gc.disable()  # millions of rows, no cycles, and it ends soon

    def work(folder: Folder, store: Store) -> None:
        now = clock.now() / DAY
        intervals = {host.id: host.interval for host in store.hosts()}
        settings, _ = settings_for(folder, {})
        write(Path(result), plan(read(store, now), msgspec.json.decode(terms, type=Terms), settings, intervals, now))

    return run(directory, work, waits=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
