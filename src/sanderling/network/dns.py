"""How long the addresses of a name may be kept. The system's resolver does not tell, so a name
server is asked."""

import os
import socket
import struct
from pathlib import Path

_HEADER = struct.Struct("!HHHHHH")
_RECORD = struct.Struct("!HHIH")
_ADDRESS, _ALIAS, _INTERNET = 1, 5, 1
_RECURSE = 0x0100
_CODE = 0x000F
PORT = 53
# Without an answer by then, in seconds, the address stays unknown.
PATIENCE = 2.0
RESOLVER = Path("/etc/resolv.conf")


def name_server(configuration: str) -> str:
    """The first name server of this machine; empty for none."""
    words = (line.split() for line in configuration.splitlines())
    return next((each[1] for each in words if len(each) > 1 and each[0] == "nameserver"), "")


def time_to_live(name: str, server: str, port: int = PORT) -> float | None:
    """For how many seconds the addresses of a name may be kept; None if it is unknown. May take
    seconds."""
    number = int.from_bytes(os.urandom(2), "big")
    try:
        asked = question(name, number)
        family = socket.AF_INET6 if ":" in server else socket.AF_INET
        with socket.socket(family, socket.SOCK_DGRAM) as line:
            line.settimeout(PATIENCE)
            line.connect((server, port))
            line.send(asked)
            return shortest_life(line.recv(4096), number)
    except (OSError, UnicodeError, ValueError):
        return None


def question(name: str, number: int) -> bytes:
    """A message that asks for the IPv4 addresses of a name."""
    labels = name.rstrip(".").encode("idna" if not name.isascii() else "ascii").split(b".")
    if not all(0 < len(label) < 64 for label in labels):
        raise ValueError(f"{name!r} is no name")
    path = b"".join(bytes([len(label)]) + label for label in labels) + b"\0"
    return _HEADER.pack(number, _RECURSE, 1, 0, 0, 0) + path + struct.pack("!HH", _ADDRESS, _INTERNET)


def shortest_life(message: bytes, number: int) -> float | None:
    """The shortest time to live among the addresses, and the aliases that lead to them, in the
    answer to a question."""
    try:
        said, flags, questions, answers, _, _ = _HEADER.unpack_from(message)
        if said != number or flags & _CODE or not answers:
            return None
        at = _HEADER.size
        for _ in range(questions):
            at = _after_name(message, at) + 4
        lives = []
        for _ in range(answers):
            at = _after_name(message, at)
            kind, _, life, length = _RECORD.unpack_from(message, at)
            at += _RECORD.size + length
            if kind in (_ADDRESS, _ALIAS):
                lives.append(life)
        return float(min(lives)) if lives else None
    except (struct.error, IndexError):
        return None


def _after_name(message: bytes, at: int) -> int:
    """Where the name at a place ends. One that goes on elsewhere ends with a pointer of two
    bytes."""
    while length := message[at]:
        if length >= 0xC0:
            return at + 2
        at += 1 + length
    return at + 1
