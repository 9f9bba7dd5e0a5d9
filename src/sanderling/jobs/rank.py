"""`python -m sanderling.jobs.rank DIR ORDER RESULT`: the process that scores queue and pages beside a crawl.

With no order, `-`, only the pages.

Not a command for people: the server starts it and reads its result.
"""

import sys
from pathlib import Path
from typing import get_args

from sanderling.jobs.running import run
from sanderling.server.snapshot import rerank
from sanderling.settings import Order


def main(arguments: list[str]) -> int:
    directory, chosen, result = arguments
    order: Order | None = next((each for each in get_args(Order) if each == chosen), None)
    return run(directory, lambda _, store: rerank(store, order, Path(result)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
