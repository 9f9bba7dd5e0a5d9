"""The clients of a running crawl: welcomed, fed with leases, recalled, and replaced when they
die."""

import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import msgspec

from sanderling.model import (
    PROTOCOL,
    ClientState,
    Hello,
    Kind,
    MachineState,
    Recall,
    State,
    Stop,
    Task,
    VisitReport,
    Welcome,
)
from sanderling.model.reasons import reason
from sanderling.repository import archives
from sanderling.repository.store import Store
from sanderling.server.frontier.frontier import Frontier
from sanderling.server.frontier.ledger import Ledger
from sanderling.server.frontier.transition import Transition, record
from sanderling.server.intake import refused_logins
from sanderling.server.members.client_time import lease_of
from sanderling.server.members.crew import Crew, reap_silent, with_holdings
from sanderling.server.members.sizing import Sizing
from sanderling.server.members.switchboard import ClientLine, Switchboard
from sanderling.server.requests.control import Control
from sanderling.settings import revealed

# A client that says nothing for so long hangs in a parser; it is ended and replaced.
LONGEST_SILENCE = 60.0
# A client says something every second. One that does not is looked at, and if it stands still for
# this many looks in a row (Ctrl-Z stops the server, too, which then does not look), it is ended and
# replaced.
SILENCE, LOOKS = 2.0, 5
# A page that was being parsed when this many clients died is set aside.
MOST_DEATHS = 2


