"""The behaviour of every line between clients and a server, whatever its transport."""

import os
import select
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from sanderling.client.line import ServerLine
from sanderling.client.socket_line import SocketLine
from sanderling.clock import RemoteClock
from sanderling.cluster.link import Waits
from sanderling.cluster.messages import MachineTerms
from sanderling.model import (
    PROTOCOL,
    Hello,
    HostLease,
    HostNote,
    Lease,
    Outcome,
    Recall,
    Robots,
    Stop,
    Task,
    ToServer,
    Visit,
    VisitReport,
    Welcome,
)
from sanderling.model.frames import framed
from sanderling.processes.crew import new_name
from sanderling.server.members.client_time import in_server_time, lease_of
from sanderling.server.members.socket_switchboard import SocketSwitchboard
from sanderling.server.members.switchboard import ClientLine, Switchboard
from tests.cluster.local_machine import HERE, ExpectedLine, LocalMachine, switchboard_in
from tests.waiting import until


class Lines(NamedTuple):
    """A server, and a function that connects a client."""

    switchboard: Switchboard
    call: Callable[[], ServerLine]


@contextmanager
def over_a_socket(folder: Path) -> Iterator[Lines]:
    with closing(SocketSwitchboard(folder / "s")) as switchboard, ExitStack() as callers:
        yield Lines(switchboard, lambda: callers.enter_context(closing(SocketLine(str(folder / "s")))))


@contextmanager
def over_a_machine(folder: Path) -> Iterator[Lines]:
    """A machine of a cluster is between client and server; every call is made twice."""
    with (
        closing(LocalMachine(MachineTerms(60.0))) as machine,
        closing(switchboard_in(folder)) as switchboard,
        ExitStack() as callers,
    ):
        machine.repeats = 2
        link, spool = switchboard.open(HERE, machine, Waits(60.0)), machine.machine._spool.folder
        until(lambda: switchboard.poll(0.1) and (spool / "socket").exists())
        yield Lines(switchboard, lambda: callers.enter_context(closing(ExpectedLine(link, spool))))


@contextmanager
def over_a_direct_line(folder: Path) -> Iterator[Lines]:
    """The same with a TLS connection that the server opened to the machine."""
    with (
        closing(LocalMachine(MachineTerms(60.0), door=True)) as machine,
        closing(switchboard_in(folder)) as switchboard,
        ExitStack() as callers,
    ):
        link, spool = switchboard.open(HERE, machine, Waits(60.0)), machine.machine._spool.folder
        until(lambda: switchboard.poll(0.1) and link.direct)
        before = machine.calls
        yield Lines(switchboard, lambda: callers.enter_context(closing(ExpectedLine(link, spool))))
        assert machine.calls == before


@pytest.fixture(params=[over_a_socket, over_a_machine, over_a_direct_line])
def lines(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Lines]:
    with request.param(tmp_path) as made:
        yield made


def next_message(switchboard: Switchboard) -> tuple[ClientLine, ToServer]:
    ((line, message),) = until(lambda: switchboard.poll(0.1)[0])
    return line, message


def welcomed(lines: Lines, name: str = "") -> tuple[ServerLine, ClientLine]:
    """A client and the server's end of its line."""
    client = lines.call()
    greeted: list[Welcome | None] = []
    greeting = threading.Thread(target=lambda: greeted.append(client.introduce(Hello(PROTOCOL, name or new_name()))))
    greeting.start()
    line, hello = next_message(lines.switchboard)
    assert isinstance(hello, Hello)
    lines.switchboard.send(line, Welcome(b"{}"))
    greeting.join()
    assert greeted == [Welcome(b"{}")]
    return client, line


def introduced(client: ServerLine, hello: Hello) -> Welcome | None:
    """How a client is welcomed; None when the server hangs up."""
    try:
        return client.introduce(hello)
    except ConnectionError:
        return None


def report(number: int = 1, visits: list[Visit] | None = None, hosts: list[HostNote] | None = None) -> VisitReport:
    return VisitReport("0" * 12, number, time.monotonic(), 10, visits or [], hosts or [], {})


def test_what_one_side_says_the_other_hears(lines: Lines) -> None:
    client, line = welcomed(lines, "0" * 12)
    lease = Lease(1.0, [HostLease("http://e.org", 1, 2.0, True, None, [Task(5, "http://e.org/", 0, 0, 0)])])
    lines.switchboard.send(line, lease)
    assert client.hear() == [lease]
    lines.switchboard.send(line, Recall())
    assert client.hear() == [Recall()]
    said = report(visits=[Visit(id=5, outcome=Outcome.PAGE, links=bytes(8))])
    client.tell(said)
    assert next_message(lines.switchboard) == (line, said)
    lines.switchboard.send(line, Stop())
    assert client.hear() is None


