"""The clients that a server starts, wherever they run: on this machine (`processes/crew.py`) or on
others (`cluster/crew.py`)."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from typing import Protocol

from msgspec.structs import replace

from sanderling.model import MachineState
from sanderling.server.members.switchboard import ClientLine


class Crew(Protocol):
    """Keeps the wanted number of clients alive."""

    on_message: Callable[[str], None]

    @property
    def replaced(self) -> int:
        """How many died."""

    @property
    def machines(self) -> Sequence[MachineState]:
        """The machines of the cluster, if there is one."""

    def resize(self, size: int) -> None:
        """From now on, `size` clients are wanted."""

    def fill(self) -> None:
        """Starts what is missing."""

    def pid(self, name: str) -> int:
        """The process of a client on this machine; 0 for others."""

    def is_stopped(self, name: str) -> bool:
        """Whether a client stands still, as after SIGSTOP; of others nothing is known."""

    def succeeded(self, name: str) -> None:
        """A client brought something."""

    def exited(self) -> list[str]:
        """Clients that ended, whether or not they ever said hello."""

    def end(self, name: str) -> bool:
        """Ends a client that hangs. False when it is not dead yet: its line will be lost when it
        is."""

    def marked(self, name: str) -> int:
        """The page that a dead client was parsing; 0 for none."""

    def reap(self, name: str) -> None:
        """Makes sure that a client is dead, and forgets it."""

    def disband(self, patience: float, at_work: Set[str]) -> None:
        """Waits for clients at work to leave by themselves, and ends all others."""


def reap_silent(crew: Crew, lines: Iterable[ClientLine]) -> None:
    """Gives up the members that ended before they said anything."""
    known = {line.client for line in lines}
    for name in crew.exited():
        if name not in known:
            crew.reap(name)


def with_holdings(
    machines: Iterable[MachineState], level: int, lines: Iterable[ClientLine], holdings: Mapping[str, int]
) -> list[MachineState]:
    """The machines of a cluster; those at our own level with what their clients hold."""
    held = Counter[str]()
    for line in lines:
        held[line.machine] += holdings.get(line.client, 0)
    return [replace(each, holds=held[each.name]) if each.level == level else each for each in machines]
