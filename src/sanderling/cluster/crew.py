"""Keeps the wanted number of clients alive on the machines of a cluster, whichever there are."""

import time
from collections import Counter
from collections.abc import Callable, Set

from sanderling import __version__
from sanderling.cluster.credentials import Revoked
from sanderling.cluster.engine import HEAD_WAIT, ClusterNode, Engine
from sanderling.cluster.levels import Branch, Shape, branches, capacity, left_out
from sanderling.cluster.link import MachineLink
from sanderling.cluster.messages import CLUSTER_PROTOCOL, Charge, Greeting, encode
from sanderling.cluster.placement import placed
from sanderling.cluster.switchboard import ClusterSwitchboard
from sanderling.errors import RunFailed
from sanderling.model import MachineState, Stop
from sanderling.processes.crew import AT_ONCE, HOPELESS, NO_ROOM, new_name

# A machine on which nothing works is tried again after this many seconds.
AGAIN_AFTER = 60.0
# For this many seconds, clients of a machine that is starting are not started elsewhere.
BEGINS_WITHIN = 20.0
# How often the user is told that no machine can be reached, in seconds.
WAITING_EVERY = 60.0
# The user is told of a head that is silent for this many seconds.
SILENT_HEAD = 10.0


class MachineClient:
    """A client that was started on a machine."""

    def __init__(self, link: MachineLink, slot: int) -> None:
        self.link = link
        self.slot = slot
        self.started = time.monotonic()
        self.leaving = False