def test_the_descriptor_is_readable_when_there_is_something_to_hear(lines: Lines) -> None:
    client, line = welcomed(lines)
    with closing(select.epoll()) as epoll:
        epoll.register(client.fileno(), select.EPOLLIN)
        assert not epoll.poll(0.0)
        lines.switchboard.send(line, Recall())
        until(lambda: epoll.poll(0.1))


def test_a_server_that_goes_away_is_noticed(lines: Lines) -> None:
    client, line = welcomed(lines)
    lines.switchboard.drop(line)
    with pytest.raises(ConnectionError):
        client.hear()
    with pytest.raises(ConnectionError):
        for number in range(3):
            client.tell(report(number))


def test_a_server_that_does_not_want_a_client_hangs_up(lines: Lines) -> None:
    client = lines.call()
    told: list[object] = []
    greeting = threading.Thread(target=lambda: told.append(introduced(client, Hello(PROTOCOL - 1, new_name()))))
    greeting.start()
    line, _ = next_message(lines.switchboard)
    lines.switchboard.drop(line)
    greeting.join()
    assert told == [None]


def test_a_large_message_to_one_client_does_not_keep_others_waiting(lines: Lines) -> None:
    slow, to_slow = welcomed(lines)
    other, to_other = welcomed(lines)
    tasks = [Task(n, f"http://e.org/{n:0200}", 0, 0, 0) for n in range(40_000)]
    large = Lease(0.0, [HostLease("http://e.org", 1, 0.0, True, None, tasks)])
    lines.switchboard.send(to_slow, large)  # more than any buffer holds, and nobody reads it yet
    lines.switchboard.send(to_other, Recall())
    assert other.hear() == [Recall()]
    heard: list[object] = []
    reading = threading.Thread(target=lambda: heard.extend(until(slow.hear)))
    reading.start()
    until(lambda: lines.switchboard.poll(0.01) and not reading.is_alive())
    assert heard == [large]


@pytest.mark.parametrize("name", ["../../etc/passwd", "marker-*", "", "A" * 12])
def test_a_name_that_is_none_loses_its_line(lines: Lines, name: str) -> None:
    """Names become part of file names."""
    client = lines.call()
    told: list[object] = []
    greeting = threading.Thread(target=lambda: told.append(introduced(client, Hello(PROTOCOL, name))))
    greeting.start()
    while greeting.is_alive():
        arrived, lost = lines.switchboard.poll(0.1)
        assert not arrived
        for line in lost:
            lines.switchboard.drop(line)
    assert told == [None]
    assert not lines.switchboard.lines


def test_nonsense_on_a_socket_loses_its_line_only(tmp_path: Path) -> None:
    with over_a_socket(tmp_path) as lines:
        client, line = welcomed(lines)
        with socket.socket(socket.AF_UNIX) as stranger:
            stranger.connect(str(tmp_path / "s"))
            stranger.sendall(framed(os.urandom(100)))
            (lost,) = until(lambda: lines.switchboard.poll(0.1)[1])
            assert lost is not line
        client.tell(said := report())
        assert next_message(lines.switchboard) == (line, said)


# ---- times


def test_times_of_a_report_are_brought_to_the_servers_clock() -> None:
    """The client's clock has another zero."""
    theirs = 1_000_000.0
    robots = Robots(theirs - 60, None, "", "")
    visits = [Visit(id=1, outcome=Outcome.PAGE, at=theirs - 2)]
    said = VisitReport("0" * 12, 1, theirs, 0, visits, [HostNote("http://e.org", robots, theirs + 30, 1.0)], {})
    here = in_server_time(said, RemoteClock())
    (visit,), (note,) = here.visits, here.hosts
    assert note.robots is not None
    now = time.time()
    assert (now - visit.at, note.not_before - now, now - note.robots.at) == pytest.approx((2, 30, 60), abs=1)


def test_the_crawls_clock_may_be_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SANDERLING_AHEAD", "86400")
    said = report(visits=[Visit(id=1, outcome=Outcome.PAGE, at=time.monotonic())], hosts=[HostNote("o", None, time.monotonic(), 1.0)])  # fmt: skip
    here = in_server_time(said, RemoteClock())
    assert here.visits[0].at - here.hosts[0].not_before == pytest.approx(86400, abs=1)


def test_a_report_that_waited_is_as_old_as_it_is() -> None:
    """The message waited while the server was busy."""
    clock = RemoteClock()
    clock.hear(100.0, 500.0)  # a quick message
    assert clock.hear(110.0, 540.0) == 400.0


def test_times_of_a_lease_are_by_the_clock_that_it_names() -> None:
    wall = time.time()
    host = HostLease("http://e.org", 1, wall + 20, True, Robots(wall - 5, None, "", ""), [])
    sent = lease_of([host])
    (there,) = sent.hosts
    assert there.robots is not None
    assert (there.not_before - sent.clock, sent.clock - there.robots.at) == pytest.approx((20, 5), abs=1)
