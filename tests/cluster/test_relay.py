"""A relay between a server and real clients, without an engine: leases down, reports and archives
up."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest

from sanderling.client.socket_line import SocketLine
from sanderling.client.warc_writer import WarcWriter
from sanderling.cluster import machine as machine_module
from sanderling.cluster.crew import ClusterCrew
from sanderling.cluster.division import Division
from sanderling.cluster.engine import ClusterNode
from sanderling.cluster.levels import Shape
from sanderling.cluster.link import Waits
from sanderling.cluster.messages import ArchivePiece, Charge, MachineTerms
from sanderling.cluster.outbox import Outbox, left_in
from sanderling.cluster.pieces import Packer
from sanderling.cluster.relay import Relay
from sanderling.cluster.relay_archive import RelayArchive, RelayLanding
from sanderling.cluster.spool import Spool
from sanderling.cluster.switchboard import ClusterSwitchboard
from sanderling.model import (
    PROTOCOL,
    Hello,
    HostLease,
    Lease,
    Outcome,
    Recall,
    Stop,
    Stored,
    Task,
    Visit,
    VisitReport,
    Welcome,
)
from sanderling.processes.crew import new_name
from sanderling.repository import warc
from sanderling.server.members.socket_switchboard import SocketSwitchboard
from sanderling.server.members.switchboard import ClientLine
from sanderling.settings import Settings
from sanderling.testing import ServedWeb, SyntheticWeb
from sanderling.urls import identity
from tests.cluster.local_machine import HERE, LocalMachine, switchboard_in
from tests.cluster.test_archives_on_the_way import exchange
from tests.waiting import until


class LocalEngine:
    """An engine with this machine alone."""

    nodes = (HERE,)
    head = ""
    silence = 0.0
    cut_off = False

    def __init__(self, undo: ExitStack) -> None:
        self._undo = undo

    def start(self, node: ClusterNode, terms: bytes) -> LocalMachine:
        made = LocalMachine(msgspec.msgpack.decode(terms, type=MachineTerms))
        self._undo.callback(made.close)
        return made


class Tree(NamedTuple):
    """A server's end of the line to a relay, and what is below the relay."""

    switchboard: SocketSwitchboard
    line: ClientLine
    place: Path  # the archive of the relay
    line_upward: threading.Event  # set while it is there
    reports: list[VisitReport]

    def lease(self, urls: list[str]) -> None:
        hosts: dict[str, list[Task]] = {}
        for url in urls:
            hosts.setdefault("/".join(url.split("/", 3)[:3]), []).append(Task(identity(url), url, 0, 0, 0))
        now = time.monotonic()
        leases = [HostLease(origin, 1, now, True, None, tasks) for origin, tasks in hosts.items()]
        self.switchboard.send(self.line, Lease(now, leases))

    def hear(self, enough: Callable[[], object]) -> None:
        """Takes reports until there are enough."""

        def step() -> object:
            arrived, _ = self.switchboard.poll(0.05)
            self.reports.extend(message for _, message in arrived if isinstance(message, VisitReport))
            return enough()

        until(step)

    @property
    def visits(self) -> list[Visit]:
        return [visit for report in self.reports for visit in report.visits]


