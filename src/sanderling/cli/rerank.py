"""`python -m sanderling.cli.rerank DIR ORDER RESULT`: the process that scores queue and pages beside a crawl.

With no order, `-`, only the pages.

Not a command for people: the server starts it and reads its result.
"""

import os
import sys
from pathlib import Path
from typing import get_args

from sanderling.cli.folders import reading
from sanderling.errors import SanderlingError
from sanderling.server.snapshot import rerank
from sanderling.settings import Order

POLITENESS = 10  # the crawl itself goes first


def main(arguments: list[str]) -> int:
    directory, chosen, result = arguments
    order: Order | None = next((each for each in get_args(Order) if each == chosen), None)
    os.nice(POLITENESS)
    try:
        with reading(Path(directory)) as (_, store):
            rerank(store, order, Path(result))
    except SanderlingError as error:
        sys.stderr.write(f"sanderling: {error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
