"""One request to the fault server, and what a fault may do with its connection."""

import asyncio
import socket
import struct
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from html import escape
from typing import NamedTuple, Protocol, TypeVar

HTML = "text/html; charset=utf-8"


class Surroundings(Protocol):
    """What a fault can use of its server."""

    origin: str
    other_origin: str
    pace: float

    def times_asked(self, path: str) -> int: ...


@dataclass
class FaultExchange:
    surroundings: Surroundings
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    method: str
    path: str
    query: str
    headers: list[tuple[str, str]]
    arguments: list[str]
    keep_open: bool = False

    @property
    def pace(self) -> float:
        return self.surroundings.pace

    @property
    def times_asked(self) -> int:
        """How often this path was requested, including this request."""
        return self.surroundings.times_asked(self.path)

    def header(self, name: str) -> str:
        return next((value for key, value in self.headers if key.lower() == name), "")

    def number(self, default: int, place: int = 0) -> int:
        """An argument of the URL, such as the 5 of /redirect/5."""
        text = self.arguments[place] if place < len(self.arguments) else ""
        return int(text) if text.isdecimal() and len(text) < 7 else default

    async def reply(
        self, body: bytes | str = b"", kind: str = HTML, status: int = 200, headers: tuple[str, ...] = ()
    ) -> None:
        """Sends a correct answer and keeps the connection open."""
        content = body.encode() if isinstance(body, str) else body
        lines = [f"Content-Type: {kind}", f"Content-Length: {len(content)}", *headers]
        bodiless = self.method == "HEAD" or status in (204, 304)
        await self.send(head(status, *lines) + (b"" if bodiless else content))
        self.keep_open = True

    async def page(self, title: str, body: str) -> None:
        await self.reply(document(title, body))

    async def redirect(self, location: str, status: int = 302) -> None:
        await self.reply(
            f"To {escape(location)}\n", status=status, headers=(f"Location: {location}",), kind="text/plain"
        )

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()
        # `drain` does not yield if there is room in the buffer, so an endless body would block all
        # other connections.
        await asyncio.sleep(0)

    async def until_closed(self) -> None:
        while await self.reader.read(65536):
            pass

    def reset(self) -> None:
        """Closes with RST instead of FIN, by a linger time of 0."""
        connection = self.writer.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()


Misbehaviour = Callable[[FaultExchange], Awaitable[None]]
M = TypeVar("M", bound=Misbehaviour)


class Fault(NamedTuple):
    """`name` may end with parameters in capitals, such as `status/NNN`. `example` is a name with
    values for them."""

    name: str
    example: str
    sentence: str
    misbehave: Misbehaviour


FAULTS: dict[str, Fault] = {}
"""By name without parameters."""


def fault(name: str, example: str = "") -> Callable[[M], M]:
    """Registers a function as the behaviour of a URL. Its docstring documents the fault."""

    def register(misbehave: M) -> M:
        literal = "/".join(part for part in name.split("/") if not part.isupper())
        sentence = " ".join((misbehave.__doc__ or "").split())
        FAULTS[literal] = Fault(name, example or name, sentence, misbehave)
        return misbehave

    return register


def find(path: str) -> tuple[Fault, list[str]] | None:
    """The fault with the longest name that the path begins with, and the rest of the path as
    arguments."""
    parts = path.strip("/").split("/")
    for length in range(len(parts), 0, -1):
        found = FAULTS.get("/".join(parts[:length]))
        if found:
            return found, parts[length:]
    return None


def head(status: int, *lines: str) -> bytes:
    return "\r\n".join([f"HTTP/1.1 {status} {_phrase(status)}", *lines, "", ""]).encode()


def document(title: str, body: str) -> str:
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8"><title>{title}</title></head>\n'
        f"<body>\n<h1>{title}</h1>\n{body}\n</body>\n</html>\n"
    )


def anchors(targets: list[str]) -> str:
    items = (f'<li><a href="{escape(target)}">{escape(target[:80])}</a></li>' for target in targets)
    return "<ul>\n" + "\n".join(items) + "\n</ul>"


def _phrase(status: int) -> str:
    return {200: "OK", 206: "Partial Content", 304: "Not Modified", 404: "Not Found"}.get(status, "Status")
