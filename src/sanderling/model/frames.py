"""Messages on a stream: each is preceded by its length."""

import struct

LARGEST = 256 * 1024 * 1024
_LENGTH = struct.Struct(">I")


def framed(message: bytes) -> bytes:
    return _LENGTH.pack(len(message)) + message


class Incoming:
    """Collects what arrives until messages are complete."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[bytes]:
        """The messages that are complete now; ValueError for one that nobody would send."""
        buffer = self._buffer
        buffer += data
        messages, start = [], 0
        while len(buffer) - start >= _LENGTH.size:
            (size,) = _LENGTH.unpack_from(buffer, start)
            if size > LARGEST:
                raise ValueError("a message is too large")
            end = start + _LENGTH.size + size
            if len(buffer) < end:
                break
            messages.append(bytes(buffer[start + _LENGTH.size : end]))
            start = end
        del buffer[:start]
        return messages
