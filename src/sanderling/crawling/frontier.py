"""What is to be visited: admission, the queue, and what a client gets next."""

from collections import Counter
from collections.abc import Collection
from pathlib import Path

from sanderling import clock
from sanderling.crawling.collection import LEFT, PageCollection, Swap
from sanderling.crawling.ledger import Ledger
from sanderling.crawling.outage import Network
from sanderling.crawling.rescope import Rescoping
from sanderling.model import Found, Host, HostLease, Kind, NewUrl, Outcome, Reworked, Settled, State, Task, Visit
from sanderling.processes import entry_points
from sanderling.refreshing.observer import Observer
from sanderling.refreshing.refresher import Refresher
from sanderling.repository.store import FrontierStore
from sanderling.server.allocator import Allocator
from sanderling.server.dispatcher import Scope, admit, canonical_seed
from sanderling.server.distributor import Distributor
from sanderling.server.gate.gatekeeper import Gatekeeper
from sanderling.server.gate.holding import Lessons, Released
from sanderling.server.reranker import Reranker, Step
from sanderling.server.sources import Sources
from sanderling.settings import ORDERS, Settings
from sanderling.urls import identity, origin

# A run that has nothing else to do waits so long for what is to be tried again; the next run does the rest.
LONGEST_PATIENCE = 300.0


