"""A relay: the client's side upward, the server's side downward.

It takes large leases, divides them among its children (`division`), merges their reports into
larger ones, and sends only URLs that it has not sent before. What its children archived is in its
own archive by the time their report is here (`relay_archive`), and its machine sends that upward
like the archive of a client. While the line upward is away, it goes on with what it holds, and its
reports wait on the disk (`outbox`).
"""

import select
import time
from collections.abc import Callable, Iterable

import msgspec
from msgspec.structs import replace

from sanderling.client.line import ServerLine
from sanderling.clock import RemoteClock, apart
from sanderling.cluster.crew import ClusterCrew
from sanderling.cluster.division import Division
from sanderling.cluster.messages import Below, Charge
from sanderling.cluster.outbox import Outbox
from sanderling.cluster.switchboard import ClusterSwitchboard
from sanderling.model import (
    PROTOCOL,
    Found,
    Hello,
    HostNote,
    Kind,
    MachineState,
    Recall,
    Stop,
    Visit,
    VisitReport,
    Welcome,
)
from sanderling.server.members.client_time import moved_note
from sanderling.server.members.crew import reap_silent, with_holdings
from sanderling.server.members.switchboard import ClientLine
from sanderling.settings import Settings

BATCH = 400  # visits
REPORT_AFTER = 0.25
LONGEST_SILENCE = 1.0
TICK = 0.2
# A child that says nothing for so long is ended.
LONGEST_CHILD_SILENCE = 60.0
# How long children have for their last reports, of the second and a half that a server waits.
LAST_WORDS = 1.0
# It holds work for as many connections again as its children have, so that none waits for the line
# upward.
STOCK = 2
# With more URLs than this for each connection of its children it asks for no more.
MOST_WAITING = 50
# Beyond this many, URLs that were sent are forgotten: then some are sent again.
MOST_KNOWN = 2_000_000


