"""Clients on the same machine: length-prefixed msgpack over a Unix socket."""

import selectors
import socket
from collections import deque
from collections.abc import Set
from pathlib import Path

import msgspec

from sanderling.model import LiveAnswer, ToClient, ToServer
from sanderling.model.frames import Incoming, framed
from sanderling.server.members.switchboard import ClientLine


class ClientSocket:
    """The socket of one line."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self._incoming = Incoming()
        self._outgoing: deque[memoryview] = deque()

    def receive(self) -> list[bytes] | None:
        """The frames that are complete now; None when the other side is gone."""
        try:
            data = self.sock.recv(1 << 20)
        except BlockingIOError:
            return []
        except OSError:
            return None
        if not data:
            return None
        try:
            return self._incoming.feed(data)
        except ValueError:
            return None

    def queue(self, frame: bytes) -> None:
        self._outgoing.append(memoryview(framed(frame)))

    def flush(self) -> bool:
        """Sends what the socket takes; True when something is left."""
        while self._outgoing:
            try:
                sent = self.sock.send(self._outgoing[0])
            except BlockingIOError:
                return True
            except OSError:
                self._outgoing.clear()
                return False
            if sent == len(self._outgoing[0]):
                self._outgoing.popleft()
            else:
                self._outgoing[0] = self._outgoing[0][sent:]
        return False


class SocketSwitchboard:
    """A `Switchboard` on a Unix socket."""

    def __init__(self, path: Path) -> None:
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(str(path))
        self._listener.listen(64)
        self._listener.setblocking(False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._encode = msgspec.msgpack.Encoder().encode
        self._decode = msgspec.msgpack.Decoder(ToServer).decode
        self._connections: dict[ClientLine, ClientSocket] = {}

    @property
    def lines(self) -> Set[ClientLine]:
        return self._connections.keys()

    def fileno(self) -> int:
        """Readable when there is something to poll."""
        return self._selector.fileno()

    def poll(self, timeout: float) -> tuple[list[tuple[ClientLine, ToServer]], list[ClientLine]]:
        arrived: list[tuple[ClientLine, ToServer]] = []
        lost: list[ClientLine] = []
        for key, events in self._selector.select(timeout):
            if key.fileobj is self._listener:
                self._accept()
                continue
            line: ClientLine = key.data
            if events & selectors.EVENT_WRITE:
                self._flush(line)
            if events & selectors.EVENT_READ:
                frames = self._connections[line].receive()
                try:
                    arrived += [(line, self._decode(frame)) for frame in frames or ()]
                except msgspec.MsgspecError:
                    frames = None
                if frames is None:
                    lost.append(line)
        return arrived, lost

    def send(self, line: ClientLine, message: ToClient | LiveAnswer) -> None:
        if line in self._connections:
            self._connections[line].queue(self._encode(message))
            self._flush(line)

    def drop(self, line: ClientLine) -> None:
        connection = self._connections.pop(line, None)
        if connection is not None:
            self._selector.unregister(connection.sock)
            connection.sock.close()

    def close(self) -> None:
        for line in list(self._connections):
            self.drop(line)
        self._selector.close()
        self._listener.close()

    def _accept(self) -> None:
        sock, _ = self._listener.accept()
        sock.setblocking(False)
        line = ClientLine()
        self._connections[line] = ClientSocket(sock)
        self._selector.register(sock, selectors.EVENT_READ, line)

    def _flush(self, line: ClientLine) -> None:
        connection = self._connections[line]
        wants = selectors.EVENT_READ | (selectors.EVENT_WRITE if connection.flush() else 0)
        self._selector.modify(connection.sock, wants, line)
