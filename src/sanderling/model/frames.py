"""Splits a stream into messages. The length of each message comes before it."""

import struct

LARGEST = 256 * 1024 * 1024
_LENGTH = struct.Struct(">I")


def framed(message: bytes) -> bytes:
    return _LENGTH.pack(len(message)) + message


class Incoming:
    """Collects received bytes until messages are complete."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[bytes]:
        """Returns the messages that are complete now. Raises ValueError if a message is too
        large."""
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
