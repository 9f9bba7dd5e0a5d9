"""The time of day. Tests of what takes weeks can move it: `SANDERLING_AHEAD` is added to the system
clock, in seconds."""

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
