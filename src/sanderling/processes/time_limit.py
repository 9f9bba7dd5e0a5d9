"""A limit for the time of a processor that code of others takes."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

# It rings again, because code that catches everything goes on after the first time.
_AGAIN = 1.0


class TookTooLong(TimeoutError):
    """Code of others took more time than it may."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raises TookTooLong in the block once it has used that many seconds of a processor. Only the
    main thread of a process can be interrupted; in others there is no limit."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(number: int, frame: FrameType | None) -> None:
        raise TookTooLong(f"it took more than {seconds:g} seconds")

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, seconds, _AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
