"""Decides at the gate, by what visits taught, which URLs are other names of known ones and which are held back.

A URL passes twice: when it is admitted, and again when it is its turn, since more may have been learned meanwhile. For
a host that has taught nothing special both cost a look into a table. `identity`, `traps` and `claims` say what is
learned and how; here it is kept together, host by host.
"""

from collections.abc import Callable
from typing import NamedTuple, Protocol

import msgspec
from publicsuffixlist import PublicSuffixList

from sanderling.model import Found, Host, Kind, NewUrl, Outcome, PageFacts, Reworked, State, Task, Visit
from sanderling.server import claims, traps
from sanderling.server.identity import Kept, Meant, Parameters, Twins, meant
from sanderling.server.sources import source
from sanderling.server.traps import DomainBudget, HostBudget, Ways
from sanderling.urls import hostname, identity, origin

# Hosts that are remembered at a time; what others taught is in the store.
MOST_HOSTS = 20_000
MOST_MERGED = 100_000
# So many URLs are let go with one report, so that none takes much longer than others.
MOST_AT_ONCE = 2000

HELD = "held: "
FAR = HELD + f"more than {traps.LONGEST_WAY} steps from anything new"
SPENT = HELD + "found on a page that repeats another, and there were enough of these"
CROWD = HELD + "the hosts of "
DULL_HOSTS = " bring nothing new"
DULL = " has to bring something new first"
SOFT = "soft 404: the host answers like this to addresses that do not exist"


class Source(Protocol):
    """The part of a store that the gatekeeper reads."""

    def page_facts(self, ids: list[int]) -> dict[int, PageFacts]: ...
    def claims(self, ids: list[int]) -> list[tuple[int, int]]: ...
    def held(self, host: int, reason: str, most: int) -> list[tuple[int, int]]: ...
    def all_held(self, most: int) -> list[tuple[int, int, int, str]]: ...
    def merged(self, host: int, reason: str, most: int) -> list[tuple[int, int]]: ...


class Learned(msgspec.Struct, array_like=True):
    """What is kept of a host, in `Host.learned`."""

    names: Kept
    traps: traps.Kept


def learned(host: Host) -> Learned:
    if not host.learned:
        return Learned(Kept(), traps.Kept())
    return msgspec.msgpack.decode(host.learned, type=Learned)


class Released(NamedTuple):
    """A URL that is held back no longer."""

    id: int
    host: int
    depth: int
    was: State


class Lessons(msgspec.Struct):
    """What a report teaches, for the commit that it becomes."""

    aliases: list[tuple[int, int]] = []
    reasons: dict[int, str] = {}
    answered: set[int] = set()  # hosts that answered with a page
    hosts: list[Host] = []
    sources: list[Found] = []
    released: list[Released] = []


class _Host:
    """What is known about one host while it is visited."""

    __slots__ = ("budget", "domain", "parameters", "probed")

    def __init__(self, kept: Learned, domain: str) -> None:
        self.budget = HostBudget(kept.traps)
        self.parameters = Parameters(kept.names)
        self.domain = domain
        self.probed = False