@contextmanager
def tree(folder: Path, site: ServedWeb, clients: int = 2) -> Iterator[Tree]:
    settings = Settings(
        delay=0.0, per_host=4, proxy=site.proxy, ignore_robots=True, render="never", cluster_patience=60.0
    )
    (place := folder / "relay").mkdir()
    name, line_upward = new_name(), threading.Event()
    line_upward.set()
    with ExitStack() as undo:
        switchboard = undo.enter_context(closing(SocketSwitchboard(folder / "s")))
        up = undo.enter_context(closing(SocketLine(str(folder / "s"))))
        welcomed: list[Welcome | None] = []
        greeting = threading.Thread(target=lambda: welcomed.append(up.introduce(Hello(PROTOCOL, name))))
        greeting.start()
        ((line, _),) = until(lambda: switchboard.poll(0.1)[0])
        switchboard.send(line, Welcome(msgspec.json.encode(settings)))
        greeting.join()
        (welcome,) = welcomed
        assert welcome is not None

        def say(frame: bytes) -> None:
            line_upward.wait()
            if msgspec.msgpack.decode(frame)["type"] != "Below":  # that is for the switchboard of a cluster
                up.pass_on(frame)

        archive, engine = undo.enter_context(closing(RelayArchive(place, name))), LocalEngine(undo)
        below = undo.enter_context(closing(ClusterSwitchboard(lambda child: RelayLanding(archive, child))))
        charge = Charge(HERE.id, 1, clients, [])
        crew = ClusterCrew(clients, engine, below, Shape.of(settings, folder), charge)  # type: ignore[arg-type]
        relay = Relay(name, welcome, up, Outbox(folder / "outbox", say), below, crew, lambda: charge)
        running = threading.Thread(target=relay.run)
        running.start()
        try:
            yield Tree(switchboard, line, place, line_upward, [])
        finally:
            line_upward.set()
            switchboard.send(line, Stop())
            until(lambda: switchboard.poll(0.05) and not running.is_alive())


def test_a_relay_brings_what_it_was_leased_once(tmp_path: Path) -> None:
    """Each page with its content, and each new URL once."""
    web = SyntheticWeb(hosts=6, pages=120, seed=5)
    with web.serve() as site, tree(tmp_path, site) as below:
        urls = sorted(web.pages_at(0))
        below.lease(urls[::2])
        below.lease(urls[1::2])
        below.hear(lambda: len(below.visits) >= len(urls))
        assert Counter(visit.id for visit in below.visits) == Counter(map(identity, urls))
        assert {visit.outcome for visit in below.visits} == {Outcome.PAGE}
        found = Counter(each.id for visit in below.visits for each in visit.found)
        assert found and set(found.values()) == {1}
        for visit in below.visits:
            assert visit.stored is not None
            assert len(warc.read(below.place, visit.stored).body) == visit.size
        assert max(site.requests.values()) == 1
        assert len(below.reports) < 120


def test_while_the_line_upward_is_away_a_relay_goes_on_and_keeps_its_reports(tmp_path: Path) -> None:
    web = SyntheticWeb(hosts=4, pages=60, seed=6)
    with web.serve() as site, tree(tmp_path, site) as below:
        urls = sorted(web.pages_at(0))
        below.hear(lambda: below.reports)  # it is there
        below.line_upward.clear()
        below.lease(urls)
        until(lambda: len(site.requests) == len(urls))
        below.hear(lambda: list(left_in(tmp_path / "outbox")))
        assert not below.visits
        below.line_upward.set()
        below.hear(lambda: len(below.visits) >= len(urls))
        numbers = [report.number for report in below.reports]
        assert numbers == sorted(set(numbers))
        assert Counter(visit.id for visit in below.visits) == Counter(map(identity, urls))
        until(lambda: not list(left_in(tmp_path / "outbox")))


def test_a_relay_gives_back_what_nobody_began(tmp_path: Path) -> None:
    web = SyntheticWeb(hosts=4, pages=60, seed=7)
    with web.serve() as site, tree(tmp_path, site) as below:
        site.hold(after=0)
        below.lease(urls := sorted(web.pages_at(0)))
        until(lambda: site.held)
        below.switchboard.send(below.line, Recall())
        below.hear(lambda: [id for report in below.reports for id in report.returned])
        site.release()

        def returned() -> list[int]:
            return [id for report in below.reports for id in report.returned]

        below.hear(lambda: len(below.visits) + len(returned()) >= len(urls))
        assert Counter([*returned(), *(visit.id for visit in below.visits)]) == Counter(map(identity, urls))


# ---- its archive


