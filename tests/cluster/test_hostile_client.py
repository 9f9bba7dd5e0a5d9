"""A client that lies harms its own leases only, whatever line it is on."""

import os
import select
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from msgspec.structs import replace

from sanderling.client.line import ServerLine
from sanderling.client.socket_line import SocketLine
from sanderling.model import PROTOCOL, Hello, HostNote, Lease, Outcome, Task, Visit, VisitReport
from sanderling.model.messages import Found
from sanderling.processes.crew import new_name
from sanderling.testing import SyntheticWeb
from sanderling.urls import identity
from tests.conftest import FAST, PATIENT, started, stored_urls
from tests.test_lines import Lines, lines, welcomed  # noqa: F401  # a fixture
from tests.waiting import PATIENCE, until


def lies(name: str, mine: list[Task], others: list[int]) -> list[VisitReport]:
    """Reports of things that the client was not given, or that cannot be."""
    out = "http://elsewhere.example/trap"
    task = mine[0]

    def of(visits: list[Visit], returned: Sequence[int] = ()) -> VisitReport:
        return VisitReport(name, 1, time.monotonic(), 0, visits, [], {}, list(returned))

    return [
        of([Visit(id=other, outcome=Outcome.GONE, status=404) for other in others]),  # pages that others hold
        of([Visit(id=identity(out), outcome=Outcome.PAGE, status=200, size=9)]),  # a page that nobody wants
        of([], others),  # returns what it does not have
        of([Visit(id=task.id, outcome=Outcome.RETRY, found=[Found(identity(out), out, "")])]),
        VisitReport(name, 2, time.monotonic(), 0, [], [HostNote("http://elsewhere.example", None, 1e12, 1e9)], {}),
    ]


def test_a_hostile_client_of_a_running_crawl(tmp_path: Path) -> None:
    """It joins a crawl, takes a lease, lies about everything and leaves: every page is stored once,
    and no other one.
    """
    folder = tmp_path / "crawl"
    with SyntheticWeb(hosts=1, pages=1000, seed=3).serve() as site:
        site.hold(after=100)
        arguments = ("crawl", site.url, "-d", folder, *FAST, *PATIENT, "--clients", 1, "--retry-wait", "0.1s")
        with started(*arguments) as process:
            until(lambda: site.held and (folder / "sanderling.socket").exists())
            with closing(SocketLine(os.path.realpath(folder / "sanderling.socket"))) as line:
                name = new_name()
                assert line.introduce(Hello(PROTOCOL, name)) is not None
                line.tell(VisitReport(name, 1, time.monotonic(), 50, [], [], {}))
                site.release()  # now the other client makes room
                mine = until(lambda: taken(line))
                everything = {identity(url) for url in site.direct.reachable(0)} - {task.id for task in mine}
                for number, lie in enumerate(lies(name, mine, sorted(everything)), 2):
                    line.tell(replace(lie, number=number))
            process.communicate(timeout=PATIENCE)
        assert process.returncode == 0
        assert Counter(stored_urls(folder)) == Counter(site.direct.reachable(0))
        assert not any("elsewhere" in url for url in site.requests)


def taken(line: ServerLine) -> list[Task]:
    heard = [message for message in line.hear() or () if isinstance(message, Lease)]
    return [task for lease in heard for host in lease.hosts for task in host.tasks]


def test_a_size_that_cannot_be_is_not_taken_in(lines: Lines) -> None:  # noqa: F811
    name = new_name()
    client, line = welcomed(lines, name)
    client.tell(VisitReport(name, 1, 0.0, 0, [Visit(id=1, outcome=Outcome.PAGE, size=-(1 << 40))], [], {}))

    def over() -> bool:
        arrived, lost = lines.switchboard.poll(0.1)
        assert not arrived
        return line in lost or dropped(client)

    until(over)


def dropped(client: ServerLine) -> bool:
    """Whether the machine of a client was told to end it."""
    if not select.select([client.fileno()], [], [], 0.0)[0]:
        return False
    try:
        return client.hear() is None
    except ConnectionError:
        return True
