"""The server's end of a direct line to a machine: one TLS connection, which carries what calls of
the engine carry otherwise.

A call of the engine costs the server as much as some pages; a message on this line costs a tenth of
it. Both ends have one certificate, which the server made for this line alone and gave to the
machine by a call of the engine. So only this server can speak on the port that the machine opened.
While there is no line, everything goes through the engine: calls are numbered, so nothing is lost
or taken twice when the way changes.
"""

import asyncio
import contextlib
import ssl
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Protocol

from sanderling.cluster.credentials import one_line
from sanderling.cluster.engine import Gone
from sanderling.cluster.messages import Hear, Heard, Tell, decode_heard, encode
from sanderling.model.frames import Incoming, framed

# An idle machine answers every second. One that does not for so long is asked by the engine.
SILENCE = 5.0
CONNECT = 5.0
# Seconds until a line is tried again; each time twice as many.
AGAIN_FROM, AGAIN_TO = 5.0, 80.0


class Called(Protocol):
    """A machine as the engine calls it."""

    def tell(self, number: int, batch: bytes) -> None: ...

    def hear(self, seen: int, on_reply: Callable[[bytes | Gone], None]) -> None: ...

    def open_door(self, identity: bytes, on_place: Callable[[tuple[str, int] | Gone], None]) -> None: ...

    def kill(self) -> None: ...


class Lines:
    """The thread in which all direct lines of a server work."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="cluster-lines", daemon=True)
        self._thread.start()

    def to(self, machine: Called) -> "DirectMachine":
        return DirectMachine(self._loop, machine)

    def close(self) -> None:
        """Ends all lines; their machines are killed already."""

        async def end() -> None:
            for task in asyncio.all_tasks() - {asyncio.current_task()}:
                task.cancel()
            for _ in range(3):  # a connection is closed by a callback of a callback
                await asyncio.sleep(0)

        asyncio.run_coroutine_threadsafe(end(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class DirectMachine:
    """A `RemoteMachine`. Everything but its first four methods runs in the thread of the lines."""

    def __init__(self, loop: asyncio.AbstractEventLoop, machine: Called) -> None:
        self._loop = loop
        self._machine = machine
        self._identity = one_line()
        self._told: deque[Tell] = deque()  # on the line, and not confirmed
        self._asked: tuple[int, Callable[[bytes | Gone], None]] | None = None
        self._silence: asyncio.TimerHandle | None = None
        self._again = AGAIN_FROM
        self._closed = False
        self._line: _Line | None = None
        self._soon(self._open)

    def tell(self, number: int, batch: bytes) -> None:
        self._soon(self._tell, Tell(number, batch))

    def hear(self, seen: int, on_reply: Callable[[bytes | Gone], None]) -> None:
        self._soon(self._hear, seen, on_reply)

    def kill(self) -> None:
        self._soon(self._close)
        self._machine.kill()

    @property
    def direct(self) -> bool:
        return self._line is not None

    def _soon(self, what: Callable[..., None], *values: object) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(partial(what, *values))

    # ---- calls

    def _tell(self, order: Tell) -> None:
        if self._line is None:
            self._machine.tell(order.number, order.batch)
        else:
            self._told.append(order)
            self._line.say(order)

    def _hear(self, seen: int, on_reply: Callable[[bytes | Gone], None]) -> None:
        asked = self._asked = seen, on_reply
        if self._line is None:
            self._machine.hear(seen, lambda reply: self._soon(self._answer, asked, reply))
        else:
            self._line.say(Hear(seen))
            self._watch(self._line)

    def _answer(self, asked: object, reply: bytes | Gone) -> None:
        if self._asked is asked and self._asked is not None:
            _, on_reply = self._asked
            self._asked = None
            self._watch_no_more()
            on_reply(reply)

    # ---- the line

    def _open(self) -> None:
        if not self._closed:
            self._machine.open_door(self._identity, lambda place: self._soon(self._connect, place))

    def _connect(self, place: tuple[str, int] | Gone) -> None:
        if not isinstance(place, Gone) and not self._closed:
            self._connecting = self._loop.create_task(self._connected(*place))

    async def _connected(self, address: str, port: int) -> None:
        try:
            async with asyncio.timeout(CONNECT):
                _, line = await self._loop.create_connection(
                    lambda: _Line(self._take, self._lose), address, port, ssl=context(self._identity)
                )
        except OSError:  # of which TimeoutError and SSLError are kinds
            self._try_again()
        else:
            self._line = None if line.lost else line
            if self._line is None:
                self._try_again()

    def _take(self, heard: Heard) -> None:
        self._again = AGAIN_FROM
        while self._told and self._told[0].number <= heard.told:
            self._told.popleft()
        self._answer(self._asked, heard.reply)

    def _lose(self) -> None:
        """Says and asks through the engine what the line may have lost."""
        if self._line is None:
            return
        self._line = None
        self._watch_no_more()
        if self._closed:
            return
        for order in self._told:
            self._machine.tell(order.number, order.batch)
        self._told.clear()
        if self._asked is not None:
            self._hear(*self._asked)
        self._try_again()

    def _try_again(self) -> None:
        self._loop.call_later(self._again, self._open)
        self._again = min(AGAIN_TO, 2 * self._again)

    def _watch(self, line: "_Line") -> None:
        """Gives up a line that is silent, however long a large answer takes."""
        silent = time.monotonic() - line.heard
        if silent > SILENCE:
            line.abort()
        else:
            self._silence = self._loop.call_later(SILENCE - silent, self._watch, line)

    def _watch_no_more(self) -> None:
        if self._silence is not None:
            self._silence.cancel()
            self._silence = None

    def _close(self) -> None:
        self._closed = True
        self._watch_no_more()
        if self._line is not None:
            self._line.abort()


class _Line(asyncio.Protocol):
    """The connection."""

    def __init__(self, take: Callable[[Heard], None], lose: Callable[[], None]) -> None:
        self._take = take
        self._lose = lose
        self._incoming = Incoming()
        self.lost = False
        self.heard = 0.0  # when something was received or asked

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self.heard = time.monotonic()
        try:
            for frame in self._incoming.feed(data):
                self._take(decode_heard(frame))
        except ValueError:  # of which a MsgspecError is a kind
            self.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self.lost = True
        self._lose()

    def say(self, message: Tell | Hear) -> None:
        self.heard = time.monotonic()
        self._transport.write(framed(encode(message)))

    def abort(self) -> None:
        self._transport.abort()


def context(identity: bytes, *, server_side: bool = False) -> ssl.SSLContext:
    """For an end of a line: it trusts the certificate of the line only, and shows the same."""
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER if server_side else ssl.PROTOCOL_TLS_CLIENT)
    made.minimum_version = ssl.TLSVersion.TLSv1_3
    made.check_hostname = False  # the name of the machine says nothing that its certificate does not
    made.verify_mode = ssl.CERT_REQUIRED
    made.load_verify_locations(cadata=identity.decode())
    with tempfile.NamedTemporaryFile() as file:  # nobody else may read it
        file.write(identity)
        file.flush()
        made.load_cert_chain(file.name)
    return made