class Relay:
    """One relay, in one thread; `run` returns when it shall end."""

    def __init__(
        self, name: str, welcome: Welcome, line: ServerLine, outbox: Outbox, switchboard: ClusterSwitchboard,
        crew: ClusterCrew, charge: Callable[[], Charge],
    ) -> None:  # fmt: skip
        """`charge` says what it is given at the moment."""
        self._name = name
        self._welcome = welcome
        self._clock_apart = apart(welcome.now)
        self._settings = msgspec.json.decode(welcome.settings, type=Settings)
        self._line = line
        self._parent_clock = RemoteClock()
        self._outbox = outbox
        self._switchboard = switchboard
        self._crew = crew
        self._charge = charge
        self._division = Division(self._settings)
        self._encode = msgspec.msgpack.Encoder().encode
        self._wants: dict[ClientLine, int] = {}
        self._sent: set[int] = set()  # URLs that the parent knows from here
        self._visits: list[Visit] = []
        self._notes: list[HostNote] = []
        self._returned: list[int] = []
        self._messages: list[str] = []
        self._warcs: dict[str, int] = {}
        self._number = 0
        self._told_at = self._ticked_at = self._shown_at = 0.0
        crew.on_message = self._messages.append

    def run(self) -> bool:
        """Works until the parent says stop. True when every child has ended before it returns."""
        self._crew.fill()
        self._tell()
        while self._next():
            self._serve()
            self._tick()
            self._report()
        return self._leave()

    # ---- upward

    def _next(self) -> bool:
        """Waits for the parent or the children. False when the parent says stop."""
        if self._outbox.broken:
            raise ConnectionResetError("the parent is gone")
        poll = select.poll()
        for descriptor in (self._line.fileno(), self._switchboard.fileno()):
            poll.register(descriptor, select.POLLIN)
        until = min(self._ticked_at + TICK, self._told_at + (REPORT_AFTER if self._visits else LONGEST_SILENCE))
        ready = [descriptor for descriptor, _ in poll.poll(max(0.0, until - time.monotonic()) * 1000)]
        if self._line.fileno() not in ready:
            return True
        messages = self._line.hear()
        for message in messages or ():
            if isinstance(message, Recall):
                self._returned += self._division.recall()
                for line in self._wants:
                    self._switchboard.send(line, message)
                self._tell()
            else:
                self._division.add(message, self._parent_clock.hear(message.clock, time.monotonic()))
        return messages is not None

    def _report(self) -> None:
        """Says what came of visits, in batches; at once when children wait for work."""
        silent = time.monotonic() - self._told_at
        starving = self._visits and not self._division.waiting
        enough = REPORT_AFTER / 5 if starving else REPORT_AFTER if self._visits else LONGEST_SILENCE
        if silent >= enough or len(self._visits) >= BATCH:
            self._tell()

    def _tell(self) -> None:
        self._told_at = time.monotonic()
        self._number += 1
        report = VisitReport(
            self._name, self._number, time.monotonic(), self._want(), self._visits, self._notes, self._warcs,
            self._returned, list(self._messages),
        )  # fmt: skip
        frame = self._encode(report)
        if self._visits or self._notes or self._returned or self._warcs or self._messages:
            self._outbox.keep(frame)
        elif self._outbox.idle:
            self._outbox.mention(frame)
        self._visits, self._notes, self._returned, self._warcs = [], [], [], {}
        self._messages.clear()

    def _want(self) -> int:
        """How many more connections it could keep busy: the parent gives many URLs of a host, and
        each host keeps only a few connections busy."""
        connections = self._crew.size * self._settings.connections
        if self._division.waiting > MOST_WAITING * connections:
            return 0
        return max(0, STOCK * connections - self._division.usable)

    def _machines(self) -> list[MachineState]:
        return with_holdings(self._crew.machines, self._crew.level, self._wants, self._division.holdings())

    # ---- downward

    def _serve(self) -> None:
        """Takes in what has arrived, and feeds the children."""
        arrived, lost = self._switchboard.poll(0.0)
        for line, message in arrived:
            line.heard = time.monotonic()
            if isinstance(message, Hello):
                self._welcome_child(line, message)
            elif isinstance(message, VisitReport):
                self._take_in(line, message)
        self._lose(lost)
        for line, want in self._wants.items():
            if want > 0 and (lease := self._division.lease(line.client, want)) is not None:
                self._wants[line] = want - sum(len(part.tasks) for part in lease.hosts)
                self._switchboard.send(line, lease)

    def _welcome_child(self, line: ClientLine, hello: Hello) -> None:
        if hello.protocol != PROTOCOL:
            self._switchboard.drop(line)
            return
        self._division.join(hello.client, line.place, line.clients)
        self._wants[line] = 0
        self._switchboard.send(line, replace(self._welcome, now=time.time() + self._clock_apart))

    def _take_in(self, line: ClientLine, report: VisitReport) -> None:
        by = line.clock.hear(report.clock, time.monotonic())
        report = replace(report, hosts=[moved_note(note, by) for note in report.hosts])
        visits, returned = self._division.report(line.client, report)
        self._visits += [self._with_new(replace(visit, at=visit.at + by)) for visit in visits]
        self._notes += report.hosts
        self._returned += returned
        self._messages += [each for each in report.messages if each not in self._messages]
        self._warcs |= report.warcs
        self._wants[line] = report.want
        if visits:
            self._crew.succeeded(line.client)

    def _with_new(self, visit: Visit) -> Visit:
        """A visit with the URLs that the parent does not know from here. Entries of sitemaps and
        feeds are always news."""
        if len(self._sent) > MOST_KNOWN:
            self._sent.clear()
        found = [each for each in visit.found if each.id not in self._sent or _is_entry(each)]
        self._sent.update(each.id for each in visit.found)
        return visit if len(found) == len(visit.found) else replace(visit, found=found)

    def _lose(self, lines: Iterable[ClientLine]) -> None:
        for line in lines:
            self._switchboard.drop(line)
            if self._wants.pop(line, None) is not None:
                suspect = self._crew.marked(line.client)
                self._crew.reap(line.client)
                self._visits += self._division.leave(line.client, suspect)

    def _tick(self) -> None:
        now = time.monotonic()
        if now - self._ticked_at < TICK:
            return
        self._ticked_at = now
        self._crew.entrust(self._charge())
        for line in self._wants:
            if line.heard < now - LONGEST_CHILD_SILENCE and not line.away:
                self._crew.end(line.client)
        reap_silent(self._crew, self._wants)
        self._crew.fill()
        if now - self._shown_at >= LONGEST_SILENCE and self._outbox.idle:
            self._shown_at = now
            self._outbox.mention(self._encode(Below(self._name, self._machines())))

    def _leave(self) -> bool:
        """Takes the last reports of the children, and sends them up."""
        for line in self._wants:
            self._switchboard.send(line, Stop())
        deadline = time.monotonic() + LAST_WORDS
        while self._wants and time.monotonic() < deadline:
            select.select([self._switchboard], [], [], 0.05)
            arrived, lost = self._switchboard.poll(0.0)
            for line, message in arrived:
                if isinstance(message, VisitReport) and line in self._wants:
                    self._take_in(line, message)
            for line in lost:
                self._wants.pop(line, None)
        self._tell()
        return self._outbox.close(LAST_WORDS) and not self._wants


def _is_entry(found: Found) -> bool:
    return found.kind != Kind.PAGE or found.modified > 0
