"""Waiting for what another thread or process does: as long as a busy machine takes, and no longer than needed."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

# For what takes a second on an idle machine. It costs nothing unless something is broken.
PATIENCE = 120.0


def until(true: Callable[[], T]) -> T:
    """What a condition says as soon as it says yes."""
    deadline = time.monotonic() + PATIENCE
    while not (found := true()):
        assert time.monotonic() < deadline, f"not within {PATIENCE:.0f} s"
        time.sleep(0.02)
    return found
