"""Waits for another thread or process, long enough for a busy machine and no longer than needed."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

# For what takes a second on an idle machine. Only a broken test waits this long.
PATIENCE = 120.0


def until(true: Callable[[], T]) -> T:
    """Returns the value of a condition as soon as it is true."""
    deadline = time.monotonic() + PATIENCE
    while not (found := true()):
        assert time.monotonic() < deadline, f"not within {PATIENCE:.0f} s"
        time.sleep(0.02)
    return found
