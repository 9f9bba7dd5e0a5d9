"""`python -m sanderling.cli.replan DIR TERMS RESULT`: the process that plans a refresh beside it.

Not a command for people: the server starts it and reads its result.
"""

import os
import sys
from pathlib import Path

import msgspec

from sanderling import clock
from sanderling.cli.folders import reading
from sanderling.errors import SanderlingError
from sanderling.settings import load
from sanderling.wiring.budget import DAY, Terms
from sanderling.wiring.planner import plan, read
from sanderling.wiring.turns import write

POLITENESS = 5  # the visits themselves go first


def main(arguments: list[str]) -> int:
    directory, terms, result = arguments
    os.nice(POLITENESS)
    try:
        with reading(Path(directory)) as (folder, store):
            now = clock.now() / DAY
            intervals = {host.id: host.interval for host in store.hosts()}
            settings = load(folder.settings)[0]
            made = plan(read(store, now), msgspec.json.decode(terms, type=Terms), settings, intervals, now)
        write(Path(result), made)
    except SanderlingError as error:
        sys.stderr.write(f"sanderling: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