class Clients:
    """Knows who is connected, what each wants and what each was doing when it died."""

    def __init__(
        self, crew: Crew, switchboard: Switchboard, store: Store, ledger: Ledger, frontier: Frontier,
        control: Control, warcs: Path, topic: bytes = b"", sizing: Sizing | None = None,
    ) -> None:  # fmt: skip
        """`crew` are those that this server starts; others may join. `topic` is what they are told
        about the topic."""
        self._topic = topic
        self._sizing = sizing  # if how many are wanted follows from the work
        self._best = 0.0  # pages a second that one was seen to do
        self._switchboard = switchboard
        self._store = store
        self._ledger = ledger
        self._allocator = frontier.leases
        self._frontier = frontier
        self._control = control
        self._warcs = warcs
        self._crew = crew
        self._wants: dict[ClientLine, int] = {}
        self._deaths_at: Counter[int] = Counter()
        self._stood_still: Counter[str] = Counter()  # looks, in a row
        self._leaving = False
        self.set_aside: list[int] = []

    @property
    def connected(self) -> int:
        return len(self._wants)

    @property
    def replaced(self) -> int:
        """How many died."""
        return self._crew.replaced

    @property
    def machines(self) -> list[MachineState]:
        """Where those of a cluster run."""
        return with_holdings(self._crew.machines, 1, self._wants, self._allocator.holdings())

    @property
    def wanted_because(self) -> str:
        """How many are wanted, and why; empty when the user said how many."""
        return self._sizing.why if self._sizing is not None else ""

    def states(self) -> list[ClientState]:
        """How each is doing."""
        now, held = time.monotonic(), self._allocator.holdings()
        return [self._state(line, held[line.client], now) for line in self._wants]

    # ---- while they work

    def start(self) -> None:
        """Starts those that are missing."""
        self._crew.fill()

    def welcome(self, line: ClientLine, hello: Hello) -> None:
        if hello.protocol != PROTOCOL or self._leaving:
            self._switchboard.drop(line)
            return
        line.client = hello.client
        self._allocator.join(hello.client, line.place, line.clients)
        self._wants[line] = 0
        # Clients do not need to know where the state is kept, who is told of changes and which
        # sites are reserved.
        settings = msgspec.structs.replace(
            revealed(self._control.settings),
            store="",
            webhook=(),
            notify=(),
            take_at=(),
            watch=tuple(msgspec.structs.replace(each, notify=()) for each in self._control.settings.watch),
        )
        refused = refused_logins.refused(self._store, self._control.settings)
        self._switchboard.send(line, Welcome(msgspec.json.encode(settings), self._topic, refused, time.time()))

    def reported(self, line: ClientLine, report: VisitReport) -> None:
        """Takes note of how a client is doing by its report, which has been taken in."""
        line.visits += len(report.visits)
        if line.clients != self._allocator.clients_of(line.client):  # a relay has more or fewer now
            self._allocator.weigh(line.client, line.place, line.clients)
        self._wants[line] = report.want
        if report.visits:
            self._crew.succeeded(line.client)

    def feed(self) -> None:
        """Gives clients what they want and the limits allow."""
        if self._leaving or self._control.paused:
            return
        for line, want in list(self._wants.items()):
            if want > 0 and (hosts := self._frontier.lease(line.client, want)):
                self._wants[line] = want - sum(len(part.tasks) for part in hosts)
                self._switchboard.send(line, lease_of(hosts))

    def recall(self) -> None:
        """Has clients give back what they have not begun."""
        for line in self._wants:
            self._switchboard.send(line, Recall())

    # ---- when they die

    def replace_dead(self, back_since: float) -> None:
        """Loses clients that hang or ended, and starts others. Silence before `back_since` was not
        theirs."""
        latest = time.monotonic() - LONGEST_SILENCE
        lines = list(self._switchboard.lines)
        silent = [line for line in lines if line.client and max(line.heard, back_since) < latest and not line.away]
        self.lose(line for line in silent if self._crew.end(line.client))
        self.lose(self._standing_still(), blame=False)
        reap_silent(self._crew, self._switchboard.lines)
        self._resize()
        self._crew.fill()
        if back_since < latest:
            overdue = self._allocator.expired(time.monotonic())
            late = [line for line in self._switchboard.lines if line.client in overdue and not line.away]
            self.lose(line for line in late if self._crew.end(line.client))

    def _resize(self) -> None:
        """Follows the work, if the user gave a range."""
        if self._sizing is not None and self._sizing.due():
            paces = self._allocator.paces.items()
            each = (pace.visits_per_second / self._allocator.clients_of(client) for client, pace in paces)
            self._best = max(self._best, *each, 0.0)
            waiting, hosts = self._frontier.waiting, self._allocator.hosts
            self._crew.resize(self._sizing.step(waiting, hosts, self._allocator.allowed_rate(), self._best))

    def _standing_still(self) -> list[ClientLine]:
        """Clients that somebody stopped. Their hosts would wait for them."""
        silent = [line for line in self._wants if time.monotonic() - line.heard > SILENCE]
        looks = {
            line.client: self._stood_still[line.client] + 1 for line in silent if self._crew.is_stopped(line.client)
        }
        self._stood_still = Counter(looks)
        return [line for line in silent if looks.get(line.client, 0) >= LOOKS]

    def lose(self, lines: Iterable[ClientLine], blame: bool = True) -> None:
        """Takes back what clients held that are gone. The page at which one died is to `blame`."""
        for line in lines:
            self._switchboard.drop(line)
            if self._wants.pop(line, None) is not None and not self._leaving:
                suspect = self._crew.marked(line.client)
                self._crew.reap(line.client)
                archives.set_aside(self._warcs, self._store.warcs(), line.client)
                self._allocator.leave(line.client, self._blame(line.client, suspect) if blame else 0)

    def dismiss(self) -> set[str]:
        """Tells all to report what is finished and to leave; returns those that are at work."""
        self._leaving = True
        for line in self._switchboard.lines:
            self._switchboard.send(line, Stop())
        return {line.client for line in self._wants}

    def disband(self, patience: float, at_work: set[str]) -> None:
        """Ends those that do not leave by themselves."""
        self._crew.disband(patience, at_work)

    def _blame(self, client: str, suspect: int) -> int:
        """The page that ended its client more than once, which is set aside; 0 for none."""
        task = self._allocator.held(client, suspect) if suspect else None
        if task is None:
            return 0
        self._deaths_at[suspect] += 1
        if self._deaths_at[suspect] < MOST_DEATHS:
            return 0
        set_aside(task, self._store, self._ledger)
        self.set_aside.append(task.id)
        return suspect

    def _state(self, line: ClientLine, held: int, now: float) -> ClientState:
        pace = self._allocator.paces[line.client]
        return ClientState(
            line.client, self._crew.pid(line.client), held, line.visits, now - line.heard, pace.visits_per_second,
            pace.bytes_per_second, pace.failing, pace.late, pace.share, line.machine,
        )  # fmt: skip


def set_aside(task: Task, store: Store, ledger: Ledger) -> None:
    """Gives up a page that no client may touch again."""
    state, before = State(store.known([task.id])[task.id][1]), store.before([task.id]).get(task.id)

    def count(ledger: Ledger) -> None:
        if task.kind == Kind.PAGE:
            ledger.set_aside(state, before)
        elif task.kind == Kind.REQUISITE:
            ledger.requisite_moved(state, State.FAILED)

    given_up = Transition(also=count)
    why = reason("set-aside")
    record(given_up, store, ledger, write=lambda _moves, _hosts, counts: store.set_aside(task.id, why, counts))
