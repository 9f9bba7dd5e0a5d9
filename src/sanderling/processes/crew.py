"""Keeps the wanted number of client processes alive."""

import subprocess
import time
from collections.abc import Set
from pathlib import Path

from sanderling.errors import DiskFull, RunFailed
from sanderling.processes import entry_points

# That many deaths in a row without a single report between them are no accident, when each came before a member had
# lived for so many seconds: those that hang, or were stopped with the terminal, did not end at once.
HOPELESS = 6
AT_ONCE = 30.0
# The code of a client that could not write its pages.
NO_ROOM = 28


class Crew:
    """The client processes that this server started."""

    def __init__(self, size: int, socket: Path) -> None:
        # Ctrl-C in a terminal goes to every process; clients wait for the server's word, from their first moment on.
        deaf = ["/bin/sh", "-c", 'trap "" INT; exec "$0" "$@"']
        self._command = [*deaf, *entry_points.command("client", socket)]
        self._members: dict[int, subprocess.Popen[bytes]] = {}
        self._started: dict[int, float] = {}
        self._size = size
        self._deaths_in_a_row = 0
        self.replaced = 0

    def fill(self) -> None:
        """Starts what is missing."""
        while len(self._members) < self._size:
            member = subprocess.Popen(self._command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
            self._members[member.pid] = member
            self._started[member.pid] = time.monotonic()

    def went_well(self) -> None:
        self._deaths_in_a_row = 0

    def died_silently(self) -> list[int]:
        """Members that ended, whether or not they ever said hello."""
        return [pid for pid, member in self._members.items() if member.poll() is not None]

    def bury(self, pid: int) -> None:
        """Makes sure that a member is dead, so that nobody else writes to its files, and forgets it."""
        member = self._members.pop(pid, None)
        if member is None:
            return
        member.kill()
        member.wait()
        if member.returncode == NO_ROOM:
            raise DiskFull("no room left for the archive: nothing committed is lost; free some space and run it again")
        self.replaced += 1
        lived = time.monotonic() - self._started.pop(pid)
        self._deaths_in_a_row = self._deaths_in_a_row + 1 if lived < AT_ONCE else 0
        if self._deaths_in_a_row >= HOPELESS:
            raise RunFailed(
                f"{HOPELESS} client processes in a row ended at once (the last with code {member.returncode})"
            )

    def disband(self, patience: float, at_work: Set[int]) -> None:
        """Waits for members at work to leave by themselves, then ends those that do not. Others have nothing to finish."""
        deadline = time.monotonic() + patience
        for pid in self._members.keys() - at_work:
            self._members[pid].kill()
        for member in self._members.values():
            try:
                member.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                member.kill()
                member.wait()
        self._members.clear()
