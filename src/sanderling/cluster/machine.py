"""One machine of a cluster: runs client processes for a server elsewhere, and is the server's door
to them.

The engine makes it an actor, so the server calls `tell` and `hear` from afar, through the engine or
on a direct line (`door`). Both may be called twice or out of order (`numbering`). The server is
believed to be there as long as it confirms what it heard; when that stops for longer than
`Terms.fence`, the clients are ended, because the server will give their leases to others soon
after.

One of the client processes may be a relay. It speaks like a client and has machines of its own.
"""

import asyncio
import contextlib
import platform
import time
from collections.abc import Coroutine

import msgspec

from sanderling import __version__
from sanderling.cluster.child_line import ChildLine
from sanderling.cluster.door import MachineDoor
from sanderling.cluster.messages import (
    CLUSTER_PROTOCOL,
    Charge,
    Deliver,
    End,
    Ended,
    Entrust,
    Greeting,
    MachineReply,
    MachineTerms,
    Order,
    Start,
    Word,
    decode_orders,
    encode,
)
from sanderling.cluster.numbering import InOrder, Unacknowledged
from sanderling.cluster.outbox import left_in
from sanderling.cluster.spool import Spool, charge_path, outbox_path
from sanderling.files import write_whole
from sanderling.model.frames import Incoming
from sanderling.processes import entry_points
from sanderling.processes.marker import marked, marker_path

# How long a call waits for something to say: it is also how often an idle machine is confirmed.
LONGEST_WAIT = 1.0
# What comes within this time travels together. A call costs the server as much as some pages, so a
# machine that works all the time is called ten times a second at most.
GATHER, GATHER_MORE = 0.02, 0.1
# A reply ends with the word that makes it larger.
LARGEST_REPLY = 4 << 20
# With more than this to be sent, clients wait: their reports stay in their sockets.
MOST_UNSENT = 64 << 20
FENCE_STEP = 0.25


