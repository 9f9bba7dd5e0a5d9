"""The time of a crawl. Tests of what takes weeks move it: `SANDERLING_AHEAD` is by how many seconds it is ahead of the
machine's clock. Pauses between requests go by the machine's own.
"""

import os
import time

DAY = 86400.0  # seconds


def ahead() -> float:
    try:
        return float(os.environ.get("SANDERLING_AHEAD") or 0.0)
    except ValueError:
        return 0.0


def now() -> float:
    return time.time() + ahead()
