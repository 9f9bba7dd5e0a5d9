"""Step 5 of a page's life: which client gets which URLs.

A host belongs to one client, found by rendezvous hashing, so that its pause is kept in one place
and few hosts move when clients come and go. They do so at their next lease. Only a host that the
user lifted the limits for is spread over several. When hosts at one address shall be as one
(`by_address`), the address takes the place of the host as soon as it is known. A lease is a note in
memory: the store knows its URLs as queued, so a crash of the server returns every lease by itself,
and the loss of a client returns that client's.
"""

import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Collection, Iterable
from itertools import islice
from typing import NamedTuple, Protocol

from xxhash import xxh3_64_intdigest

from sanderling.model import Host, HostLease, HostNote, HostState, Task, Visit
from sanderling.server.frontier.pace import ClientPace
from sanderling.server.frontier.proximity import FACTOR, machine_of, near_to, places_near
from sanderling.settings import Settings

# A client holds tasks for about this long, so that it never waits for the server and loses little
# when it dies.
STOCK_SECONDS = 10.0
LARGEST_STOCK = 200
# A relay holds more, so that its clients have work while its line to the server is away.
RELAY_STOCK = 3.0
FIRST_STOCK = 4

# A client that has not settled a lease by then is replaced, whatever it says or does, and its
# leases return.
LEASE_SECONDS = 900.0

# How long a page of a host takes is stored again when it has moved by this share and more than
# this, in seconds.
INTERVAL_MOVED, SHORTEST_KEPT = 0.5, 0.1

# A host that has to be left alone for longer is leased when its time comes.
LONGEST_PAUSE = 60.0

# No pause is longer, unless the user or the pace of the host wants it: one that is was noted before
# the clock was set back.
LONGEST_NOTED = 300.0

# Which of some places a host, or an address, belongs to.
Assignment = Callable[[str, Collection[str]], str]
StockLimit = Callable[[int], int]  # how many URLs of a host may be leased, by what is known of it


class TaskQueue(Protocol):
    """What is to be visited, asked host by host while a lease is made."""

    def take(self, host: int, count: int, leased: Collection[int], /) -> list[Task]:
        """The tasks of a host that come next, without those that are leased."""

    @property
    def is_selective(self) -> bool:
        """Whether URLs of a host may have to wait for better ones of others."""
        return False

    @property
    def at_once(self) -> int | None:
        """How many tasks of a host may be leased at a time, if there is a limit."""
        return None

    def worth(self, host: int, count: int, leased: Collection[int], /) -> int:
        """How many tasks of a host, of `count`, are good enough to be leased now."""
        return count


class SharedAddress:
    """The hosts at one address, as far as they share anything."""

    __slots__ = ("interval", "leased", "name", "near", "not_before", "seconds")

    def __init__(self, name: str) -> None:
        self.seconds: dict[str, float] = {}
        self.near: frozenset[str] = frozenset()
        self.name = name
        self.not_before = 0.0
        self.interval = 0.0
        self.leased = 0


class QueuedHost:
    """A host with work: what is queued for it in the store and who holds what."""

    __slots__ = (
        "address",
        "depth",
        "granted",
        "holders",
        "host",
        "keeper",
        "kept",
        "leased",
        "near",
        "queued",
        "seconds",
        "suspended",
        "trusted",
    )

    def __init__(self, host: Host, trusted: bool) -> None:
        self.host = host
        self.trusted = trusted
        self.queued = 0  # in the store and not leased
        self.leased: set[int] = set()
        self.address: SharedAddress | None = None  # known, and shared
        self.holders: dict[str, int] = {}
        self.granted: dict[str, tuple[int, int]] = {}  # to each holder: connections, before the last time and then
        self.keeper = ""  # the client that has its cookies
        self.depth = 0  # nothing nearer to the seeds than this is queued
        self.kept = host.interval  # as the store knows it
        self.suspended: float | None = 0.0  # until then it is away; None for the rest of the run
        self.seconds: dict[str, float] = {}  # of a connection, by machine
        self.near: frozenset[str] = frozenset()  # the machines that it may belong to; empty for all


class LeasedTask(NamedTuple):
    site: QueuedHost
    client: str
    task: Task
    since: float
    planned: float  # seconds from then on


def owner(origin: str, clients: Collection[str]) -> str:
    """The client that a host belongs to: of N clients, one that leaves moves its own hosts only,
    1/N of all.
    """
    return max(clients, key=lambda client: xxh3_64_intdigest(f"{client} {origin}".encode()), default="")


