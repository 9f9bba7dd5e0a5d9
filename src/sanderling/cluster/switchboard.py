"""The lines to clients on other machines: a `Switchboard` whose messages travel on direct lines to
the machines, or through the engine."""

import contextlib
import errno
import os
import select
import socket
import threading
import time
from collections.abc import Callable, Collection
from queue import Empty, SimpleQueue

import msgspec

from sanderling.cluster.direct import Called, Lines
from sanderling.cluster.engine import ClusterNode, Gone
from sanderling.cluster.landing import BadPiece, Landing
from sanderling.cluster.link import MachineLink, Waits
from sanderling.cluster.messages import ArchivePiece, Below, Ended, Greeting, Word, decode_reply
from sanderling.errors import DiskFull
from sanderling.model import Hello, LiveAnswer, ToClient, ToServer, VisitReport
from sanderling.server.members.switchboard import ClientLine

# A machine that says nothing for so long is shown as away. An idle one says something every second.
AWAY_AFTER = 5.0

# A machine that has not said anything yet holds nothing, and has to load programs.
BEGINNING = 120.0

# Only these come from clients: a crawl takes no commands from another machine.
_FromClient = Hello | VisitReport | Below


class Broken(msgspec.Struct, frozen=True):
    """A client that sent something impossible."""

    client: str
    why: str


Event = Greeting | Ended | Broken | tuple[str, _FromClient]