class Machine:
    """All methods run in one event loop."""

    def __init__(self, terms: bytes) -> None:
        self._terms = msgspec.msgpack.decode(terms, type=MachineTerms)
        self._orders = InOrder()
        self._replies = Unacknowledged()
        self._unsent = 0
        self._said_at = 0.0
        self._door = MachineDoor(self)
        self._something: asyncio.Event | None = None
        self._server: asyncio.Server | None = None
        self._less_unsent = asyncio.Condition()
        self._lines: dict[str, ChildLine] = {}
        self._processes: dict[str, asyncio.subprocess.Process] = {}
        self._relays: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._spool = Spool(self._terms.files)
        self._words: list[Word] = [
            Greeting(CLUSTER_PROTOCOL, __version__, platform.python_version(), str(self._spool.folder))
        ]

    # ---- what the server calls

    async def tell(self, number: int, batch: bytes) -> None:
        """Takes orders."""
        await self._begin()
        for ready in self._orders.take(number, batch):
            for order in decode_orders(ready):
                await self._obey(order)

    async def hear(self, seen: int) -> bytes:
        """What is new since the reply of that number; confirms that the server is there."""
        await self._begin()
        self._replies.acknowledge(seen)
        async with self._less_unsent:
            self._less_unsent.notify_all()
        deadline = time.monotonic() + LONGEST_WAIT
        while (made := self._replies.after(seen)) is None:
            assert self._something is not None
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._something.wait(), max(0.0, deadline - time.monotonic()))
                await asyncio.sleep(max(GATHER, self._said_at + GATHER_MORE - time.monotonic()))
            if self._replies.after(seen) is None and (self._words or time.monotonic() >= deadline):
                if self._words:
                    self._said_at = time.monotonic()
                self._replies.add(encode(MachineReply(self._replies.next_number, self._take_words())))
        return made

    async def open_door(self, address: str, identity: bytes) -> int:
        """Lets the server call on a direct line from now on. Returns the port."""
        return await self._door.open(address, identity)

    # ---- inside

    @property
    def told(self) -> int:
        """The batch of orders that was taken last."""
        return self._orders.last

    async def _begin(self) -> None:
        """The first call starts what needs an event loop."""
        if self._something is None:
            self._something = asyncio.Event()
            self._something.set()
            self._server = await asyncio.start_unix_server(self._serve_child, self._spool.socket)
            self._keep(self._fence())

    def _take_words(self) -> list[Word]:
        taken, size = 0, 0
        while taken < len(self._words) and size < LARGEST_REPLY:
            size += _size(self._words[taken])
            taken += 1
        words = self._words[:taken]
        del self._words[:taken]
        self._unsent -= size
        if not self._words and self._something is not None:
            self._something.clear()
        return words

    async def _obey(self, order: Order) -> None:
        if isinstance(order, Start):
            await self._start(order.client, order.charge)
        elif isinstance(order, Entrust):
            if order.client in self._relays:
                self._entrust(order.client, order.charge)
        elif isinstance(order, Deliver):
            if order.client in self._lines:
                self._lines[order.client].send(order.frame)
        elif isinstance(order, End):
            self._kill(order.client)
            if order.client in self._lines:
                self._lines[order.client].close()

    async def _start(self, client: str, charge: Charge | None) -> None:
        own = client, self._spool.socket, self._spool.warcs
        try:
            if charge is None:
                command = entry_points.command("client", *own, marker_path(self._spool.folder, client))
            else:
                self._entrust(client, charge)
                command = entry_points.command("relay", *own, charge_path(self._spool.folder, client), self._terms.head)
            process = await asyncio.create_subprocess_exec(*command, stdin=asyncio.subprocess.DEVNULL)
        except OSError:
            self._say(Ended(client, -1))
            return
        self._processes[client] = process
        self._keep(self._wait_for(client, process))

    def _entrust(self, client: str, charge: Charge) -> None:
        self._relays.add(client)
        write_whole(charge_path(self._spool.folder, client), encode(charge), sync=False)

    async def _wait_for(self, client: str, process: asyncio.subprocess.Process) -> None:
        """Says that a client is dead, after everything that it said."""
        code = await process.wait()
        if (line := self._lines.get(client)) is not None:
            await line.heard_all.wait()
            for frame in left_in(outbox_path(self._spool.folder, client)):
                await self._say_all(line, frame)
        if client in self._relays:
            self._relays.discard(client)
            await asyncio.sleep(self._terms.linger if code else 0.0)
        marker = marker_path(self._spool.folder, client)
        self._say(Ended(client, code, marked(marker)))
        marker.unlink(missing_ok=True)
        del self._processes[client]
        self._lines.pop(client, None)
        self._spool.forget(client)

    async def _serve_child(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Passes on what a client says. Its first message says who it is."""
        line = ChildLine(writer, self._spool, self._terms.compress)
        incoming = Incoming()
        try:
            while data := await reader.read(1 << 20):
                for frame in incoming.feed(data):
                    await self._say_all(line, frame)
                if line.client:
                    self._lines.setdefault(line.client, line)
        except (OSError, ValueError, EOFError):  # a client that died, or one that is broken
            self._kill(line.client)
        finally:
            line.close()

    async def _say_all(self, line: ChildLine, frame: bytes) -> None:
        for word in await line.words(frame):
            self._say(word)
        async with self._less_unsent:
            await self._less_unsent.wait_for(lambda: self._unsent + self._replies.size < MOST_UNSENT)

    def _say(self, word: Word) -> None:
        self._words.append(word)
        self._unsent += _size(word)
        if self._something is not None:
            self._something.set()

    def _kill(self, client: str) -> None:
        if client in self._processes:
            with contextlib.suppress(ProcessLookupError):
                self._processes[client].kill()

    async def _fence(self) -> None:
        """Ends all clients when the server has not confirmed for too long that they may go on."""
        while True:
            await asyncio.sleep(FENCE_STEP)
            if time.monotonic() - self._replies.confirmed_at > self._terms.fence:
                for client in list(self._processes):
                    self._kill(client)

    def _keep(self, work: Coroutine[None, None, None]) -> None:
        """Runs beside the calls."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _size(word: Word) -> int:
    return len(getattr(word, "packed", b"")) + len(getattr(word, "frame", b""))
