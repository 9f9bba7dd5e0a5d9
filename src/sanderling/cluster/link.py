"""The server's side of one machine."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from sanderling.cluster.engine import ClusterNode, Gone
from sanderling.cluster.landing import Landing
from sanderling.cluster.messages import Deliver, End, Order, Start, encode
from sanderling.server.switchboard import ClientLine


class RemoteMachine(Protocol):
    """Something that can be called as a `Machine`, wherever it runs."""

    def tell(self, number: int, batch: bytes) -> None: ...

    def hear(self, seen: int, on_reply: Callable[[bytes | Gone], None]) -> None: ...

    def kill(self) -> None: ...


class MachineLink:
    """Orders for a machine, and what is known of its clients."""

    def __init__(self, node: ClusterNode, machine: RemoteMachine, warcs: Path) -> None:
        self.node = node
        self._machine = machine
        self._warcs = warcs
        self._orders: list[Order] = []
        self._number = 0
        self.seen = 0  # the reply that was taken last
        self.opened = self.heard = time.monotonic()
        self.gone: Gone | None = None
        self.open = True
        self.away = False
        self.muted = False  # nothing that it says counts any more
        self.bodies = self.archived = self.sent = 0  # bytes: received by clients, of archives, and as they travelled
        self.greeted = False
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

    def start(self, client: str, place: str) -> None:
        """Has a client started. `place` is its stable name, for the hosts that belong to it."""
        self.expect(client, place)
        self._orders.append(Start(client))

    def expect(self, client: str, place: str = "") -> None:
        """Takes what a client says. What others say is ignored."""
        self.places[client] = place
        self.landings[client] = Landing(self._warcs, client)

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
            self._machine.tell(self._number, encode(self._orders))
            self._orders = []

    def hear(self, on_reply: Callable[[bytes | Gone], None]) -> None:
        self._machine.hear(self.seen, on_reply)

    def mute(self, why: str) -> None:
        """Listens no more. Its leases return after the time in which it must have ended its clients."""
        self.muted = True
        self.gone = Gone(certain=False, why=why)
        self._machine.kill()

    def close(self) -> None:
        """Gives the machine up."""
        self.open = False
        for client in list(self.landings):
            self.forget(client)
        self._machine.kill()