class ClusterSwitchboard:
    """All machines of one server. A thread receives and writes archives; everything else happens in
    `poll`."""

    def __init__(self, landing: Callable[[str], Landing]) -> None:
        """`landing` makes what takes the archives of a client."""
        self._landing = landing
        self._encode = msgspec.msgpack.Encoder().encode
        self._decode = msgspec.msgpack.Decoder(_FromClient).decode
        self._lines: dict[ClientLine, MachineLink] = {}
        self._received: SimpleQueue[tuple[MachineLink, bytes | Gone] | None] = SimpleQueue()
        self._arrived: SimpleQueue[tuple[MachineLink, list[Event] | Gone | OSError]] = SimpleQueue()
        self._wakes, self._wake_up = socket.socketpair()
        for end in (self._wakes, self._wake_up):
            end.setblocking(False)
        self._direct = Lines()
        self.links: list[MachineLink] = []
        self.ended: dict[str, Ended] = {}  # the last words about dead clients, until somebody asks
        self.on_message: Callable[[str], None] = lambda text: None
        self.on_lost: Callable[[MachineLink, str], None] = lambda link, why: None
        self.on_greeting: Callable[[MachineLink, Greeting], None] = lambda link, greeting: None
        self._thread = threading.Thread(target=self._receive, name="cluster-landing", daemon=True)
        self._thread.start()

    # ---- machines

    def open(self, node: ClusterNode, machine: Called, waits: Waits) -> MachineLink:
        link = MachineLink(node, self._direct.to(machine), self._landing, waits)
        self.links.append(link)
        self._hear(link)
        return link

    # ---- as a switchboard

    @property
    def lines(self) -> Collection[ClientLine]:
        return self._lines.keys()

    def fileno(self) -> int:
        """Readable when something has arrived."""
        return self._wakes.fileno()

    def poll(self, timeout: float) -> tuple[list[tuple[ClientLine, ToServer]], list[ClientLine]]:
        for link in self.links:
            link.flush()
        select.select([self._wakes], [], [], timeout)
        with contextlib.suppress(BlockingIOError):
            self._wakes.recv(1 << 12)
        arrived: list[tuple[ClientLine, ToServer]] = []
        lost: list[ClientLine] = []
        with contextlib.suppress(Empty):
            while True:
                link, what = self._arrived.get_nowait()
                if isinstance(what, OSError):
                    raise DiskFull(
                        f"no room left for the archive ({what.strerror}); nothing committed is lost"
                    ) from None
                if not link.open or link.muted:
                    continue
                if isinstance(what, Gone):
                    link.gone, link.gone_at = what, time.monotonic()
                    continue
                link.heard = time.monotonic()
                for event in what:
                    self._take(link, event, arrived, lost)
        lost += self._lose_silent(time.monotonic())
        return arrived, lost

    def send(self, line: ClientLine, message: ToClient | LiveAnswer) -> None:
        if line in self._lines:
            self._lines[line].deliver(line.client, self._encode(message))
            self._lines[line].flush()

    def drop(self, line: ClientLine) -> None:
        """Forgets a line. If its client is alive, it is ended."""
        link = self._lines.pop(line, None)
        if link is not None and line.client in link.lines:
            link.end(line.client)
            link.flush()
            link.forget(line.client)

    def close(self) -> None:
        for link in self.links:
            link.close()
        self.links.clear()
        self._lines.clear()
        self._direct.close()
        self._received.put(None)
        self._thread.join()
        self._wakes.close()
        self._wake_up.close()

    # ---- in the thread of the server

    def _take(
        self, link: MachineLink, event: Event, arrived: list[tuple[ClientLine, ToServer]], lost: list[ClientLine]
    ) -> None:
        if isinstance(event, Greeting):
            self.on_greeting(link, event)
        elif isinstance(event, Ended):
            self.ended[event.client] = event
            if (line := link.lines.get(event.client)) is not None:
                lost.append(line)
            link.forget(event.client)
        elif isinstance(event, Broken):
            self.on_message(f"a client on {link.name} was ended: {event.why}")
            link.end(event.client)
        else:
            client, message = event
            if client not in link.landings:  # it was dropped
                return
            if isinstance(message, Below):
                link.below = message.machines
                return
            if isinstance(message, Hello) and client not in link.lines:
                line = link.lines[client] = ClientLine()
                line.client, line.machine, line.place = client, link.name, link.places[client]
                line.clients = link.charge.clients if link.charge is not None else 1
                self._lines[line] = link
            if client in link.lines:
                arrived.append((link.lines[client], message))

    def _lose_silent(self, now: float) -> list[ClientLine]:
        """The lines of machines that are given up, because they died or may have ended their
        clients by themselves."""
        lost: list[ClientLine] = []
        for link in list(self.links):
            silent = now - link.heard
            link.away = link.gone is not None or silent > AWAY_AFTER
            for line in link.lines.values():
                line.away = link.away
            patience = link.waits.reached if link.seen else max(link.waits.reached, BEGINNING)
            dead = link.gone is not None and link.gone.certain and now - link.gone_at >= link.waits.dead
            if silent > patience or dead:
                lost += link.lines.values()
                self.links.remove(link)
                self.on_lost(link, link.gone.why if link.gone is not None else "it cannot be reached")
                link.close()
        return lost

    # ---- in the thread that receives

    def _hear(self, link: MachineLink) -> None:
        link.hear(lambda reply: self._received.put((link, reply)))

    def _receive(self) -> None:
        while (item := self._received.get()) is not None:
            link, reply = item
            if not link.open:
                continue
            found: list[Event] | Gone | OSError
            try:
                found = reply if isinstance(reply, Gone) else self._events(link, reply)
            except msgspec.MsgspecError as error:
                found = Gone(certain=False, why=f"it sends nonsense: {error}")
            except OSError as error:
                if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO):
                    raise
                found = error
            self._arrived.put((link, found))
            with contextlib.suppress(BlockingIOError, OSError):
                os.write(self._wake_up.fileno(), b"!")
            if isinstance(found, list):
                self._hear(link)

    def _events(self, link: MachineLink, content: bytes) -> list[Event]:
        reply = decode_reply(content)
        if reply.number != link.seen + 1:
            return []
        link.up += len(content)
        events = [event for word in reply.words if (event := self._event(link, word)) is not None]
        link.seen = reply.number
        return events

    def _event(self, link: MachineLink, word: Word) -> Event | None:
        if isinstance(word, Greeting | Ended):
            return word
        landing = link.landings.get(word.client)
        if landing is None:  # it was dropped
            return None
        try:
            if isinstance(word, ArchivePiece):
                landing.take(word)
                link.archived += word.size
                link.sent += len(word.packed)
                return None
            message = self._decode(word.frame)
            if message.client != word.client:
                raise BadPiece(f"{word.client} says that it is {message.client}")
            if isinstance(message, VisitReport):
                message = landing.check(message)
                link.bodies += sum(visit.size for visit in message.visits)
            return word.client, message
        except (BadPiece, msgspec.MsgspecError) as error:
            return Broken(word.client, str(error))
