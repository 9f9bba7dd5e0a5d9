"""The client's end of the line to the server: blocking writes, and reads when something is there."""

import socket
import struct

import msgspec

from sanderling.model import Hello, Lease, Report, Stop, ToClient, Welcome

_LENGTH = struct.Struct(">I")


class ServerLine:
    """Speaks with one server."""

    def __init__(self, path: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.connect(path)
        self._incoming = bytearray()
        self._encode = msgspec.msgpack.Encoder().encode
        self._decode = msgspec.msgpack.Decoder(ToClient).decode

    def introduce(self, hello: Hello) -> Welcome | None:
        """Says hello and waits to be welcomed; None when the server does not want us."""
        self._send(hello)
        while True:
            messages = self._receive()
            if messages is None:
                return None
            for message in messages:
                return message if isinstance(message, Welcome) else None

    def fileno(self) -> int:
        return self._socket.fileno()

    def hear(self) -> list[Lease] | None:
        messages = self._receive()
        if messages is None or any(isinstance(message, Stop) for message in messages):
            return None
        return [message for message in messages if isinstance(message, Lease)]

    def tell(self, report: Report) -> None:
        self._send(report)

    def _send(self, message: Hello | Report) -> None:
        frame = self._encode(message)
        self._socket.sendall(_LENGTH.pack(len(frame)) + frame)

    def _receive(self) -> list[Welcome | Lease | Stop] | None:
        try:
            data = self._socket.recv(1 << 20)
        except OSError:
            return None
        if not data:
            return None
        buffer = self._incoming
        buffer += data
        messages, start = [], 0
        while len(buffer) - start >= 4:
            (size,) = _LENGTH.unpack_from(buffer, start)
            if len(buffer) - start - 4 < size:
                break
            messages.append(self._decode(buffer[start + 4 : start + 4 + size]))
            start += 4 + size
        del buffer[:start]
        return messages