def test_archives_of_children_become_one(tmp_path: Path) -> None:
    """Reports of several children, also a part that is larger than a piece, in one file that
    rotates."""
    archive = RelayArchive(tmp_path, "f" * 12, rotate_at=20_000)
    names, spools = ["a" * 12, "b" * 12], []
    with ExitStack() as undo:
        landings, writers, packers = {}, {}, {}
        for name in names:
            spool = Spool({})
            undo.callback(spool.close)
            spools.append(spool)
            landings[name], packers[name] = RelayLanding(archive, name), Packer(compress=True)
            writers[name] = undo.enter_context(closing(WarcWriter(spool.warcs, name, place=spool._new)))
        stored: dict[int, Stored] = {}
        for turn in range(6):
            for spool, name in zip(spools, names, strict=True):
                numbers = [turn * 10 + names.index(name) * 5 + n for n in range(3)]
                places = [writers[name].add(exchange(number)) for number in numbers]
                ends = writers[name].flush()
                pieces: list[ArchivePiece] = list(spool.pieces(name, ends, packers[name]))
                for piece in pieces:
                    landings[name].take(piece)
                visits = [Visit(id=n, outcome=Outcome.PAGE, stored=p) for n, p in zip(numbers, places, strict=True)]
                moved = landings[name].check(VisitReport(name, turn, 0.0, 0, visits, [], ends))
                assert moved.warcs == {archive.name: archive.end}
                stored |= {visit.id: visit.stored for visit in moved.visits if visit.stored}
        archive.close()
    assert len({place.warc for place in stored.values()}) > 1
    assert all(place.warc.startswith("f" * 12) for place in stored.values())
    assert {id: warc.read(tmp_path, place).body for id, place in stored.items()} == {
        id: exchange(id).body for id in stored
    }


# ---- what is left of a dead one


def test_a_machine_says_what_its_dead_relay_kept_and_waits_for_those_below(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = """
import pathlib, socket, sys
from msgspec.msgpack import encode
from sanderling.client.socket_line import SocketLine
from sanderling.model import PROTOCOL, Hello, VisitReport
name, place = sys.argv[1], pathlib.Path(sys.argv[2]).parent
line = SocketLine(sys.argv[2])
line.introduce(Hello(PROTOCOL, name))
(place / f"outbox-{name}").mkdir()
for number in (3, 1, 2):
    (place / f"outbox-{name}" / f"{number:09d}").write_bytes(encode(VisitReport(name, number, 0.0, 0, [], [], {})))
sys.exit(1)
"""
    command = machine_module.entry_points.command
    monkeypatch.setattr(
        machine_module.entry_points, "command",
        lambda name, *words: [command("command")[0], "-c", script, *map(str, words)],
    )  # fmt: skip
    linger = 1.5
    with (
        closing(LocalMachine(MachineTerms(60.0, linger=linger, head="x"))) as machine,
        closing(switchboard_in(tmp_path)) as switchboard,
    ):
        link = switchboard.open(HERE, machine, Waits(60.0, 60.0, relay=True))
        link.charge = Charge(HERE.id, 1, 2, [])
        link.start(new_name(), "here")
        ((line, _),) = until(lambda: switchboard.poll(0.1)[0])
        assert line.clients == 2
        said: list[int] = []
        switchboard.send(line, Welcome(b"{}"))
        begun = time.monotonic()
        while not (lost := (polled := switchboard.poll(0.1))[1]):
            said += [message.number for _, message in polled[0] if isinstance(message, VisitReport)]
        assert (lost, said) == ([line], [1, 2, 3])
        assert time.monotonic() - begun >= linger


# ---- what it asks for


def test_a_host_with_many_urls_does_not_stand_for_many_connections() -> None:
    """A relay that counted URLs asked for nothing while its clients worked on one host."""
    division = Division(Settings(delay=0.0))
    long = [Task(number, f"http://long.test/{number}", 0, 0, 0) for number in range(1, 41)]
    division.add(Lease(0.0, [HostLease("http://long.test", 1, 0.0, True, None, long)]), 0.0)
    assert (division.waiting, division.usable) == (40, 1)
    short = [
        HostLease(f"http://s{n}.test", 1, 0.0, True, None, [Task(100 + n, f"http://s{n}.test/", 0, 0, 0)])
        for n in range(3)
    ]
    division.add(Lease(0.0, short), 0.0)
    assert division.usable == 4
    division.join("one", "", 1)
    lease = division.lease("one", 4)
    assert lease is not None and len(lease.hosts) == 4
