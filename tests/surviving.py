"""A run of the tests ends, whatever dies in it, and leaves no process behind.

Every process of the tests is a descendant of the first process of pytest, even if its parent died:
that process adopts orphans. It ends them when a worker dies and when the run ends.
"""

import contextlib
import ctypes
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from xdist.scheduler import LoadFileScheduling
from xdist.workermanage import WorkerController

# Longer than the longest test may take. Nothing was heard from any worker for so long.
SILENCE = 1000.0

_PR_SET_CHILD_SUBREAPER = 36


class Surviving:
    """The plugin of the process that hands tests to workers. It runs no test itself."""

    def __init__(self) -> None:
        self._heard = time.monotonic()
        self._before = set(_children(os.getpid()))
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        for sent in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(sent, self._stopped)
        threading.Thread(target=self._watch, daemon=True).start()

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: WorkerController, error: object) -> None:
        self.hear()
        if error is not None:
            end(pid for pid in _descendants(os.getpid()) if _worker_of(pid) == node.gateway.id)

    def pytest_runtest_logreport(self) -> None:
        self.hear()

    def pytest_runtest_logstart(self) -> None:
        self.hear()

    def hear(self) -> None:
        """Something goes on."""
        self._heard = time.monotonic()

    @pytest.hookimpl(trylast=True)
    def pytest_unconfigure(self) -> None:
        end_all(keep=self._before)

    def _stopped(self, sent: int, _: object) -> None:
        end_all(keep=self._before)
        os._exit(128 + sent)

    def _watch(self) -> None:
        """Nothing but workers and orphans are children of this process."""
        while time.monotonic() - self._heard < SILENCE:
            _reap()
            time.sleep(0.1)
        sys.__stderr__.write(f"\nno test ended for {SILENCE:.0f} s: the run is ended\n")
        end_all(keep=self._before)
        os._exit(3)


class SurvivingScheduling(LoadFileScheduling):
    """The tests of a file run in one worker. A test in which its worker died has failed: it does
    not run again, and a new worker runs the rest of its file. (With the scheduler of xdist 3.8, the
    run hangs or kills one worker after the other.)"""

    def remove_node(self, node: WorkerController) -> str | None:
        workload = self.assigned_work.pop(node)
        self.registered_collections.pop(node, None)
        # The collection counts as complete without the dead worker.
        self.numnodes = min(self.numnodes, max(1, len(self.registered_collections)))
        crashed = next((test for unit in workload.values() for test, done in unit.items() if not done), None)
        for scope, unit in workload.items():
            left = {test: False for test, done in unit.items() if not done and test != crashed}
            if left:
                self.workqueue[scope] = left
        for other in self.nodes:
            self._reschedule(other)
        return crashed

    def _reschedule(self, node: WorkerController) -> None:
        if node in self.registered_collections:  # a new worker is still collecting
            super()._reschedule(node)


def end_all(keep: set[int] | None = None) -> None:
    """Ends all descendants. What they started meanwhile follows. Only two looks without any are
    enough: a process whose parent ends during a look is not seen in it."""
    deadline, empty = time.monotonic() + 10.0, 0
    while empty < 2 and time.monotonic() < deadline:
        ended = end(pid for pid in _descendants(os.getpid()) if pid not in (keep or ()))
        empty = 0 if ended else empty + 1
        time.sleep(0.02)


def end(pids: Iterator[int]) -> int:
    count = 0
    for pid in list(pids):
        try:
            os.kill(pid, signal.SIGKILL)
            count += 1
        except ProcessLookupError:
            continue
    _reap()
    return count


def _reap() -> None:
    """Orphans that ended are gone only when their parent has waited for them."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _worker_of(pid: int) -> str:
    """The worker whose environment a process inherited."""
    try:
        entries = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return ""
    return dict(entry.partition(b"=")[::2] for entry in entries).get(b"PYTEST_XDIST_WORKER", b"").decode()


def _descendants(pid: int) -> list[int]:
    """Those that still run."""
    found, todo = [], [pid]
    children: dict[int, list[int]] = {}
    for each in _processes():
        children.setdefault(_parent(each), []).append(each)
    while todo:
        todo += (next_ := children.get(todo.pop(), []))
        found += [each for each in next_ if _state(each) not in ("Z", "")]
    return found


def _children(pid: int) -> list[int]:
    return [each for each in _processes() if _parent(each) == pid]


def _processes() -> list[int]:
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]


def _stat(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/stat").read_text("latin-1").rpartition(")")[2].split()
    except OSError:
        return ["", "0"]


def _state(pid: int) -> str:
    return _stat(pid)[0]


def _parent(pid: int) -> int:
    return int(_stat(pid)[1])