class ClusterCrew:
    """The clients of a crawl on a cluster."""

    def __init__(
        self, size: int, engine: Engine, switchboard: ClusterSwitchboard, shape: Shape, charge: Charge | None = None
    ) -> None:
        """`charge` is what a relay is given; the server has all machines."""
        self.size = size
        self._engine = engine
        self._switchboard = switchboard
        self._shape = shape
        self._charge = charge
        self._branches: dict[str, Branch] = {}  # by the id of their machine
        self._members: dict[str, MachineClient] = {}
        self._deaths_in_a_row: Counter[str] = Counter()
        self._not_before: dict[str, float] = {}  # when a machine may be tried again, by its id
        self._refused: dict[
            str, tuple[str, str]
        ] = {}  # the name of a machine that cannot take part, and why, by its id
        self._reached = time.monotonic()  # when a machine was there last
        self._say_at = self._reached + WAITING_EVERY  # that none is there; 0 while one is
        self._had_machines = False
        self._said_silent = False  # of the head
        self._left_out: list[str] = []  # machines that the tree has no room for
        self._notes: dict[str, str] = {}  # what is wrong with machines
        self._plan: dict[str, int] = {}
        self._before: dict[str, tuple[int, int, int]] = {}
        self._revoked = Revoked()
        self.replaced = 0
        self.on_message: Callable[[str], None] = lambda text: None
        switchboard.on_greeting = self._greet
        switchboard.on_lost = self._lose
        switchboard.on_message = lambda text: self.on_message(text)

    def fill(self) -> None:
        """Starts what is missing, where there is room for it, and ends what is too much."""
        self._look_at_head()
        self._revoke()
        self._link_machines()
        begun = time.monotonic() - BEGINS_WITHIN
        links = [
            link for link in self._switchboard.links if link.gone is None and (link.greeted or link.opened > begun)
        ]
        self._say_whether_waiting(bool(links))
        plan = self._plan = placed(self._weights(links), self.size)
        for link in links:
            if link.greeted and link.waits.relay:
                self._set_relay(link, plan.get(link.name, 0))
            elif link.greeted:
                self._set(link, plan.get(link.name, 0))

    def entrust(self, charge: Charge) -> None:
        """From now on, a relay has the machines and clients of the charge."""
        self._charge, self.size = charge, charge.clients

    def resize(self, size: int) -> None:
        self.size = size

    @property
    def machines(self) -> list[MachineState]:
        """Every machine, with the bytes that came from it."""
        clients = Counter(member.link.name for member in self._members.values() if not member.leaving)
        links = self._switchboard.links
        states = [state for link in links for state in (self._state(link, clients), *link.below)]
        linked = {link.name for link in self._switchboard.links}
        others = {
            **dict.fromkeys(self._left_out, f"unused: {self._room}"),
            **self._notes,
            **dict(self._refused.values()),
        }
        return states + [
            MachineState(name, 0, 0, 0.0, name not in self._left_out, why, *self._bytes_of(name), level=self.level)
            for name, why in others.items()
            if name not in linked
        ]

    def _state(self, link: MachineLink, clients: Counter[str]) -> MachineState:
        bodies, archived, sent = map(sum, zip(self._bytes_of(link.name), link.traffic, strict=True))
        return MachineState(
            link.name, self._running(link, clients), self._plan.get(link.name, 0), link.node.weight, link.away,
            self._notes.get(link.name, ""), bodies, archived, sent, self.level, link.waits.relay, 0, link.up, link.down,
        )  # fmt: skip

    @property
    def level(self) -> int:
        """Of its machines."""
        return 1 if self._charge is None else self._charge.level + 1

    def _running(self, link: MachineLink, clients: Counter[str]) -> int:
        """The clients of a machine; those of a relay are on the machines that it serves."""
        if not link.waits.relay:
            return clients[link.name]
        return sum(state.clients for state in link.below if state.level == self.level + 1)

    def _bytes_of(self, name: str) -> tuple[int, int, int]:
        """What came from a machine before it was lost, if it was."""
        return self._before.get(name, (0, 0, 0))

    def pid(self, name: str) -> int:
        """Processes of other machines have no number here."""
        return 0

    def is_stopped(self, name: str) -> bool:
        """Nothing is known of processes on other machines. One that stands still is ended for its
        silence."""
        return False

    def succeeded(self, name: str) -> None:
        if (member := self._members.get(name)) is not None:
            self._deaths_in_a_row.pop(member.link.name, None)

    def exited(self) -> list[str]:
        """Members that ended, whether or not they ever said hello."""
        return [name for name in self._switchboard.ended if name in self._members]

    def end(self, name: str) -> bool:
        """Has a member ended. It is dead only when its machine says so: then its line is lost."""
        if (member := self._members.get(name)) is not None:
            member.link.end(name)
        return False

    def marked(self, name: str) -> int:
        """The page that a dead member was parsing."""
        ended = self._switchboard.ended.get(name)
        return ended.marked if ended is not None else 0

    def reap(self, name: str) -> None:
        """Forgets a member that is dead."""
        member, ended = self._members.pop(name, None), self._switchboard.ended.pop(name, None)
        if member is None or member.leaving:
            return
        self.replaced += 1
        machine = member.link.name
        if ended is not None and ended.code == NO_ROOM:
            self._rest(member.link, f"{machine} has no disk space left for the spool")
            return
        at_once = time.monotonic() - member.started < AT_ONCE
        self._deaths_in_a_row[machine] = self._deaths_in_a_row[machine] + 1 if at_once else 0
        if self._deaths_in_a_row[machine] >= HOPELESS:
            code = ended.code if ended is not None else "unknown"
            self._rest(
                member.link, f"{HOPELESS} clients in a row ended at once on {machine} (the last with code {code})"
            )
            if all(self._rests(link.node) for link in self._switchboard.links):
                raise RunFailed(f"{HOPELESS} client processes in a row ended at once on every machine")

    def disband(self, patience: float, at_work: Set[str]) -> None:
        """All end with their machines, when the switchboard is closed."""
        self._members.clear()

    # ---- machines

    def _look_at_head(self) -> None:
        """The crawl goes on while the head is silent, but not for ever: Ray would end it."""
        if self._engine.cut_off:
            raise RunFailed(
                "stopped: the node of the cluster on this machine ended; start it again, then run the same command to resume"
            )
        silence = self._engine.silence
        if silence > HEAD_WAIT:
            raise RunFailed(
                f"stopped: the head of the cluster has not answered for {HEAD_WAIT:.0f} s; start it again, then run the same "
                "command to resume"
            )
        if (silent := silence > SILENT_HEAD) != self._said_silent and self._charge is None:
            self.on_message(
                f"the head of the cluster does not answer; the crawl goes on without it for {HEAD_WAIT:.0f} s at most"
                if silent
                else "the head of the cluster answers again"
            )
        self._said_silent = silent

    def _link_machines(self) -> None:
        links = {link.node.id: link for link in self._switchboard.links}
        usable = [node for node in self._engine.nodes if self._may_use(node)]
        relays = {id for id, link in links.items() if link.waits.relay}
        depth = self.level - 1
        self._branches = {each.node.id: each for each in branches(usable, self._shape, depth, relays)}
        self._leave_out([node.name for node in left_out(usable, self._branches.values())])
        for node, below in self._branches.values():
            if node.weight and node.id not in links and not self._rests(node):
                relay = bool(below)
                terms = encode(self._shape.terms(relay, self._engine.head if relay else ""))
                self._switchboard.open(
                    self._named_once(node), self._engine.start(node, terms), self._shape.waits(relay)
                )
        self._unlink([link for link in links.values() if not self._fits(link)])

    def _leave_out(self, names: list[str]) -> None:
        """Says how many machines stay unused, whenever that changes."""
        if names and len(names) != len(self._left_out):
            count = "1 machine stays" if len(names) == 1 else f"{len(names):,} machines stay"
            self.on_message(f"{count} unused ({names[0]}{', …' * (len(names) > 1)}): {self._room}")
        self._left_out = names

    @property
    def _room(self) -> str:
        levels, fan_out = self._shape.levels, self._shape.fan_out
        return f"--levels {levels} with --fan-out {fan_out} leaves room for {capacity(levels, fan_out):,}"

    def _may_use(self, node: ClusterNode) -> bool:
        if not node.weight and not node.here:  # where the server is counts, because of its region
            return False
        ours = self._charge is None or node.here or node.id in self._charge.nodes
        return ours and node.id not in self._refused and node.name not in self._revoked.names

    def _fits(self, link: MachineLink) -> bool:
        """Whether a machine is still ours, and still is what it was: a relay or not."""
        branch = self._branches.get(link.node.id)
        return branch is not None and bool(branch.below) == link.waits.relay

    def _unlink(self, links: list[MachineLink]) -> None:
        """Gives up machines that others serve now, as soon as they have no clients any more."""
        for link in links:
            if link.gone is None and not any(member.link is link for member in self._members.values()):
                self._switchboard.links.remove(link)
                link.close()

    def _named_once(self, node: ClusterNode) -> ClusterNode:
        """Two machines of one name would share their hosts."""
        taken, number = {link.name for link in self._switchboard.links}, 1
        found = node
        while found.name in taken:
            number += 1
            found = node._replace(name=f"{node.name}-{number}")
        return found

    def _revoke(self) -> None:
        """Takes no more from machines that the user revoked. Their leases return when they must
        have ended."""
        names = self._revoked.names
        revoked = {node.id for node in self._engine.nodes if node.name in names} if names else ()
        for link in self._switchboard.links:
            if (link.name in names or link.node.id in revoked) and not link.muted:
                link.mute("it was revoked")
                self._notes[link.name] = "it was revoked"
                self.on_message(f"{link.name} was revoked: nothing is taken from it any more")

    def _greet(self, link: MachineLink, greeting: Greeting) -> None:
        if why := _difference(link.name, greeting):
            self._refused[link.node.id] = link.name, why
            self.on_message(f"{why}: it gets no clients")
            return
        link.greeted = True
        self._notes.pop(link.name, None)

    def _lose(self, link: MachineLink, why: str) -> None:
        for name, member in list(self._members.items()):
            if member.link is link and name not in link.lines:  # the others are lost with their lines
                del self._members[name]
        self._not_before[link.node.id] = time.monotonic() + (1.0 if link.greeted else AGAIN_AFTER)
        self._notes.setdefault(link.name, why)
        bodies, archived, sent = self._bytes_of(link.name)
        self._before[link.name] = bodies + link.bodies, archived + link.archived, sent + link.sent
        self.on_message(f"{link.name} is lost: {why}; what it held goes to others")

    def _rest(self, link: MachineLink, why: str) -> None:
        """Leaves a machine alone for a while."""
        self._not_before[link.node.id] = time.monotonic() + AGAIN_AFTER
        self._deaths_in_a_row.pop(link.name, None)
        self._notes[link.name] = why
        self.on_message(f"{why}; it is tried again in {AGAIN_AFTER:.0f} s")

    def _rests(self, node: ClusterNode) -> bool:
        return self._not_before.get(node.id, 0.0) > time.monotonic()

    def _weights(self, links: list[MachineLink]) -> dict[str, float]:
        """The machine of the server keeps a core for the server, when there are others. A relay has
        those below it."""
        usable = [link for link in links if not self._rests(link.node)]
        others = any(not link.node.here and link.node.weight for link in usable)
        return {link.name: self._weight(link, others) if self._fits(link) else 0.0 for link in usable}

    def _weight(self, link: MachineLink, others: bool) -> float:
        own = max(0.0, link.node.weight - 1) if link.node.here and others else link.node.weight
        return own + sum(node.weight for node in self._branches[link.node.id].below)

    def _say_whether_waiting(self, some: bool) -> None:
        now = time.monotonic()
        if some:
            if self._say_at > 0 and self._had_machines:
                self.on_message(f"machines of the cluster are back after {now - self._reached:.0f} s")
            self._reached, self._say_at, self._had_machines = now, 0.0, True
        elif now >= self._say_at:
            since = f" for {now - self._reached:.0f} s" if self._say_at else ""
            self.on_message(
                f"no machine of the cluster can be reached{since}: the crawl waits for one; "
                "`sanderling cluster join` brings one back"
            )
            self._say_at = now + WAITING_EVERY

    def _set(self, link: MachineLink, count: int) -> None:
        """Has `count` clients on a machine."""
        members = {name: each for name, each in self._members.items() if each.link is link and not each.leaving}
        taken = {each.slot for each in members.values()}
        for name in sorted(members, key=lambda name: -members[name].slot)[: max(0, len(members) - count)]:
            members[name].leaving = True
            if name in link.lines:
                self._switchboard.send(link.lines[name], Stop())
            else:
                link.end(name)
        for slot in [slot for slot in range(count) if slot not in taken][: max(0, count - len(members))]:
            name = new_name()
            self._members[name] = MachineClient(link, slot)
            link.start(name, f"{link.name}/{slot}")

    def _set_relay(self, link: MachineLink, clients: int) -> None:
        """Has a relay on a machine, with `clients` clients below it."""
        below = self._branches[link.node.id].below if self._fits(link) else ()
        charge = Charge(link.node.id, self.level, clients, sorted(node.id for node in below))
        names = [name for name, each in self._members.items() if each.link is link and not each.leaving]
        if clients and not names:
            link.charge = charge
        self._set(link, 1 if clients else 0)
        for name in names if clients else ():
            link.entrust(name, charge)


def _difference(machine: str, greeting: Greeting) -> str:
    """Why a machine cannot work for this server; empty if it can."""
    if greeting.sanderling != __version__:
        return f"{machine} runs Sanderling {greeting.sanderling}, and the server {__version__}"
    if greeting.protocol != CLUSTER_PROTOCOL:
        return (
            f"{machine} has another build of Sanderling {__version__} than the server (cluster protocol {greeting.protocol}, "
            f"not {CLUSTER_PROTOCOL}); install the same one"
        )
    return ""
