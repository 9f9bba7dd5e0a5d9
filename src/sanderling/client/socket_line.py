"""A server on the same machine: blocking writes to a Unix socket, and reads when something is
there."""

import socket

import msgspec

from sanderling.model import Hello, Lease, Recall, Stop, ToClient, VisitReport, Welcome
from sanderling.model.frames import Incoming, framed


class SocketLine:
    """A `ServerLine` on a Unix socket."""

    def __init__(self, path: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._socket.connect(path)
        except (FileNotFoundError, ConnectionError) as error:
            self._socket.close()
            raise ConnectionRefusedError(f"nobody is at {path}") from error
        self._incoming = Incoming()
        self._encode = msgspec.msgpack.Encoder().encode
        self._decode = msgspec.msgpack.Decoder(ToClient).decode

    def introduce(self, hello: Hello) -> Welcome | None:
        self._send(hello)
        while True:
            for message in self._receive():
                return message if isinstance(message, Welcome) else None

    def fileno(self) -> int:
        return self._socket.fileno()

    def hear(self) -> list[Lease | Recall] | None:
        messages = self._receive()
        if any(isinstance(message, Stop) for message in messages):
            return None
        return [message for message in messages if isinstance(message, Lease | Recall)]

    def tell(self, report: VisitReport) -> None:
        self._send(report)

    def pass_on(self, frame: bytes) -> None:
        """Sends a message that is encoded already."""
        self._socket.sendall(framed(frame))

    def close(self) -> None:
        self._socket.close()

    def _send(self, message: Hello | VisitReport) -> None:
        self.pass_on(self._encode(message))

    def _receive(self) -> list[Welcome | Lease | Recall | Stop]:
        data = self._socket.recv(1 << 20)
        if not data:
            raise ConnectionResetError("the server is gone")
        return [self._decode(frame) for frame in self._incoming.feed(data)]
