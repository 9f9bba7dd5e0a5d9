"""The machine's end of a direct line (`direct`): a port that only the server of this machine can
use."""

import asyncio
import contextlib
from typing import Protocol

from sanderling.cluster.direct import context
from sanderling.cluster.messages import Hear, Heard, decode_asked, encode
from sanderling.model.frames import Incoming, framed

HANDSHAKE = 10.0


class CalledMachine(Protocol):
    """A `Machine`, as far as a direct line reaches."""

    @property
    def told(self) -> int: ...

    async def tell(self, number: int, batch: bytes) -> None: ...

    async def hear(self, seen: int) -> bytes: ...


class MachineDoor:
    """Passes calls that arrive on a direct line to a `Machine`."""

    def __init__(self, machine: CalledMachine) -> None:
        self._machine = machine
        self._server: asyncio.Server | None = None
        self._answers: set[asyncio.Task[None]] = set()

    async def open(self, address: str, identity: bytes) -> int:
        """Returns the port. The server asks again for the same one when it lost the line."""
        if self._server is None:
            self._server = await asyncio.start_server(
                self._serve, address, 0, ssl=context(identity, server_side=True), ssl_handshake_timeout=HANDSHAKE
            )
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    def close(self) -> None:
        if self._server is not None:
            self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        incoming = Incoming()
        try:
            while data := await reader.read(1 << 16):
                for frame in incoming.feed(data):
                    asked = decode_asked(frame)
                    if isinstance(asked, Hear):
                        answer = asyncio.create_task(self._answer(asked.seen, writer))
                        self._answers.add(answer)
                        answer.add_done_callback(self._answers.discard)
                    else:
                        await self._machine.tell(asked.number, asked.batch)
        except (OSError, ValueError):
            pass
        finally:
            writer.close()

    async def _answer(self, seen: int, writer: asyncio.StreamWriter) -> None:
        reply = await self._machine.hear(seen)
        with contextlib.suppress(OSError):  # the server asks again in another way
            writer.write(framed(encode(Heard(self._machine.told, reply))))
            await writer.drain()
