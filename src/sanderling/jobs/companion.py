"""What processes have in common that run as long as a crawl does (`processes/companion.py`)."""

import os
import signal
import sys
import threading

import msgspec

from sanderling.jobs.running import POLITENESS
from sanderling.settings import Settings


def begin() -> tuple[Settings, threading.Event]:
    """Reads the settings from standard input. The event is set when that ends, which is when the
    crawl does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the crawl, which ends us
    os.nice(POLITENESS)
    settings = msgspec.json.decode(sys.stdin.buffer.readline(), type=Settings)
    ended = threading.Event()

    def wait_for_the_end() -> None:
        # Not through the buffer: a process that ends by itself would crash on its lock.
        while os.read(sys.stdin.fileno(), 4096):
            pass
        ended.set()

    threading.Thread(target=wait_for_the_end, daemon=True).start()
    return settings, ended
