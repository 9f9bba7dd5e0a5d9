"""Keeps the wanted number of client processes alive."""

import subprocess
import sys
import time
from pathlib import Path

from sanderling.errors import RunFailed

# That many deaths in a row without a single report between them are no accident.
HOPELESS = 6


class Crew:
    """The client processes that this server started."""

    def __init__(self, size: int, socket: Path) -> None:
        # Ctrl-C in a terminal goes to every process; clients wait for the server's word, from their first moment on.
        deaf = ["/bin/sh", "-c", 'trap "" INT; exec "$0" "$@"']
        self._command = [*deaf, sys.executable, "-m", "sanderling.wiring.client", str(socket)]
        self._members: dict[int, subprocess.Popen[bytes]] = {}
        self._size = size
        self._deaths_in_a_row = 0
        self.replaced = 0

    def fill(self) -> None:
        """Starts what is missing."""
        while len(self._members) < self._size:
            member = subprocess.Popen(self._command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
            self._members[member.pid] = member

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
        self.replaced += 1
        self._deaths_in_a_row += 1
        if self._deaths_in_a_row >= HOPELESS:
            raise RunFailed(
                f"{HOPELESS} client processes in a row ended at once (the last with code {member.returncode})"
            )

    def disband(self, patience: float) -> None:
        """Waits for members to leave by themselves, then ends those that do not."""
        deadline = time.monotonic() + patience
        for member in self._members.values():
            try:
                member.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                member.kill()
                member.wait()
        self._members.clear()
