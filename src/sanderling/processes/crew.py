"""Keeps the wanted number of client processes alive. The crew gives each of them its name."""

import os
import time
from collections.abc import Callable, Set
from pathlib import Path

from sanderling.errors import DiskFails, DiskFull, RunFailed
from sanderling.processes.child import Child
from sanderling.processes.marker import marked, marker_path

# That many deaths in a row without a single report between them are no accident, when each came
# before a member had lived this many seconds: those that hang, or were stopped with the terminal,
# did not end at once.
HOPELESS = 6
AT_ONCE = 30.0
# The code of a client that could not write its pages.
NO_ROOM = 28
# Of one that could not write for another reason: the disk fails, or may only be read.
UNWRITABLE = 5
# Ctrl-C in a terminal goes to every process; clients wait for the server's word, from their first
# moment on.
_DEAF = ["/bin/sh", "-c", 'trap "" INT; exec "$0" "$@"']


def new_name() -> str:
    """A name for a client. All are of one length, so that no file of one looks like a file of
    another."""
    return os.urandom(6).hex()


class LocalCrew:
    """The client processes that this server started."""

    def __init__(self, size: int, command: Callable[[str], list[str]], markers: Path) -> None:
        """`command` is how a client of a given name is started, and `markers` is where it marks
        what it parses."""
        self._markers = markers
        self._command = command
        self._members: dict[str, Child] = {}
        self._started: dict[str, float] = {}
        self._size = size
        self._deaths_in_a_row = 0
        self.replaced = 0
        self.on_message: Callable[[str], None] = lambda text: None
        self.machines: tuple[()] = ()  # there is only this one

    def fill(self) -> None:
        """Starts what is missing."""
        while len(self._members) < self._size:
            name = new_name()
            self._members[name] = Child([*_DEAF, *self._command(name)], complains=False)
            self._started[name] = time.monotonic()

    def resize(self, size: int) -> None:
        """More are started; members that are too many stay, as they cost little."""
        self._size = size

    def pid(self, name: str) -> int:
        """The process of a client; 0 when it is none of ours."""
        return self._members[name].pid if name in self._members else 0

    def is_stopped(self, name: str) -> bool:
        """Whether a member stands still, as after SIGSTOP; of others nothing is known."""
        return name in self._members and self._members[name].stopped

    def succeeded(self, name: str) -> None:
        """A member brought something."""
        self._deaths_in_a_row = 0

    def exited(self) -> list[str]:
        """Members that ended, whether or not they ever said hello."""
        return [name for name, member in self._members.items() if member.code is not None]

    def end(self, name: str) -> bool:
        """Ends a member that hangs; True because it is certain that it is dead then."""
        if name in self._members:
            self._members[name].kill()
        return True

    def marked(self, name: str) -> int:
        """The page that a dead member was parsing; 0 for none."""
        return marked(marker_path(self._markers, name))

    def reap(self, name: str) -> None:
        """Makes sure that a member is dead, so that its files have no other writer, and forgets
        it."""
        member = self._members.pop(name, None)
        if member is None:
            return
        member.close()
        if member.code == NO_ROOM:
            raise DiskFull("no room left for the archive: nothing committed is lost; free some space and run it again")
        if member.code == UNWRITABLE:
            raise DiskFails("the archive cannot be written: nothing committed is lost; look after the disk")
        self.replaced += 1
        lived = time.monotonic() - self._started.pop(name)
        self._deaths_in_a_row = self._deaths_in_a_row + 1 if lived < AT_ONCE else 0
        if self._deaths_in_a_row >= HOPELESS:
            raise RunFailed(f"{HOPELESS} client processes in a row ended at once (the last with code {member.code})")

    def disband(self, patience: float, at_work: Set[str]) -> None:
        """Waits for members at work to leave by themselves, then ends those that do not. Others
        have nothing to finish."""
        deadline = time.monotonic() + patience
        for name in self._members.keys() - at_work:
            self._members[name].kill()
        for member in self._members.values():
            member.end(max(0.0, deadline - time.monotonic()))
        self._members.clear()
