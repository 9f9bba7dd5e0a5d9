"""The server's side of one machine."""

import time
from collections.abc import Callable
from typing import NamedTuple, Protocol

from sanderling.cluster.engine import ClusterNode, Gone
from sanderling.cluster.landing import Landing
from sanderling.cluster.messages import Charge, Deliver, End, Entrust, Order, Start, encode
from sanderling.model import MachineState
from sanderling.server.members.switchboard import ClientLine


class RemoteMachine(Protocol):
    """Something that can be called as a `Machine`, wherever it runs."""

    def tell(self, number: int, batch: bytes) -> None: ...

    def hear(self, seen: int, on_reply: Callable[[bytes | Gone], None]) -> None: ...

    def kill(self) -> None: ...

    @property
    def direct(self) -> bool:
        """Whether calls travel on a direct line now."""


class Waits(NamedTuple):
    """How long a machine may be silent until its leases are given to others."""

    reached: float  # it cannot be reached
    dead: float = 0.0  # its process is known to be dead; machines below it may go on
    relay: bool = False


class MachineLink:
    """Orders for a machine, and what is known of its clients."""

    def __init__(
        self, node: ClusterNode, machine: RemoteMachine, landing: Callable[[str], Landing], waits: Waits
    ) -> None:
        """`landing` takes the archives of a client."""
        self.node = node
        self.waits = waits
        self._machine = machine
        self._landing = landing
        self._orders: list[Order] = []
        self._number = 0
        self.seen = 0  # the reply that was taken last
        self.opened = self.heard = time.monotonic()
        self.gone: Gone | None = None
        self.gone_at = 0.0
        self.open = True
        self.away = False
        self.muted = False  # nothing that it says counts any more
        self.bodies = self.archived = self.sent = 0  # bytes: received by clients, of archives, and as they travelled
        self.up = self.down = 0  # bytes of all messages
        self.greeted = False
        self.below: list[MachineState] = []  # as the relay there says
        self.charge: Charge | None = None  # of the relay there
        self.lines: dict[str, ClientLine] = {}
        self.landings: dict[str, Landing] = {}
        self.places: dict[str, str] = {}

    @property
    def name(self) -> str:
        return self.node.name

    @property
    def traffic(self) -> tuple[int, int, int]:
        """Received by its clients, of archives, and as they travelled."""
        return self.bodies, self.archived, self.sent

    @property
    def direct(self) -> bool:
        return self._machine.direct

    def start(self, client: str, place: str) -> None:
        """Has a client started. `place` is its stable name, for the hosts that belong to it."""
        self.expect(client, place)
        self._orders.append(Start(client, self.charge))

    def entrust(self, client: str, charge: Charge) -> None:
        """Gives the relay there other machines or clients."""
        if charge != self.charge:
            self.charge = charge
            self._orders.append(Entrust(client, charge))
            if client in self.lines:
                self.lines[client].clients = charge.clients

    def expect(self, client: str, place: str = "") -> None:
        """Takes what a client says. What others say is ignored."""
        self.places[client] = place
        self.landings[client] = self._landing(client)

    def deliver(self, client: str, frame: bytes) -> None:
        self._orders.append(Deliver(client, frame))

    def end(self, client: str) -> None:
        self._orders.append(End(client))

    def forget(self, client: str) -> None:
        """A client is dead: nothing of it is written any more."""
        self.lines.pop(client, None)
        self.places.pop(client, None)
        if (landing := self.landings.pop(client, None)) is not None:
            landing.close()

    def flush(self) -> None:
        """Sends the orders."""
        if self._orders:
            self._number += 1
            batch = encode(self._orders)
            self.down += len(batch)
            self._machine.tell(self._number, batch)
            self._orders = []

    def hear(self, on_reply: Callable[[bytes | Gone], None]) -> None:
        self._machine.hear(self.seen, on_reply)

    def mute(self, why: str) -> None:
        """Listens no more. Its leases return after the time in which it must have ended its
        clients."""
        self.muted = True
        self.gone = Gone(certain=False, why=why)
        self._machine.kill()

    def close(self) -> None:
        """Gives the machine up."""
        self.open = False
        for client in list(self.landings):
            self.forget(client)
        self._machine.kill()
