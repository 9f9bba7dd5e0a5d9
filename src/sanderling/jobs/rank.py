"""`python -m sanderling.jobs.rank DIR ORDER RESULT`: the process that scores queue and pages beside
a crawl.

With no order, `-`, only the pages.

Not a command for people: the server starts it and reads its result.
"""

import sys
from pathlib import Path

from sanderling.jobs.running import run
from sanderling.server.ranking.snapshot import rerank


def main(arguments: list[str]) -> int:
    directory, chosen, result = arguments
    return run(directory, lambda _, store: rerank(store, None if chosen == "-" else chosen, Path(result)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