class Frontier:
    """The URLs of a crawl that are not visited yet, or are due again."""

    def __init__(
        self, store: FrontierStore, settings: Settings, seeds: list[str], folder: Path, run_folder: Path, again: bool,
        refresher: Refresher | None, crew: int, ledger: Ledger,
    ) -> None:  # fmt: skip
        self._store = store
        self._settings = settings
        self._again = again
        self._refresher = refresher
        self.observer = Observer(store)
        self.ledger = ledger
        self._seeds = list(dict.fromkeys([*store.seeds(), *map(canonical_seed, seeds)]))
        self.homes = store.homes()
        named = {origin(seed) for seed in self._seeds}
        self._trusted = named if settings.private_seeds else set()
        self.network = Network(
            self._one_reached, settings.retry_wait, refresher is not None, refresher is None or not refresher.forever
        )
        self.scope = Scope([*self._seeds, *self.homes], settings)
        self.allocator = Allocator(settings, self._take, lambda host: self.gate.most_at_once(host), crew)
        self._distributor = Distributor(store.take, store.ranks)
        self._folder, self._run_folder = folder, run_folder
        self._order = _order(settings)
        self.reranker = self._new_reranker()
        self.gate = Gatekeeper(
            store, lambda id: self.allocator.site(id) or store.host(id), lambda *of: self.scope.objection(*of),
            lambda home: home in named or any(origin(url) == home for url in self.homes),
            settings.scope in ("domain", "any"),
        )  # fmt: skip
        # How far a page in a sitemap is from a seed nobody knows, so with a limit of depth none is read.
        self.sources = Sources(settings.sitemaps and settings.max_depth is None)
        self._passed: list[NewUrl] = []  # admitted at the gate while leases were made
        self._next_wake = store.next_wake()
        self.collection = self._new_collection(settings)
        self._due_until = 0.0  # visits that are due by then have been handed to the allocator
        self._next_due: float | None = None
        self._retry_seeds()
        self._load_queue()
        self._plant_seeds()
        self.rescoping = Rescoping(store, self.allocator.is_leased)
        self.rescoping.begin(self.scope, [*self._seeds, *self.homes], settings, not ORDERS[self._order].scored)

    def change(self, settings: Settings) -> None:
        """Goes on with other limits, another scope or another order."""
        self._settings = settings
        self.scope = Scope([*self._seeds, *self.homes], settings)
        if _order(settings) != self._order:
            self._order = _order(settings)
            self.reranker.close()
            self.reranker = self._new_reranker()
        self.rescoping.begin(self.scope, [*self._seeds, *self.homes], settings, not ORDERS[self._order].scored)

    @property
    def waiting(self) -> int:
        """URLs that wait for a visit: the first or, about, another."""
        revisits = self._again or self._refresher is not None
        return max(self._unvisited, self.allocator.waiting if revisits else 0)

    @property
    def _unvisited(self) -> int:
        return max(0, self.ledger.counts.queued - self.allocator.leased)

    def list_lengths(self) -> list[int] | None:
        """About how long the three lists are; None when pages are visited in the order of their depth."""
        if not ORDERS[self._order].scored:
            return None
        return [round(share * self._unvisited) for share in self._distributor.shares]

    def lease(self, client: str, want: int) -> list[HostLease]:
        """Up to `want` tasks for a client, as the limits allow."""
        hosts = self.allocator.lease(client, want, self.network.room(self.room(), self.allocator.leased))
        if self._passed:
            passed, self._passed = self._passed, []
            self.queue(passed, {})
        return hosts

    def tick(self, now: float) -> None:
        """Brings up what is due by now, and a few of the ranks that were scored anew."""
        if self._next_wake is not None and self._next_wake <= now:
            for host, count in self._store.wake(now):
                self._add_work(host, count)
            self._next_wake = self._store.next_wake()
        if self._next_due is not None and self._next_due <= now:
            self._add_due(now)
        self.network.step()
        if self._refresher is not None:
            for host, count in Counter(self._refresher.step(now, self.network.away)).items():
                self._add_work(host, count)
        self._write(self.reranker.step(self.ledger.counts.fetched))
        self.queue(self.rescoping.step(self.ledger, not self.allocator.leased), {})
        if self.collection is not None and (swaps := self.collection.step(self.ledger.counts)):
            self._swap(self.collection, swaps)

    def close(self) -> None:
        """Keeps what hosts taught since they were kept last."""
        if hosts := self.gate.last_words():
            self._store.rework([], [], hosts, self.ledger.counts)

    def exhausted(self) -> bool:
        """Whether nothing is left to visit, or the limits allow no more."""
        if self.allocator.leased or self.rescoping.running:
            return False
        if self.bytes_are_used_up():
            return True
        patience = clock.now() + LONGEST_PATIENCE
        waiting = any(at is not None and at < patience for at in (self._next_wake, self._next_due))
        idle = self.allocator.nothing_left() and not waiting and not self.network.away
        if self._refresher is not None:
            return self._refresher.over(idle, clock.now())
        if self.collection is not None and self._stored_left() > 0 and self.collection.busy(self.ledger.counts):
            return False
        if self.room() <= 0:
            return True
        return idle and not self.let_go(self.gate.idle().released)

    def hear(self, visits: list[Visit]) -> set[int]:
        """Takes note of what came of visits; returns those that only the network is to blame for."""
        hosts = [(visit, self.allocator.host_of(visit.id)) for visit in visits]
        if self._refresher is None:
            return self.network.hear(hosts)
        excused = self.network.hear(hosts, self._refresher.hosts)
        for visit, host in hosts:
            self._refresher.settle(visit, host.id, visit.id in excused)
        return excused

    def settle(self, settled: list[Settled]) -> None:
        """Ends the leases of what was visited, and remembers when to try again what has to be."""
        for settlement in settled:
            if self.collection is not None:
                self.collection.settle(self.allocator.host_of(settlement.id).id, settlement.id)
            if settlement.due and settlement.state is State.QUEUED:
                self._next_wake = min(self._next_wake or settlement.due, settlement.due)
            elif settlement.due:
                self._next_due = min(self._next_due or settlement.due, settlement.due)
        self.allocator.settle((each.id, each.state is State.QUEUED) for each in settled)

    def admit(self, found: Found, visit: Visit, task: Task) -> list[NewUrl]:
        """The rows for a URL that is not known yet, found by a visit to a task's page."""
        if found.kind == Kind.SOURCE:
            in_scope = not self.scope.objection(found.url, origin(found.url))
            return [self.sources.row(found, visit.id, task, in_scope)]
        redirected = visit.outcome is Outcome.REDIRECT
        depth, hops = task.depth + (not redirected), task.hops + 1 if redirected else 0
        rows = admit([found], visit.id, depth, hops, self.scope, self._settings.max_depth, self.reranker.rank)
        return [placed for row in rows for placed in self.gate.place(row, self._store.unknown)]

    def room(self) -> int:
        """How many more leases the limits allow."""
        if self.bytes_are_used_up():
            return 0
        if self._refresher is not None:
            return self._refresher.room(self.allocator.leased)
        return 1 << 30 if self._again else self._pages_left() - self.allocator.leased

    def _one_reached(self, origins: list[str]) -> bool:
        from sanderling.client.reaching import one_reached

        return one_reached(self._settings, {origin: origin in self._trusted for origin in origins})

    def bytes_are_used_up(self) -> bool:
        """Whether as much was downloaded as the limit allows."""
        limit = self._settings.max_bytes
        return limit is not None and self.ledger.counts.bytes >= limit

    def _stored_left(self) -> int:
        limit = self._settings.max_pages
        return 1 << 30 if limit is None else limit - self.ledger.counts.pages

    def _pages_left(self) -> int:
        left, collection = self._stored_left(), self.collection
        return left if collection is None else min(left, collection.most - collection.inside(self.ledger.counts))

    def _swap(self, collection: PageCollection, swaps: list[Swap]) -> None:
        """Lets pages leave the collection, and others take their places, unless something came between."""
        states = {id: state for id, (_, state) in self._store.known([id for s in swaps for id in s[:2] if id]).items()}
        swaps = [
            swap for swap in swaps
            if states.get(swap.leaver, State.FETCHED) == State.FETCHED and not self.allocator.is_leased(swap.leaver)
            and states.get(swap.newcomer, State.QUEUED) == (State.EXCLUDED if swap.returns else State.QUEUED)
            and not self.allocator.is_leased(swap.newcomer)
        ]  # fmt: skip
        collection.expect(swaps)
        leavers = [swap.leaver for swap in swaps if swap.leaver]
        returning = [swap.newcomer for swap in swaps if swap.returns]
        reworked = [Reworked(id, State.EXCLUDED, LEFT) for id in leavers]
        reworked += [Reworked(id, State.QUEUED, "") for id in returning]
        self.ledger.moved([(State.FETCHED, State.EXCLUDED)] * len(leavers))
        self.ledger.moved([(State.EXCLUDED, State.QUEUED)] * len(returning))
        self._store.rework(reworked, [], [], self.ledger.counts)
        for host, count in Counter(swap.host for swap in swaps if swap.newcomer).items():
            self._add_work(host, count)

    def _new(self, host: int, count: int, leased: Collection[int]) -> list[Task]:
        """What was never visited: newcomers to a full collection first."""
        if self.collection is None:
            return self._let_pass(host, count, leased)
        ids = self.collection.ids(host, count, leased)
        tasks = [Task(*task[:6]) for task in (self._store.tasks(ids) if ids else [])]
        room = min(count - len(tasks), self._pages_left() - self.allocator.leased - self.collection.expected)
        return tasks + (self._let_pass(host, room, {*leased, *ids}) if room > 0 else [])

    def _take(self, host: int, count: int, leased: Collection[int]) -> list[Task]:
        """What to visit next on a host: URLs that are new first, then those that are due again."""
        if self._refresher is not None:
            return self._take_turns(self._refresher, host, count, leased)
        if not self._again:
            return self._new(host, count, leased)
        room = min(count, self._pages_left() - self.allocator.leased)
        tasks = self._new(host, room, leased) if room > 0 else []
        return tasks + self._store.take_due(host, count - len(tasks), leased, clock.now())

    def _take_turns(self, refresher: Refresher, host: int, count: int, leased: Collection[int]) -> list[Task]:
        """The same for a refresh: some that are new, second tries, and whose turn it is."""
        room = min(count, refresher.room_for_new(), self._pages_left() - self.allocator.leased)
        tasks = self._new(host, room, leased) if room > 0 else []
        refresher.began(task.id for task in tasks)
        tasks += self._store.take_due(host, count - len(tasks), leased, clock.now())
        ids = refresher.ids(host, count - len(tasks), {*leased, *(task.id for task in tasks)})
        return tasks + [self.observer.question(task, host) for task in (self._store.tasks(ids) if ids else [])]

    def _let_pass(self, host: int, count: int, leased: Collection[int]) -> list[Task]:
        """The best queued URLs of a host that the gate lets pass by what is known now."""
        in_order = not ORDERS[self._order].scored
        tasks = (self._store.take if in_order else self._distributor.take)(host, count, leased)
        if not self.gate.strict(host) and not self.rescoping.running:
            return tasks
        passed: list[Task] = []
        while tasks:
            stopped = {task.id: verdict for task in tasks if (verdict := self._objection(task, host))}
            passed += [task for task in tasks if task.id not in stopped]
            if not stopped:
                break
            urls = list({row.id: row for _, rows in stopped.values() for row in rows}.values())
            depths = Counter(task.depth for task in tasks if task.id in stopped)
            self.allocator.add_depths({depth: -count for depth, count in depths.items()})
            self.ledger.moved((State.QUEUED, change.state) for change, _ in stopped.values())
            self.ledger.admitted(urls)
            fresh = self.hosts_of(urls)
            self._store.rework(
                [change for change, _ in stopped.values()], urls, list(fresh.values()), self.ledger.counts
            )
            self._passed += urls
            tasks = self._store.take(host, count - len(passed), {*leased, *(task.id for task in passed)})
        return passed

    def _objection(self, task: Task, host: int) -> tuple[Reworked, list[NewUrl]] | None:
        """Why a queued URL is not visited after all: the scope was changed, or the gate has learned."""
        if (left := self.rescoping.objection(task)) is not None:
            return left, []
        return self.gate.recheck(task, host, self._store.unknown) if self.gate.strict(host) else None

    def _new_reranker(self) -> Reranker:
        command = entry_points.command("rank", self._folder, self._order)
        return Reranker(self._order, command, self._run_folder / "ranks")

    def _new_collection(self, settings: Settings) -> PageCollection | None:
        if settings.collection is None:
            return None
        command = entry_points.command("refine", self._folder)
        return PageCollection(settings.collection, command, self._run_folder / "swaps")

    def _write(self, step: Step) -> None:
        if step.ranks:
            self._store.rerank(step.ranks)
        if step.importances:
            self._store.weigh(step.importances)

    def new_sources(self, lessons: Lessons) -> list[NewUrl]:
        """The sitemaps of hosts that answer with a page for the first time, and addresses that should not exist."""
        wanted = {each.id: each for each in lessons.sources}
        for id in lessons.answered:
            host = self.allocator.site(id)
            if host is not None:
                wanted |= {each.id: each for each in self.sources.of(host)}
        unknown = self._store.unknown({id: each.url for id, each in wanted.items()}) if wanted else []
        return [self.sources.row(wanted[id], 0, None, True) for id in unknown]

    def let_go(self, released: list[Released]) -> bool:
        """Queues what is held back no longer; False when there is nothing."""
        if released:
            self.ledger.moved((each.was, State.QUEUED) for each in released)
            self._store.rework([Reworked(each.id, State.QUEUED, "") for each in released], [], [], self.ledger.counts)
            self.add_released(released)
        return bool(released)

    def add_released(self, released: list[Released]) -> None:
        self.allocator.add_depths(Counter(each.depth for each in released))
        for id, count in Counter(each.host for each in released).items():
            self._add_work(id, count)

    def follow_seeds(
        self, redirects: list[Visit], seen: dict[int, tuple[Found, Visit]]
    ) -> tuple[list[str] | None, list[Settled]]:
        """A seed that moved takes the scope with it: who asks for example.org wants www.example.org, too."""
        again: list[Settled] = []
        changed = False
        for visit in redirects:
            id = int.from_bytes(visit.links[:8], "little", signed=True)
            known = self._store.known([id]).get(id)
            url = seen[id][0].url if id in seen else known[0] if known else ""
            if not url or not self.scope.objection(url, origin(url)):
                continue
            self.scope.extend(url)
            self.homes.append(url)
            changed = True
            if known and known[1] == State.EXCLUDED:
                again.append(Settled(id, State.QUEUED, 0, 0.0, ""))
        return (self.homes if changed else None), again

    def hosts_of(self, urls: list[NewUrl]) -> dict[int, Host]:
        """Hosts that have work for the first time."""
        fresh: dict[int, Host] = {}
        for row in urls:
            waits = row.state is State.QUEUED or row.state is State.KNOWN
            if waits and row.host not in fresh and self.allocator.site(row.host) is None:
                fresh[row.host] = self._store.host(row.host) or Host(row.host, origin(row.url))
        return fresh

    def queue(self, urls: list[NewUrl], fresh: dict[int, Host]) -> None:
        queued = [row for row in urls if row.state is State.QUEUED]
        self.allocator.add_depths(Counter(row.depth for row in queued))
        for id, count in Counter(row.host for row in queued).items():
            self._add_work(id, count, fresh.get(id))

    def _add_work(self, id: int, count: int, host: Host | None = None) -> None:
        host = host or self.allocator.site(id) or self._store.host(id)
        if host is not None:
            self.allocator.add(host, count, host.origin in self._trusted)

    def _retry_seeds(self) -> None:
        """Who begins a crawl anew wants to know whether its seeds can be reached now."""
        known = self._store.known([identity(url) for url in self._seeds])
        failed = [Reworked(id, State.QUEUED, "") for id, (_, state) in known.items() if state == State.FAILED]
        if failed:
            kinds = {task.id: task.kind for task in self._store.tasks([each.id for each in failed])}
            self.ledger.moved((State.FAILED, State.QUEUED) for each in failed if kinds[each.id] == Kind.PAGE)
            self._store.rework(failed, [], [], self.ledger.counts)

    def _load_queue(self) -> None:
        for host, queued in self._store.waiting():
            self.allocator.add(host, queued, host.origin in self._trusted)
        if self._settings.max_depth is not None:
            self.allocator.add_depths(self._store.depths())
        if self._again:
            self._store.revisit_all(clock.now(), sitemaps=self.sources.wanted)
            self._add_due(clock.now())
        elif self._refresher is not None:
            self._store.forget_due()
            self._due_until = clock.now()
            for id, count in Counter(self._refresher.read_first(self._store.sitemaps(), clock.now())).items():
                self._add_work(id, count)

    def _add_due(self, now: float) -> None:
        for host, count in self._store.due(self._due_until, now):
            self._add_work(host, count)
        self._due_until = now
        self._next_due = self._store.next_due(now)

    def _plant_seeds(self) -> None:
        ids = {identity(url): url for url in self._seeds}
        known = self._store.known(list(ids))
        found = [Found(id, url, "") for id, url in ids.items() if id not in known]
        urls = admit(found, 0, 0, 0, self.scope, None, self.reranker.rank)
        fresh = self.hosts_of(urls)
        self.ledger.admitted(urls)
        self._store.seed(self._seeds, urls, list(fresh.values()), self.ledger.counts)
        self.queue(urls, fresh)


def _order(settings: Settings) -> str:
    """With a limit of depth, levels come one after the other, whatever a page is worth."""
    return settings.order if settings.max_depth is None else "breadth-first"
