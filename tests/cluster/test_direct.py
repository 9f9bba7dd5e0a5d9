"""The direct line between a server and a machine."""

import socket
import ssl
from contextlib import closing, suppress
from pathlib import Path

import pytest

from sanderling.cluster import direct
from sanderling.cluster.credentials import one_line
from sanderling.cluster.link import Waits
from sanderling.cluster.messages import MachineTerms, Tell, encode
from sanderling.model import PROTOCOL, Hello, HostLease, Lease, Task, VisitReport, Welcome
from sanderling.model.frames import framed
from tests.cluster.local_machine import HERE, ExpectedLine, LocalMachine, switchboard_in
from tests.waiting import until


def test_nothing_is_lost_or_doubled_when_the_line_breaks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It breaks between all messages, at every stage of being made again."""
    monkeypatch.setattr(direct, "AGAIN_FROM", 0.01)
    with (
        closing(LocalMachine(MachineTerms(60.0), door=True)) as machine,
        closing(switchboard_in(tmp_path)) as switchboard,
    ):
        link = switchboard.open(HERE, machine, Waits(60.0))
        line = link._machine
        assert isinstance(line, direct.DirectMachine)
        until(lambda: switchboard.poll(0.1) and link.direct)
        with closing(ExpectedLine(link, machine.machine._spool.folder)) as client:
            link.expect("0" * 12)
            client._send(Hello(PROTOCOL, "0" * 12))
            ((to_client, _),) = until(lambda: switchboard.poll(0.1)[0])
            switchboard.send(to_client, Welcome(b"{}"))
            client._receive()
            heard: list[float] = []
            for number in range(1, 20):
                client.tell(VisitReport("0" * 12, number, 0.0, 10, [], [], {}))
                line._soon(lambda: line._line and line._line.abort())
                task = Task(number, "http://e.org/", 0, 0, 0)
                lease = Lease(float(number), [HostLease("http://e.org", 1, 2.0, True, None, [task])])
                switchboard.send(to_client, lease)
                ((_, said),) = until(lambda: switchboard.poll(0.1)[0])
                assert isinstance(said, VisitReport) and said.number == number
                while len(heard) < number:
                    heard += [each.clock for each in client.hear() or () if isinstance(each, Lease)]
            assert heard == [*map(float, range(1, 20))]
        until(lambda: switchboard.poll(0.1) and link.direct)


def test_only_the_server_that_opened_the_port_may_call(tmp_path: Path) -> None:
    orders = framed(encode(Tell(1, encode([]))))
    with closing(LocalMachine(MachineTerms(60.0))) as machine:
        own = one_line()
        port = machine._call(machine.machine.open_door("127.0.0.1", own)).result()
        assert machine._call(machine.machine.open_door("127.0.0.1", own)).result() == port
        unknown = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        unknown.check_hostname, unknown.verify_mode = False, ssl.CERT_NONE
        for stranger in (unknown, _believing_all(one_line())):
            with (
                suppress(OSError),
                socket.create_connection(("127.0.0.1", port)) as plain,
                stranger.wrap_socket(plain) as line,
            ):
                line.sendall(orders)
                assert line.recv(1) == b""
        assert machine.machine.told == 0
        with (
            socket.create_connection(("127.0.0.1", port)) as plain,
            direct.context(own).wrap_socket(plain) as line,
        ):
            line.sendall(orders)
            until(lambda: machine.machine.told == 1)


def _believing_all(identity: bytes) -> ssl.SSLContext:
    made = direct.context(identity)
    made.verify_mode = ssl.CERT_NONE
    return made
