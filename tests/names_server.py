"""A DNS server for one host name, whose answers can fail."""

import socket
import struct
import threading
from typing import Literal, Self

Mood = Literal["answers", "nxdomain", "servfail"]

_CODES: dict[Mood, int] = {"answers": 0, "servfail": 2, "nxdomain": 3}
_A = 1


class NamesServer:
    """Answers over UDP. A name that it knows has one IPv4 address. `asked` counts the questions in
    each mood."""

    def __init__(self, name: str, address: str, where: tuple[str, int]) -> None:
        self.mood: Mood = "answers"
        self.asked: dict[Mood, int] = dict.fromkeys(_CODES, 0)
        self._name, self._address = name, socket.inet_aton(address)
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(where)
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def _serve(self) -> None:
        while True:
            try:
                question, sender = self._socket.recvfrom(4096)
            except OSError:
                return
            self._socket.sendto(self._answer(question), sender)

    def _answer(self, question: bytes) -> bytes:
        labels, at = [], 12
        while size := question[at]:
            labels.append(question[at + 1 : at + 1 + size].decode())
            at += size + 1
        kind = struct.unpack(">H", question[at + 1 : at + 3])[0]
        known = ".".join(labels).lower() == self._name
        mood: Mood = self.mood if known else "nxdomain"
        if known:
            self.asked[mood] += 1
        found = mood == "answers" and kind == _A
        header = question[:2] + struct.pack(">HHHHH", 0x8180 | _CODES[mood], 1, found, 0, 0)
        record = b"\xc0\x0c" + struct.pack(">HHIH", _A, 1, 0, 4) + self._address if found else b""
        return header + question[12 : at + 5] + record
