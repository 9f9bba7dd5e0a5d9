"""The clients of a crawl: welcomed, fed, recalled, and replaced when they die or stand still. They
are real processes."""

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from sanderling.model import PROTOCOL, Command, Hello, Lease, Recall, State, Stop, VisitReport, Welcome
from sanderling.processes import entry_points
from sanderling.processes.crew import LocalCrew
from sanderling.processes.marker import Marker, marker_path
from sanderling.server.members.clients import LOOKS, MOST_DEATHS, Clients
from sanderling.server.members.socket_switchboard import SocketSwitchboard
from sanderling.server.members.switchboard import ClientLine
from sanderling.server.opening import new_archives, socket_in
from sanderling.server.requests.control import Control
from sanderling.settings import Settings
from tests.server.crawl_of_one import CrawlOfOne
from tests.waiting import until

NAME = "aaaaaaaaaaaa"


class Heard:
    """A switchboard that only remembers what was said."""

    def __init__(self) -> None:
        self.lines: list[ClientLine] = []
        self.said: list[object] = []

    def send(self, line: ClientLine, message: object) -> None:
        self.said.append(message)

    def drop(self, line: ClientLine) -> None:
        if line in self.lines:
            self.lines.remove(line)

    def close(self) -> None:
        pass


class Crowd:
    """The clients of a crawl of one page, and what they need."""

    def __init__(self, path: Path, size: int, switchboard: object, **settings: object) -> None:
        self.crawl = CrawlOfOne(path, ["http://e.org/"], **settings)
        (path / "warc").mkdir()
        new_archives(path / "warc", path).mkdir(exist_ok=True)
        parts = self.crawl.parts
        self.control = Control(self.crawl.settings, path / "sanderling.toml", parts.frontier)

        def client(name: str) -> list[str]:
            return entry_points.command("client", name, socket_in(path), path / "warc", marker_path(path, name))

        crew = LocalCrew(size, client, path)
        self.clients = Clients(
            crew, switchboard, self.crawl.store, parts.ledger, parts.frontier, self.control, path / "warc",
        )  # type: ignore[arg-type]  # fmt: skip

    def close(self) -> None:
        self.clients.disband(0.0, set())
        self.crawl.store.close()


@pytest.fixture
def heard() -> Heard:
    return Heard()


@pytest.fixture
def crowd(tmp_path: Path, heard: Heard) -> Iterator[Crowd]:
    with contextlib.closing(Crowd(tmp_path, 0, heard, proxy="http://user:word@proxy.test:1")) as made:
        yield made


def welcomed(crowd: Crowd, heard: Heard, name: str = NAME) -> ClientLine:
    line = ClientLine()
    heard.lines.append(line)
    crowd.clients.welcome(line, Hello(PROTOCOL, name))
    return line


def test_a_client_is_welcomed_with_what_concerns_it(crowd: Crowd, heard: Heard) -> None:
    welcomed(crowd, heard)
    (welcome,) = heard.said
    assert isinstance(welcome, Welcome)
    told = msgspec.json.decode(welcome.settings, type=Settings)
    assert (told.proxy, told.store, told.webhook) == ("http://user:word@proxy.test:1", "", ())
    other = ClientLine()
    heard.lines.append(other)
    crowd.clients.welcome(other, Hello(PROTOCOL + 1, "bbbbbbbbbbbb"))
    assert other not in heard.lines and crowd.clients.connected == 1


def test_a_client_gets_what_it_wants_unless_the_crawl_pauses(crowd: Crowd, heard: Heard) -> None:
    line = welcomed(crowd, heard)
    crowd.clients.feed()
    assert len(heard.said) == 1  # nobody has asked for anything
    crowd.control.follow(Command("pause"))
    crowd.clients.reported(line, VisitReport(NAME, 1, 0.0, 5, [], [], {}))
    crowd.clients.feed()
    assert len(heard.said) == 1
    crowd.control.follow(Command("resume"))
    crowd.clients.feed()
    lease = heard.said[-1]
    assert isinstance(lease, Lease)
    assert [task.url for host in lease.hosts for task in host.tasks] == ["http://e.org/"]
    crowd.clients.recall()
    assert isinstance(heard.said[-1], Recall)
    (state,) = crowd.clients.states()
    assert (state.name, state.leased, state.pid) == (NAME, 1, 0)
    assert crowd.clients.dismiss() == {NAME}
    assert isinstance(heard.said[-1], Stop)


def test_a_page_that_ends_clients_is_blamed_at_the_second_death(crowd: Crowd, heard: Heard, tmp_path: Path) -> None:
    for death in range(MOST_DEATHS):
        name = f"{death:012x}"
        line = welcomed(crowd, heard, name)
        crowd.clients.reported(line, VisitReport(name, 1, 0.0, 5, [], [], {}))
        crowd.clients.feed()
        lease = heard.said[-1]
        assert isinstance(lease, Lease), f"the page came back after death {death}"
        Marker(marker_path(tmp_path, name)).write(lease.hosts[0].tasks[0].id)
        crowd.clients.lose([line])
    assert crowd.crawl.states() == {"http://e.org/": State.FAILED}
    assert len(crowd.clients.set_aside) == 1
    assert crowd.crawl.parts.ledger.counts.failed == 1


def test_a_client_that_stands_still_is_replaced(tmp_path: Path) -> None:
    """Long before its silence would tell, and no page is blamed for it."""
    switchboard = SocketSwitchboard(socket_in(tmp_path))
    with contextlib.closing(switchboard), contextlib.closing(Crowd(tmp_path, 1, switchboard)) as crowd:
        clients = crowd.clients

        def serve() -> int:
            arrived, lost = switchboard.poll(0.05)
            for line, message in arrived:
                line.heard = time.monotonic()
                if isinstance(message, Hello):
                    clients.welcome(line, message)
            clients.lose(lost)
            return clients.connected

        clients.start()
        until(serve)
        (first,) = clients.states()
        os.kill(first.pid, signal.SIGSTOP)
        (line,) = switchboard.lines
        line.heard -= 3.0
        until(lambda: clients._crew.is_stopped(first.name))
        for _ in range(LOOKS - 1):
            clients.replace_dead(-1e9)
        assert clients.replaced == 0  # it may be for a moment only
        clients.replace_dead(-1e9)
        assert (clients.replaced, clients.connected, clients.set_aside) == (1, 0, [])
        with pytest.raises(ProcessLookupError):
            os.kill(first.pid, 0)
        until(serve)
        (second,) = clients.states()
        assert second.name != first.name
