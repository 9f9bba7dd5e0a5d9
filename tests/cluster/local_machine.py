"""A machine of a cluster without a cluster: the same code, called in a thread of this process."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path

from sanderling.client.socket_line import SocketLine
from sanderling.cluster.engine import ClusterNode, Gone
from sanderling.cluster.landing import Landing
from sanderling.cluster.link import MachineLink
from sanderling.cluster.machine import Machine
from sanderling.cluster.messages import MachineTerms, encode
from sanderling.cluster.switchboard import ClusterSwitchboard
from sanderling.model import Hello, Welcome

HERE = ClusterNode("id", "here", 1.0, here=True)


def switchboard_in(folder: Path) -> ClusterSwitchboard:
    """The server's side of machines, with archives in a folder."""
    return ClusterSwitchboard(lambda client: Landing(folder, client))


class LocalMachine:
    """What the engine's actor is, with faults that a test chooses."""

    def __init__(self, terms: MachineTerms, *, door: bool = False) -> None:
        """With a `door`, it can be called on a direct line."""
        self.door = door
        self.calls = 0  # how often it was called otherwise
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.machine = self._call(_make(terms)).result()
        self.cut = False  # nothing gets through, in either direction
        self.repeats = 1  # how often each call is made

    def tell(self, number: int, batch: bytes) -> None:
        self.calls += 1
        if not self.cut:
            for _ in range(self.repeats):
                self._call(self.machine.tell(number, batch))

    def hear(self, seen: int, on_reply: Callable[[bytes | Gone], None]) -> None:
        def done(future: "Future[bytes]") -> None:
            if not self.cut:
                on_reply(future.result())

        self.calls += 1
        if not self.cut:
            for _ in range(self.repeats):
                self._call(self.machine.hear(seen)).add_done_callback(done)

    def open_door(self, identity: bytes, on_place: Callable[[tuple[str, int] | Gone], None]) -> None:
        def done(future: "Future[int]") -> None:
            on_place(("127.0.0.1", future.result()))

        if self.door and not self.cut:
            self._call(self.machine.open_door("127.0.0.1", identity)).add_done_callback(done)

    def kill(self) -> None:
        self.cut = True

    def close(self) -> None:
        self.cut = True

        async def end() -> None:
            processes = list(self.machine._processes.values())
            for client in list(self.machine._processes):
                self.machine._kill(client)
            for process in processes:
                await process.wait()
            if self.machine._server is not None:
                self.machine._server.close()
            self.machine._door.close()
            for task in asyncio.all_tasks() - {asyncio.current_task()}:
                task.cancel()
            await asyncio.sleep(0)
            self.machine._spool.close()

        self._call(end()).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _call(self, work):  # type: ignore[no-untyped-def]
        return asyncio.run_coroutine_threadsafe(work, self._loop)


async def _make(terms: MachineTerms) -> Machine:
    return Machine(encode(terms))


class ExpectedLine(SocketLine):
    """The line of a client that the server did not start but expects."""

    def __init__(self, link: MachineLink, spool: Path) -> None:
        super().__init__(str(spool / "socket"))
        self._link = link

    def introduce(self, hello: Hello) -> Welcome | None:
        self._link.expect(hello.client)
        return super().introduce(hello)