class Allocator:
    """Hands out leases and knows each one."""

    def __init__(
        self,
        settings: Settings,
        stock_limit: StockLimit = lambda _: LARGEST_STOCK,
        crew: int = 1,
        private_addresses: Callable[[str], list[str]] = lambda _: [],
        assignment: Assignment = owner,
    ) -> None:
        """`crew` is how many clients there will be: the first must not take the connections of
        those still to come.

        `private_addresses` are those that an origin had when the user named it.
        """
        self._stock_limit = stock_limit
        self._private_addresses = private_addresses
        self._owner = assignment
        self._crew = crew
        self._per_host = max(1, settings.per_host)
        self._unhurried = settings.delay != 0
        # Pauses are kept by the client that a host belongs to; so are cookies, which no other
        # client would have.
        self._cookies = settings.cookies or bool(settings.login)
        self._belongs = self._unhurried or self._cookies
        self._longest = max(LONGEST_NOTED, settings.delay or 0.0, settings.max_delay)
        self._by_level = settings.max_depth is not None
        self._by_address = settings.by_address and not settings.proxy and self._unhurried
        self._addresses: dict[str, SharedAddress] = {}
        self._levels: dict[int, int] = {}
        self._sites: dict[int, QueuedHost] = {}
        self._by_origin: dict[str, QueuedHost] = {}
        # Hosts that wait for their client; "" for any of them. A plain dictionary would look for
        # its first entry among all that were ever taken from its front.
        self._lines: dict[str, OrderedDict[int, QueuedHost]] = {"": OrderedDict()}
        self._own: dict[str, dict[int, QueuedHost]] = {}
        self._at: dict[str, str] = {}  # the client at each place
        self._places: dict[str, str] = {}  # the place of each client
        self._machines: set[str] = set()
        self._clients: dict[str, int] = {}  # how many each one stands for
        self._held: dict[int, LeasedTask] = {}
        self.paces: dict[str, ClientPace] = {}

    @property
    def leased(self) -> int:
        return len(self._held)

    @property
    def hosts(self) -> int:
        """Hosts with work, queued or leased."""
        return sum(1 for site in self._sites.values() if site.queued or site.leased)

    def allowed_rate(self) -> float:
        """How many pages a second the hosts with work allow. A host that is not known yet may allow
        one.
        """
        busy = (site for site in self._sites.values() if site.queued > 0 or site.leased)
        return sum(1 / max(site.host.interval, 0.001) if site.host.interval else 1.0 for site in busy)

    @property
    def waiting(self) -> int:
        """URLs that are queued, about: some of them may turn out to be excluded."""
        return sum(max(0, site.queued) for site in self._sites.values())

    def join(self, client: str, place: str = "", clients: int = 1) -> None:
        """`place` is what the hosts of a client are found by: a client of the same place gets the
        same hosts.

        A relay stands for many `clients`, and gets as many hosts as these would.
        """
        self._own[client] = {}
        self.paces[client] = ClientPace(time.monotonic())
        self.weigh(client, place, clients)

    def weigh(self, client: str, place: str, clients: int) -> None:
        """Says how many clients a client stands for."""
        self._at = {where: name for where, name in self._at.items() if name != client}
        self._places[client] = place = place or client
        self._at |= dict.fromkeys([place, *(f"{place}+{number}" for number in range(1, clients))], client)
        self._machines = {machine_of(place) for place in self._at}
        self._clients[client] = clients
        self._line_up()

    def clients_of(self, client: str) -> int:
        """How many clients a client stands for."""
        return self._clients.get(client, 1)

    def leave(self, client: str, doomed: int = 0) -> None:
        """Takes back all that a client held, except a URL that no client may get again."""
        self._own.pop(client, None)
        self._at = {place: name for place, name in self._at.items() if name != client}
        self._places.pop(client, None)
        self._machines = {machine_of(place) for place in self._at}
        self.paces.pop(client, None)
        self._clients.pop(client, None)
        self._line_up()
        for held in [held for held in self._held.values() if held.client == client]:
            if held.task.id != doomed:
                self._take_back(held)
            else:
                self.settle([(doomed, False)])

    def may_lease(self, host: int) -> bool:
        """Whether URLs of a host are queued that this run may still lease."""
        site = self._sites.get(host)
        return site is not None and site.queued > 0 and site.suspended is not None

    def suspend(self, host: int, until: float | None) -> None:
        """Leases nothing of a host until a moment (`time.monotonic`), and then one URL at a time;
        None: never again.
        """
        if (site := self._sites.get(host)) is not None:
            site.suspended = until
            self._offer(site)

    def resume(self, host: int) -> None:
        """Ends a suspension."""
        self.suspend(host, 0.0)

    def hear(self, client: str, visits: Iterable[Visit]) -> None:
        """Takes note of a client's report."""
        if (pace := self.paces.get(client)) is not None:
            pace.hear(visits, time.monotonic())

    def take_back(self, client: str, ids: Collection[int]) -> None:
        """Takes back what a client had not begun."""
        for id in ids:
            held = self._held.get(id)
            if held is not None and held.client == client:
                self._take_back(held)

    def expired(self, now: float) -> set[str]:
        """The clients that have not settled a lease in time: something is wrong with them."""
        return {held.client for held in self._held.values() if held.since + LEASE_SECONDS < now}

    def add(self, host: Host, count: int, trusted: bool) -> None:
        """Says that `count` more URLs of a host are queued."""
        site = self._sites.get(host.id)
        if site is None:
            site = self._sites[host.id] = self._by_origin[host.origin] = QueuedHost(host, trusted)
        site.queued += count
        site.depth = 0
        self._offer(site)

    def add_depths(self, depths: dict[int, int]) -> None:
        """Says at which distances from the seeds more URLs are queued."""
        for depth, count in depths.items():
            self._levels[depth] = self._levels.get(depth, 0) + count

    def change_depth(self, by_level: bool, depths: dict[int, int]) -> None:
        """Visits one level after the other from now on, or does so no longer; `depths` are of all
        that is queued.
        """
        self._by_level, self._levels = by_level, dict(depths)
        for site in self._sites.values():
            site.depth = 0

    def lease(self, client: str, want: int, room: int, queue: TaskQueue) -> list[HostLease]:
        """Tasks for `want` connections of a client, at most `room`, in turn from the hosts it may
        visit.

        A host gets as many tasks as the client wants, but uses only its own connections. So a
        client with few of them is not kept busy by a long list for one host.
        """
        leases: list[HostLease] = []
        wanted = want
        own = self._own[client]
        level = min((depth for depth, n in self._levels.items() if n), default=0) if self._by_level else None
        since, now = time.monotonic(), time.time()
        soon = now + LONGEST_PAUSE
        # As many as could be needed if each gave one task, or more if some have to wait for better
        # ones; the rest need not be looked at.
        selective, at_once = queue.is_selective, queue.at_once
        most = max(want, 1024 if selective else 64)
        for site in [*own.values(), *self._first_of("", most), *self._first_of(client, most)]:
            if want <= 0 or room <= 0:
                break
            not_before = self._not_before(site, now)
            if not_before > soon or (level is not None and site.depth > level):
                continue
            if site.suspended is None or site.suspended > since or (site.suspended and site.leased):
                continue
            count = min(self._room(site, client) - site.holders.get(client, 0), wanted, room, site.queued)
            if at_once is not None:
                count = min(count, at_once - len(site.leased))
            connections = self._connections(site, client)
            if selective and count > 0:
                count = self._worthwhile(queue, site, count, connections - site.holders.get(client, 0))
            if (
                count <= 0
                or connections <= 0
                or (client not in site.holders and len(site.holders) >= self._most_holders())
            ):
                self._let_others_go_first(site)
                continue
            count = 1 if site.suspended else count
            tasks = queue.take(site.host.id, count, site.leased)
            if len(tasks) < count:
                site.queued = len(tasks)
            if level is not None:
                nearest = [task for task in tasks if task.digest or task.depth <= level]
                site.depth = min((task.depth for task in tasks), default=0) if not nearest else site.depth
                tasks = nearest
            if not tasks:
                if not site.queued:  # what was queued has been excluded since
                    self._offer(site)
                continue
            if site.address is not None:
                site.address.leased += len(tasks)
            planned = max(0.0, not_before - now) + site.host.interval * site.holders.get(client, 0)
            for task in tasks:
                planned += site.host.interval
                site.leased.add(task.id)
                self._held[task.id] = LeasedTask(site, client, task, since, planned)
            site.queued -= len(tasks)
            held = site.holders.get(client, 0)
            site.holders[client] = held + len(tasks)
            site.granted[client] = (site.granted.get(client, (0, 0))[1], connections)
            room -= len(tasks)
            want -= max(0, min(connections, held + len(tasks)) - held)
            own.pop(site.host.id, None)
            self._withdraw(site)
            site.keeper = client if self._cookies else ""
            self._offer(site)
            leases.append(
                HostLease(
                    site.host.origin,
                    connections,
                    not_before,
                    site.trusted,
                    site.host.robots,
                    tasks,
                    self._private_addresses(site.host.origin) if site.trusted else [],
                    site.host.rendering,
                )
            )
        return leases

    def assign(self, client: str, host: Host, task: Task) -> None:
        """Leases a task that was not taken from the queue: the client has the answer already."""
        self.add(host, 0, False)
        site = self._sites[host.id]
        site.leased.add(task.id)
        site.holders[client] = site.holders.get(client, 0) + 1
        site.granted.setdefault(client, (0, 0))
        self._held[task.id] = LeasedTask(site, client, task, time.monotonic(), 0.0)

    def held(self, client: str, id: int) -> Task | None:
        """The task behind a visit; None when the client does not hold it (any more)."""
        held = self._held.get(id)
        return held.task if held is not None and held.client == client else None

    def is_leased(self, id: int) -> bool:
        return id in self._held

    def host_of(self, id: int) -> Host:
        """The host of a URL that is leased."""
        return self._held[id].site.host

    def settle(self, visited: Iterable[tuple[int, bool]]) -> None:
        """Ends leases; each with whether its URL waits for another try."""
        now = time.monotonic()
        sites: dict[int, QueuedHost] = {}
        for id, again in visited:
            held = self._held[id]
            sites[held.site.host.id] = held.site
            self._return(held)
            if held.client in self.paces:
                self.paces[held.client].settle(held.planned, now - held.since)
            if self._by_level and not again and not held.task.digest:
                self._levels[held.task.depth] -= 1
        for site in sites.values():
            self._offer(site)

    def note(self, note: HostNote, client: str = "") -> Host | None:
        """Keeps what a client learned about a host; returns the host when there is something new to
        store: its rules, or how long a page takes, by which visits are planned, or what rendering
        brings.
        """
        site = self._by_origin.get(note.origin)
        if site is None:
            return None
        host = site.host
        host.not_before = note.not_before
        host.interval = note.interval
        if self._by_address and note.address:
            self._settle_at(site, note.address)
        if note.connected and len(self._machines) > 1:
            self._measured(site, machine_of(self._places.get(client, "")), note.connected)
        same_rules = note.robots is None or note.robots == host.robots
        rendering = note.rendering or host.rendering
        same_rules = same_rules and rendering == host.rendering
        if same_rules and abs(note.interval - site.kept) <= site.kept * INTERVAL_MOVED + SHORTEST_KEPT:
            return None
        host.robots, host.rendering = note.robots or host.robots, rendering
        site.kept = note.interval
        return host

    def _measured(self, site: QueuedHost, machine: str, seconds: float) -> None:
        """How long a machine takes to connect to a host. The host may move to another machine."""
        where = site.address or site
        before = where.seconds.get(machine, 0.0)
        if not machine or (before and before / FACTOR < seconds < before * FACTOR):
            return
        where.seconds[machine] = seconds
        near = near_to(self._machines, where.seconds, site.queued)
        if near == where.near:
            return
        self._withdraw(site)
        where.near = near
        for own in self._own.values():
            own.pop(site.host.id, None)
        if site.address is None:
            self._offer(site)
        else:
            self._line_up()

    def _settle_at(self, site: QueuedHost, name: str) -> None:
        """Where a host was found; from now on it shares the pause and the client of that
        address.
        """
        address = self._addresses.setdefault(name, SharedAddress(name))
        address.not_before = max(address.not_before, site.host.not_before)
        address.interval = site.host.interval
        if address is not site.address:
            self._withdraw(site)
            if site.address is not None:
                site.address.leased -= len(site.leased)
            site.address = address
            address.leased += len(site.leased)
            for own in self._own.values():
                own.pop(site.host.id, None)
            self._offer(site)

    def active(self, most: int) -> list[HostState]:
        """Some of the hosts that are being visited; looks at a bounded number of leases."""
        sites: dict[int, QueuedHost] = {}
        for held in islice(self._held.values(), 100 * most):
            sites[held.site.host.id] = held.site
            if len(sites) >= most:
                break
        return [
            HostState(s.host.origin, max(0, s.queued), len(s.leased), s.host.interval, s.host.not_before)
            for s in sites.values()
        ]

    def holdings(self) -> Counter[str]:
        """How many URLs each client holds."""
        return Counter(held.client for held in self._held.values())

    def nothing_left(self) -> bool:
        """Whether no URL is queued or leased; some may still wait for another try."""
        return not self._held and not any(self._lines.values()) and not any(self._own.values())

    def _not_before(self, site: QueuedHost, now: float) -> float:
        """When a host may be asked; its interval follows its pauses, so that none is many times as
        long.
        """
        noted = max(site.host.not_before, site.address.not_before if site.address else 0.0)
        return noted if noted <= now + max(self._longest, 10 * site.host.interval) else 0.0

    def _worthwhile(self, queue: TaskQueue, site: QueuedHost, count: int, idle: int) -> int:
        """How many URLs of a host are leased now, of `count`. One that is visited at all has
        something to do for each of its connections.

        While nothing is under way, anything is good enough: the best hosts may be away.
        """
        good = queue.worth(site.host.id, count, site.leased)
        if not self._held:
            return count
        return min(count, max(good, idle)) if good else 0

    def _let_others_go_first(self, site: QueuedHost) -> None:
        """A host of which there is nothing to be had now would keep those behind it from being
        looked at.
        """
        if site.host.id in (line := self._lines[self._line_of(site)]):
            line.move_to_end(site.host.id)

    def _first_of(self, client: str, count: int) -> list[QueuedHost]:
        return list(islice(self._lines[client].values(), count))

    def _line_up(self) -> None:
        """Finds the client of every waiting host again."""
        waiting = [site for line in self._lines.values() for site in line.values()]
        waiting += {held.site.host.id: held.site for held in self._held.values()}.values()
        self._lines = {client: OrderedDict() for client in ["", *self._own]}
        for own in self._own.values():
            own.clear()
        for site in waiting:
            self._offer(site)

    def _take_back(self, held: LeasedTask) -> None:
        self._return(held)
        held.site.queued += 1
        held.site.depth = 0
        self._offer(held.site)

    def _return(self, held: LeasedTask) -> None:
        site = held.site
        del self._held[held.task.id]
        site.leased.discard(held.task.id)
        if site.address is not None:
            site.address.leased -= 1
        remaining = site.holders[held.client] - 1
        if remaining:
            site.holders[held.client] = remaining
        else:
            del site.holders[held.client], site.granted[held.client]

    def _offer(self, site: QueuedHost) -> None:
        """Puts a host where those who may lease from it look, at the end of the line."""
        id = site.host.id
        if site.queued <= 0 or site.suspended is None:
            self._withdraw(site)
            for own in self._own.values():
                own.pop(id, None)
            return
        line = self._line_of(site)
        if len(site.holders) < self._most_holders():
            self._lines[line].setdefault(id, site)
        else:
            self._lines[line].pop(id, None)
        # A client finishes what it holds of a host that belongs to another by now, and gets no
        # more: so the host moves as soon as no client has to pause for it, and moves once.
        for client, holding in site.holders.items():
            stays = not self._belongs or client == line
            if client in self._own and stays and holding <= self._quota(site, client) // 2:
                self._own[client].setdefault(id, site)

    def _line_of(self, site: QueuedHost) -> str:
        if site.keeper in self._own:
            return site.keeper
        if not self._belongs:
            return ""
        name, near = (site.address.name, site.address.near) if site.address else (site.host.origin, site.near)
        return self._at.get(self._owner(name, places_near(self._at, near) if near else self._at), "")

    def _withdraw(self, site: QueuedHost) -> None:
        self._lines[self._line_of(site)].pop(site.host.id, None)

    def _most_holders(self) -> int:
        if self._belongs:
            return 1
        return max(1, min(self._per_host, max(self._crew, len(self._own))))

    def _share(self) -> int:
        """Of the connections to a host, those of each client."""
        return max(1, self._per_host // self._most_holders())

    def _connections(self, site: QueuedHost, client: str) -> int:
        """How many a client may have now: one that has just been told of fewer may still be using
        what it had.
        """
        others = sum(max(granted) for name, granted in site.granted.items() if name != client)
        return min(self._share() * self._clients[client], self._per_host - others)

    def _room(self, site: QueuedHost, client: str) -> int:
        """How many tasks of a host may be leased in all: those at one address have one stock
        together.
        """
        if not self._by_address:
            return self._quota(site, client)
        if site.address is None:
            return 1
        stock = STOCK_SECONDS / max(site.address.interval, STOCK_SECONDS / LARGEST_STOCK)
        return min(self._quota(site, client), max(1, int(stock)) - site.address.leased + len(site.leased))

    def _quota(self, site: QueuedHost, client: str) -> int:
        """How many tasks of a host a client may hold."""
        limit = max(1, self._stock_limit(site.host.id) // self._most_holders())
        share = self.paces[client].share * (RELAY_STOCK if self._clients[client] > 1 else 1.0)
        if not site.host.interval:
            return max(1, int(min(limit, FIRST_STOCK if self._unhurried else LARGEST_STOCK // 2) * min(1.0, share)))
        stock = STOCK_SECONDS / site.host.interval * self._share()
        return max(2 if site.host.interval < LONGEST_PAUSE else 1, int(min(LARGEST_STOCK, stock, limit) * share))
