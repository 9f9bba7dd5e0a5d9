"""The life of a relay: `python -m sanderling.jobs.relay NAME SOCKET WARCS CHARGE HEAD`."""

import os
import signal
import sys
from contextlib import closing, suppress
from pathlib import Path

import msgspec

from sanderling.client.socket_line import SocketLine
from sanderling.cluster.crew import ClusterCrew
from sanderling.cluster.engine import Engine
from sanderling.cluster.levels import Shape
from sanderling.cluster.messages import Charge
from sanderling.cluster.outbox import Outbox
from sanderling.cluster.relay import Relay
from sanderling.cluster.relay_archive import RelayArchive, RelayLanding
from sanderling.cluster.spool import outbox_path
from sanderling.cluster.switchboard import ClusterSwitchboard
from sanderling.model import PROTOCOL, Hello
from sanderling.settings import Settings


def relay(name: str, socket: Path, warcs: Path, charge: Path, head: str) -> bool:
    """Runs until the parent says stop or is gone. True when all machines below have ended their
    clients."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def given() -> Charge:
        return msgspec.msgpack.decode(charge.read_bytes(), type=Charge)

    first = given()
    with closing(SocketLine(str(socket))) as line, closing(Engine(head, first.node)) as engine:
        welcome = line.introduce(Hello(PROTOCOL, name))
        if welcome is None:
            return True
        settings, folder = msgspec.json.decode(welcome.settings, type=Settings), socket.parent
        shape = Shape.of(settings, folder, above=first.level)
        archive = RelayArchive(warcs / folder.name, name)
        with closing(ClusterSwitchboard(lambda child: RelayLanding(archive, child))) as switchboard:
            crew = ClusterCrew(first.clients, engine, switchboard, shape, first)
            outbox = Outbox(outbox_path(folder, name), line.pass_on)
            return Relay(name, welcome, line, outbox, switchboard, crew, given).run()


if __name__ == "__main__":
    ended = False
    with suppress(ConnectionError):  # the machine is gone; everything below ends, because this process does
        name, socket, warcs, charge, head = sys.argv[1:]
        ended = relay(name, Path(socket), Path(warcs), Path(charge), head)
    os._exit(0 if ended else 1)
