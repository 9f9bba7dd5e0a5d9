"""The clients that a server starts, wherever they run: on this machine (`processes/crew.py`) or on
others (`cluster/crew.py`)."""

from collections.abc import Callable, Sequence, Set
from typing import Protocol

from sanderling.model import MachineState


class Crew(Protocol):
    """Keeps the wanted number of clients alive."""

    on_notice: Callable[[str], None]

    @property
    def replaced(self) -> int:
        """How many died."""

    @property
    def machines(self) -> Sequence[MachineState]:
        """The machines of the cluster, if there is one."""

    def resize(self, size: int) -> None:
        """From now on, so many clients are wanted."""

    def fill(self) -> None:
        """Starts what is missing."""

    def pid(self, name: str) -> int:
        """The process of a client on this machine; 0 for others."""

    def is_stopped(self, name: str) -> bool:
        """Whether a client stands still, as after SIGSTOP; of others nothing is known."""

    def went_well(self, name: str) -> None:
        """A client brought something."""

    def died_silently(self) -> list[str]:
        """Clients that ended, whether or not they ever said hello."""

    def end(self, name: str) -> bool:
        """Ends a client that hangs. False when it is not dead yet: its line will be lost when it
        is."""

    def marked(self, name: str) -> int:
        """The page that a dead client was parsing; 0 for none."""

    def bury(self, name: str) -> None:
        """Makes sure that a client is dead, and forgets it."""

    def disband(self, patience: float, at_work: Set[str]) -> None:
        """Waits for clients at work to leave by themselves, and ends all others."""
