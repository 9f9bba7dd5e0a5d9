"""How the server talks with its clients, and with whoever asks how the crawl is doing."""

from collections.abc import Collection
from typing import Protocol

from sanderling.clock import RemoteClock
from sanderling.model import LiveAnswer, ToClient, ToServer


class ClientLine:
    """One line, and what the server keeps about its other end."""

    def __init__(self) -> None:
        self.client = ""  # its name; somebody who only asks has none
        self.machine = ""  # the machine of a cluster that it runs on
        self.place = ""  # a name that the client of the next run has, too; empty for none
        self.clients = 1  # how many clients a relay stands for
        self.away = False  # its machine is out of reach, and may come back
        self.clock = RemoteClock()
        self.heard = 0.0
        self.visits = 0


class Switchboard(Protocol):
    """All lines of one server. It never blocks on a client, and reads one while it waits for
    another."""

    @property
    def lines(self) -> Collection[ClientLine]: ...

    def poll(self, timeout: float) -> tuple[list[tuple[ClientLine, ToServer]], list[ClientLine]]:
        """What has arrived, and the lines that are lost. A line on which nonsense arrives is lost,
        too."""

    def send(self, line: ClientLine, message: ToClient | LiveAnswer) -> None: ...

    def drop(self, line: ClientLine) -> None: ...

    def close(self) -> None: ...
