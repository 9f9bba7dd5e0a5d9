"""Does work in a process of its own, and again without what ended it, until it is done."""

import contextlib
import ctypes
import os
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

from sanderling.processes.marker import Marker, marked

# Called with a function that takes the number of what is next, 0 for nothing dangerous, and with
# those to leave out.
Work = Callable[[Callable[[int], None], set[int]], int]

_PARENT_DEATH_SIGNAL = 1  # of prctl(2)


def run_apart(work: Work, marker: Path) -> int:
    """The exit code of `work`. What it had marked when a signal ended its process is left out of
    the next try.

    `marker` is a file that both processes use.
    """
    deadly: set[int] = set()
    while True:
        sys.stdout.flush()
        sys.stderr.flush()
        child = os.fork()
        if child == 0:
            _work_apart(work, marker, deadly)
        try:
            status = os.waitpid(child, 0)[1]
        except KeyboardInterrupt:  # the child has it, too
            os.waitpid(child, 0)
            raise
        code, suspect = os.waitstatus_to_exitcode(status), marked(marker)
        if code >= 0:
            return code
        if not suspect or suspect in deadly:
            return 128 - code  # as shells have it
        deadly.add(suspect)


def _work_apart(work: Work, marker: Path, deadly: set[int]) -> None:
    """The child's life."""
    code = 1
    try:
        with contextlib.suppress(OSError, AttributeError):  # other systems have no such call
            ctypes.CDLL(None).prctl(_PARENT_DEATH_SIGNAL, signal.SIGKILL)
        code = work(Marker(marker).write, deadly)
        sys.stdout.flush()
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)