class Gatekeeper:
    """What all hosts taught."""

    def __init__(
        self, store: Source, host_of: Callable[[int], Host | None], objection: Callable[[str, str], str],
        is_home: Callable[[str], bool], many_hosts: bool,
    ) -> None:  # fmt: skip
        """`many_hosts`: the scope may lead to more and more hosts; `is_home`: whether an origin is one the user named."""
        self._store = store
        self._host_of = host_of
        self._objection = objection
        self._is_home = is_home
        self._suffixes = PublicSuffixList() if many_hosts else None
        self._hosts: dict[int, _Host] = {}
        self._domains: dict[str, DomainBudget] = {}
        self._twins = Twins()
        self._ways = Ways()
        self._beyond: dict[int, float] = {}
        self._reported: dict[int, bytes] = {}
        self._held: dict[int, tuple[int, int]] = {}  # with host and depth: what a link from a new page lets go
        self._probing: set[int] = set()
        self._waiting: dict[int, dict[str, int]] = {}  # for each host how many URLs of which pattern are held back
        self._merged_into: dict[int, tuple[int, str]] = {}  # URLs that others were merged into: their host, and why
        for id, host, depth, reason in store.all_held(traps.MOST_HELD):
            self._hold(id, host, depth, reason)

    # ---- what visits teach

    def unmasked(self, visit: Visit, task: Task) -> Visit:
        """A visit as it is meant: a page that was there and now says what the host says of any nonsense is not found."""
        if not task.digest or visit.outcome is not Outcome.PAGE or not visit.core:
            return visit
        watched = self._watched(identity(origin(task.url)))
        if watched is None or visit.core not in watched.budget.soft:
            return visit
        return msgspec.structs.replace(visit, outcome=Outcome.GONE, status=404, reason=SOFT)

    def learn(self, visits: list[tuple[Visit, Task]]) -> Lessons:
        """Takes the visits of a report as evidence."""
        lessons = Lessons()
        self._beyond = {}
        self._reported = {v.id: v.text_digest for v, _ in visits if v.simhash and v.outcome is Outcome.PAGE}
        touched: dict[int, _Host] = {}
        changed: set[int] = set()
        domains: dict[str, DomainBudget] = {}
        for visit, task in visits:
            home = origin(task.url)
            host = identity(home)
            if task.kind == Kind.SOURCE:
                if visit.core and (watched := self._watched(host)) is not None:
                    watched.budget.soft.add(visit.core)
                    changed.add(host)
                continue
            if task.digest:  # visited again: what it taught is known, unless it says something else now
                watched = self._watched(host) if visit.outcome is Outcome.PAGE else None
                if watched is not None:
                    touched[host] = watched
                    watched.budget.meet(task.url, visit.core)
                continue
            watched = touched.get(host) or self._watched(host)
            if watched is None:
                continue
            if visit.outcome is Outcome.RETRY:
                if watched.domain:
                    domains[watched.domain] = self._crowd_of(watched.domain)
                    domains[watched.domain].gave_up(host)
                continue
            touched[host] = watched
            if watched.domain:
                domains[watched.domain] = self._crowd_of(watched.domain)
            if visit.outcome is Outcome.PAGE:
                lessons.answered.add(host)
                self._learn_page(visit, task, home, host, watched, lessons, changed)
            else:
                self._learn_failure(visit, task, home, host, watched, lessons, changed)
        self._settle_claims([visit for visit, _ in visits], lessons)
        for host, watched in touched.items():
            self._release_some(host, watched, lessons)
        for name, domain in domains.items():
            for host in domain.released():
                self._release(host, _crowd(name), MOST_AT_ONCE, lessons)
        for host in changed:
            self._keep(host, lessons)
        # The store does not know yet what was let go a moment ago, so it may have named some twice.
        lessons.released = list({each.id: each for each in lessons.released}.values())
        return lessons

    def _learn_page(
        self, visit: Visit, task: Task, home: str, host: int, watched: _Host, lessons: Lessons, changed: set[int]
    ) -> None:
        gist = visit.gist or int.from_bytes(visit.digest[:8], "big", signed=True)
        judged = watched.budget.judge(task.url, gist, visit.simhash, visit.core)
        self._probing.discard(task.id)
        if judged.newness == 1.0 and self._ways.of(task.id):
            watched.budget.spent -= 1
        steps = self._ways.beyond(task.id, judged.newness)
        if steps:
            self._beyond[task.id] = steps
        if judged.soft:
            lessons.reasons[visit.id] = SOFT
        if judged.closed or judged.opened:
            changed.add(host)
        if watched.domain:
            self._crowd_of(watched.domain).judge(host, visit.core or gist, visit.simhash)
        if self._held and judged.newness == 1.0 and visit.links:
            self._free(self._held.keys() & set(memoryview(visit.links).cast("q")), lessons)
        if judged.soft:
            return
        digest = visit.text_digest if visit.simhash else visit.digest
        same = watched.parameters.see(task.url, task.id, digest, self._digest)
        if same is not None:
            lessons.aliases += same
            changed.add(host)
        lost = self._twins.see(task.url, digest, self._digest)
        if lost:
            changed.add(identity(lost))

    def _learn_failure(
        self, visit: Visit, task: Task, home: str, host: int, watched: _Host, lessons: Lessons, changed: set[int]
    ) -> None:
        watched.budget.missed(task.url)
        if watched.domain:
            self._crowd_of(watched.domain).judge(host, 0, 0)
        if visit.outcome is Outcome.REDIRECT and visit.permanent:
            for other in _twin_names(home):
                if identity(other + task.url[len(home) :]) == visit.canonical:
                    self._twins.know(other)
                    lost = self._twins.moved(task.url, other + task.url[len(home) :])
                    if lost:
                        changed.add(identity(lost))
        elif visit.outcome in (Outcome.GONE, Outcome.FAILED) and task.id in self._merged_into:
            # What others were merged into does not exist: they stand on their own again.
            where, reason = self._merged_into.pop(task.id)
            merged = self._watched(where)
            if merged is not None:
                for name in list(merged.parameters.ignored):
                    if _ignores(reason, name):
                        merged.parameters.take_back(name)
                changed.add(where)
                lessons.released += [
                    Released(id, where, depth, State.EXCLUDED)
                    for id, depth in self._store.merged(where, reason, traps.MOST_HELD)
                ]

    def _settle_claims(self, visits: list[Visit], lessons: Lessons) -> None:
        new = {visit.id: visit for visit in visits if visit.status}
        pages = [visit.id for visit in new.values() if visit.outcome is Outcome.PAGE]
        made = [(visit.id, visit.canonical) for visit in new.values() if visit.canonical]
        made += self._store.claims(pages) if pages else []
        if not made:
            return
        facts = self._store.page_facts(list({id for claim in made for id in claim}))
        for id, visit in new.items():
            known = facts.get(id)
            if known is not None and visit.outcome in (Outcome.PAGE, Outcome.REDIRECT):
                facts[id] = PageFacts(State.FETCHED, known.alias, visit.status, visit.text_digest, visit.simhash)
        lessons.aliases += claims.settled(made, facts)

    # ---- what passes the gate

    def place(self, row: NewUrl, unknown: Callable[[dict[int, str]], list[int]]) -> list[NewUrl]:
        """The rows that a new URL becomes: itself, perhaps held back; or another name, and what it is a name of."""
        if row.state is not State.QUEUED or row.kind != Kind.PAGE or not row.depth:
            return [row]
        merge = self._meant(row.url, row.host)
        if merge is not None:
            rows = self._merged(row, merge, unknown)
            if rows:
                return rows
        steps = self._beyond.get(row.via, 0.0)
        reason = self._hold_back(row.url, row.host, steps)
        if reason:
            self._hold(row.id, row.host, row.depth, reason)
            return [row._replace(state=State.KNOWN, reason=reason)]
        self._ways.note([row.id], steps)
        return [row]

    def strict(self, host: int) -> bool:
        """Whether what is queued of a host has to be looked at again before it is visited."""
        watched = self._hosts.get(host)
        if watched is not None and (watched.budget.closed or watched.parameters.names):
            return True
        return bool(self._twins.merged)

    def recheck(
        self, task: Task, host: int, unknown: Callable[[dict[int, str]], list[int]]
    ) -> tuple[Reworked, list[NewUrl]] | None:
        """What becomes of a URL whose turn it is; None when it may be visited."""
        if task.kind != Kind.PAGE or not task.depth:
            return None
        watched = self._hosts.get(host)
        if watched is not None and (first := watched.parameters.first.get(task.id, task.id)) != task.id:
            watched.budget.missed(task.url)
            return Reworked(task.id, State.EXCLUDED, "merged: visited with a parameter that does not count", first), []
        merge = self._meant(task.url, host)
        if merge is not None:
            row = NewUrl(
                task.id, task.url, host, task.depth, State.QUEUED, -float(task.depth), 0, task.hops, "", ""
            )  # fmt: skip
            rows = self._merged(row, merge, unknown)
            if rows:
                if watched is not None:
                    watched.budget.missed(task.url)
                return Reworked(task.id, State.EXCLUDED, merge.reason, rows[0].alias), rows[1:]
        if watched is not None and watched.budget.closed and task.id not in self._probing:
            text = watched.budget.objection(task.url)
            if text:
                self._hold(task.id, host, task.depth, _dull(text))
                return Reworked(task.id, State.KNOWN, _dull(text)), []
        return None

    def _meant(self, url: str, host: int) -> Meant | None:
        watched = self._hosts.get(host)
        names = watched.parameters.names if watched is not None else frozenset[str]()
        if not names and not self._twins.merged:
            return None
        return meant(url, self._twins.merged, names)

    def _merged(self, row: NewUrl, merge: Meant, unknown: Callable[[dict[int, str]], list[int]]) -> list[NewUrl] | None:
        home = origin(merge.url)
        if self._objection(merge.url, home):
            return None
        watched = self._hosts.get(row.host)
        target = identity(merge.url)
        first = watched.parameters.first.get(target) if watched is not None else None
        rows = [row._replace(state=State.EXCLUDED, reason=merge.reason, alias=first or target)]
        if first is None and unknown({target: merge.url}):
            rows.append(row._replace(id=target, url=merge.url, host=identity(home)))
            if len(self._merged_into) < MOST_MERGED:
                self._merged_into[target] = (row.host, merge.reason)
        return rows

    def _hold_back(self, url: str, host: int, steps: float) -> str:
        """Why a URL is not visited yet; empty when it is."""
        watched = self._hosts.get(host)
        if watched is not None:
            budget = watched.budget
            if text := budget.objection(url):
                return _dull(text)
            if steps > traps.LONGEST_WAY:
                return FAR
            if steps:
                if budget.allowance < 1:
                    return SPENT
                budget.spent += 1
            if text := budget.admits(url):
                return _dull(text)
        elif self._suffixes is not None:
            home = origin(url)
            name = "" if self._is_home(home) else self._domain(home)
            if name and not self._crowd_of(name).admits(host):
                return _crowd(name)
        return ""

    # ---- held back, and let go

    def _hold(self, id: int, host: int, depth: int, reason: str) -> None:
        watched = self._watched(host)
        if watched is not None:
            watched.budget.held += 1
        if reason in (FAR, SPENT):
            if len(self._held) < traps.MOST_HELD:
                self._held[id] = (host, depth)
        elif reason.endswith(DULL):
            waiting = self._waiting.setdefault(host, {})
            text = reason.removeprefix(HELD).removesuffix(DULL)
            waiting[text] = waiting.get(text, 0) + 1
        elif reason.startswith(CROWD):
            self._crowd_of(reason.removeprefix(CROWD).removesuffix(DULL_HOSTS)).waiting.setdefault(host)

    def _release_some(self, host: int, watched: _Host, lessons: Lessons) -> None:
        budget = watched.budget
        if budget.suspect and not watched.probed:
            watched.probed = True
            at = self._host_of(host)
            if at is not None:
                lessons.sources.append(source(f"{at.origin}/sanderling-{host & 0xFFFF_FFFF:08x}-does-not-exist"))
        if not budget.held:
            return
        if host in self._waiting:
            self._release_patterns(host, budget, lessons)
        if budget.allowance:
            freed = self._release(host, SPENT, budget.allowance, lessons)
            budget.spent += len(freed)
            self._ways.note(freed, 1.0)

    def _release_patterns(self, host: int, budget: HostBudget, lessons: Lessons) -> None:
        """Lets go of as many URLs as their patterns may have queued by now."""
        waiting = self._waiting[host]
        for text, count in list(waiting.items()):
            found = budget.find(text)
            probe = found.closed and found.probe_at <= budget.new
            room = int(probe) if found.closed else min(found.room, MOST_AT_ONCE)
            if not room:
                continue
            freed = self._release(host, _dull(text), room, lessons)
            if probe:
                found.probed(budget.new)
                self._probing.update(freed)
            found.pending += len(freed)
            waiting[text] = count - len(freed)
            if waiting[text] <= 0 or len(freed) < room:
                del waiting[text]
        if not waiting:
            del self._waiting[host]

    def idle(self) -> Lessons:
        """Nothing is queued any more: what was only put off is let go."""
        lessons = Lessons()
        for host, waiting in list(self._waiting.items()):
            watched = self._watched(host)
            if watched is not None:
                for text in waiting:
                    watched.budget.find(text).pending = 0
                self._release_patterns(host, watched.budget, lessons)
        for name, domain in self._domains.items():
            for host in domain.released():
                self._release(host, _crowd(name), MOST_AT_ONCE, lessons)
        return lessons

    def _free(self, ids: set[int], lessons: Lessons) -> None:
        """A page with something new links to URLs that are held back."""
        for id in ids:
            host, depth = self._held.pop(id)
            lessons.released.append(Released(id, host, depth, State.KNOWN))
            if (watched := self._hosts.get(host)) is not None:
                watched.budget.held -= 1

    def _release(self, host: int, reason: str, most: int, lessons: Lessons) -> list[int]:
        found = self._store.held(host, reason, most)
        lessons.released += [Released(id, host, depth, State.KNOWN) for id, depth in found]
        watched = self._hosts.get(host)
        if watched is not None:
            watched.budget.held -= len(found)
        for id, _ in found:
            self._held.pop(id, None)
        return [id for id, _ in found]

    # ---- hosts

    def _watched(self, host: int) -> _Host | None:
        found = self._hosts.get(host)
        if found is None:
            known = self._host_of(host)
            if known is None:
                return None
            kept = learned(known)
            self._twins.know(known.origin, kept.names.twin)
            name = "" if self._suffixes is None or self._is_home(known.origin) else self._domain(known.origin)
            found = self._hosts[host] = _Host(kept, name)
            if len(self._hosts) > MOST_HOSTS:
                del self._hosts[next(iter(self._hosts))]
        return found

    def _domain(self, home: str) -> str:
        name = hostname(home)
        if self._suffixes is None or name[-1:].isdigit() or ":" in name:
            return ""
        return self._suffixes.privatesuffix(name) or ""

    def _crowd_of(self, domain: str) -> DomainBudget:
        found = self._domains.get(domain)
        if found is None:
            found = self._domains[domain] = DomainBudget()
            if len(self._domains) > MOST_HOSTS:
                del self._domains[next(iter(self._domains))]
        return found

    def _keep(self, host: int, lessons: Lessons) -> None:
        known, watched = self._host_of(host), self._hosts.get(host)
        if known is None or watched is None:
            return
        parameters = watched.parameters
        kept = Kept(parameters.ignored, sorted(parameters.counting)[:100], self._twins.merged.get(known.origin, ""))
        known.learned = msgspec.msgpack.encode(Learned(kept, watched.budget.keep()))
        lessons.hosts.append(known)

    def _digest(self, id: int) -> bytes:
        """The text of a page that was visited, in this report or before."""
        if id in self._reported:
            return self._reported[id]
        facts = self._store.page_facts([id]).get(id)
        return facts.text_digest if facts is not None and 200 <= facts.status < 300 and facts.simhash else b""


def _dull(text: str) -> str:
    return f"{HELD}{text}{DULL}"


def _crowd(domain: str) -> str:
    return f"{CROWD}{domain}{DULL_HOSTS}"


def _ignores(reason: str, name: str) -> bool:
    return name in reason.removeprefix("merged: parameter ").removesuffix(" does not count").split(", ")


def _twin_names(home: str) -> list[str]:
    scheme, _, name = home.partition("://")
    other = {"http": "https", "https": "http"}.get(scheme, scheme)
    twin = name.removeprefix("www.") if name.startswith("www.") else "www." + name
    return [f"{other}://{name}", f"{scheme}://{twin}", f"{other}://{twin}"]
