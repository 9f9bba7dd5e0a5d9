"""Decides at the gate, by what visits taught, which URLs are other names of known ones and which
are held back.

A URL passes twice: when it is admitted, and again when it is its turn, since more may have been
learned meanwhile. For a host that has taught nothing special both cost a look into a table.
`identity`, `traps`, `claims` and `mirrors` say what is learned and how, `host_memory` keeps it host
by host, and `holding` what is held back.
"""

from collections.abc import Callable, Collection, Iterable

import msgspec

from sanderling.model import Found, Host, Kind, NewUrl, Outcome, PageFacts, Reworked, State, Task, Visit, reasons
from sanderling.repository.store import GateStore
from sanderling.server.frontier.sources import guessed
from sanderling.server.gate import claims, traps
from sanderling.server.gate.holding import (
    FAR,
    FARTHEST,
    MOST_AT_ONCE,
    SPENT,
    Holding,
    Lessons,
    Released,
    crowd,
    dull,
    view,
)
from sanderling.server.gate.host_memory import DOMAINS, HostMemory, RememberedHost
from sanderling.server.gate.identity import Meant, index_pairs, meant
from sanderling.server.gate.mirrors import Mirrors
from sanderling.server.gate.traps import DomainBudget
from sanderling.server.gate.tunnel import Tunnel
from sanderling.urls import identity, origin

MOST_MERGED = 100_000
# At least this many URLs of a host may be under way.
FEWEST_AT_ONCE = 8
# The same when nothing is left but patterns that get hundreds of visits anyway.
PATIENT_AT_ONCE = 32
# In a focused crawl: one for every 16 pages that a host has brought.
FOCUSED_SHARE = 16
# After this many pages of a host, or this share of the new ones, what they taught is kept,
# whether it led to anything or not. What a crash loses of it is learned once more, at the price of
# as many pages.
KEEP_EVERY, KEEP_SHARE, FEWEST_KEPT = 200, 16, 4
FEEDS = frozenset(("application/rss+xml", "application/atom+xml", "application/rdf+xml"))
# Records of a host that may differ in numbers only.
MOST_ALIKE = 500

_NO_NAMES: frozenset[str] = frozenset()
SOFT = reasons.reason("soft-404")


class Gatekeeper:
    """What all hosts taught."""

    def __init__(
        self, store: GateStore, host_of: Callable[[int], Host | None], objection: Callable[[str, str], str],
        is_home: Callable[[str], bool], many_hosts: bool, tunnel: Tunnel | None = None,
        holds: bool = True, is_record: Callable[[int], bool] = lambda id: False,
    ) -> None:  # fmt: skip
        """`many_hosts`: the scope may lead to more and more hosts; `is_home`: whether an origin is
        one the user named; `is_record`: whether an answer of a form leads to a URL.

        Without `holds` nothing is held back; other names of a page are still recognised.
        """
        self._holds = holds
        self._is_record = is_record
        self._store = store
        self._objection = objection
        self._tunnel = tunnel
        self._memory = HostMemory(host_of, is_home, many_hosts, store.noted(DOMAINS) or "")
        self._holding = Holding(store, self._memory)
        self._mirrors = Mirrors(store, self._memory, objection, holds) if many_hosts else None
        self._records: dict[int, tuple[set[int], int]] = {}  # what records of a host said, and how many said it again
        self._beyond: dict[int, float] = {}
        self._listed = traps.CompactSet()  # URLs that pages with new content list
        self._reported: dict[int, bytes] = {}
        self._indexes: list[tuple[int, int]] = []  # (index page, folder) that say the same, in this report
        self._merged_into: dict[int, tuple[int, str]] = {}  # URLs that others were merged into: their host, and why

    # ---- what visits teach

    def without_soft_404(self, visit: Visit, task: Task) -> Visit:
        """A visit as it is meant: a page that was there and now says what the host says of any
        nonsense is not found.
        """
        if not task.digest or visit.outcome is not Outcome.PAGE or not visit.core:
            return visit
        watched = self._memory.of(identity(origin(task.url)))
        if watched is None or visit.core not in watched.budget.soft:
            return visit
        return msgspec.structs.replace(visit, outcome=Outcome.GONE, status=404, reason=SOFT)

    def learn(self, visits: list[tuple[Visit, Task]]) -> Lessons:
        """Takes the visits of a report as evidence."""
        lessons = Lessons()
        self._beyond = {}
        self._indexes = []
        self._reported = {v.id: v.text_digest for v, _ in visits if v.simhash and v.outcome is Outcome.PAGE}
        touched: dict[int, RememberedHost] = {}
        changed: set[int] = set()
        domains: dict[str, DomainBudget] = {}
        for visit, task in visits:
            if "#~" in task.url:  # what a browser finds behind a page has limits of its own
                continue
            home = origin(task.url)
            host = identity(home)
            if task.kind != Kind.PAGE:
                if visit.core and guessed(task.url) and (watched := self._memory.of(host)) is not None:
                    watched.budget.turned_away(visit.core)
                    changed.add(host)
                continue
            if (
                visit.outcome is Outcome.PAGE
                and task.url == f"{home}/"
                and (watched := self._memory.of(host)) is not None
            ):
                watched.budget.welcomed(visit.core or visit.gist)
            if task.digest:  # visited again: what it taught is known, unless it says something else now
                watched = self._memory.of(host) if visit.outcome is Outcome.PAGE else None
                if watched is not None:
                    touched[host] = watched
                    watched.budget.meet(task.url, visit.core)
                continue
            watched = touched.get(host) or self._memory.of(host)
            if watched is None:
                continue
            if host not in touched:
                watched.views.report_begins()
            if visit.outcome is Outcome.RETRY:
                if watched.domain:
                    domains[watched.domain] = self._memory.crowd_of(watched.domain)
                    domains[watched.domain].gave_up(host)
                continue
            touched[host] = watched
            if watched.domain:
                domains[watched.domain] = self._memory.crowd_of(watched.domain)
            if visit.outcome is Outcome.PAGE:
                lessons.answered.add(host)
                self._learn_page(visit, task, home, host, watched, lessons, changed)
            else:
                self._learn_failure(visit, task, home, host, watched, lessons, changed)
        self._settle_claims([visit for visit, _ in visits], lessons)
        self._settle_indexes(lessons)
        if self._mirrors is not None:
            self._mirrors.learn(visits, lessons, changed)
        for host, watched in touched.items():
            self._holding.release_some(host, watched, lessons)
        for name, domain in domains.items():
            for host in domain.released():
                self._holding.release(host, crowd(name), MOST_AT_ONCE, lessons)
        changed.update(host for host, watched in touched.items() if _is_much(watched))
        lessons.changed, lessons.domains = changed, set(domains)
        if self._tunnel is not None:
            self._tunnel.learn(visits, lessons)
        # The store does not know yet what was let go a moment ago, so it may have named some twice.
        lessons.released = list({each.id: each for each in lessons.released}.values())
        return lessons

    def kept(self, lessons: Lessons) -> tuple[list[Host], dict[str, str]]:
        """What a report taught, for its commit: hosts, and notes about domains. Call it when its
        links have passed.
        """
        if self._mirrors is not None:
            lessons.changed |= self._mirrors.probed
            self._mirrors.probed.clear()
        hosts = [known for host in sorted(lessons.changed) for known in self._memory.keep(host)]
        return hosts, self._memory.keep_domains(lessons.domains)

    def _learn_page(
        self,
        visit: Visit,
        task: Task,
        home: str,
        host: int,
        watched: RememberedHost,
        lessons: Lessons,
        changed: set[int],
    ) -> None:
        gist = visit.gist or int.from_bytes(visit.digest[:8], "big", signed=True)
        exact = int.from_bytes(visit.text_digest[:8], "big", signed=True)
        if visit.text_digest and self._is_record(task.id) and self._may_be_alike(host, gist):
            judged = watched.budget.judge(task.url, exact, 0, exact)
        else:
            judged = watched.budget.judge(task.url, gist, visit.simhash, visit.core, visit.repeats, exact)
        # A feed says what pages say, and where they are.
        lines = b"" if visit.mime in FEEDS else visit.lines
        if watched.views.visited(task.id, task.url, lines, judged.copy):
            changed.add(host)
        self._holding.probing.discard(task.id)
        self._holding.judged(task.id, judged.newness == 1.0)
        watched.unkept += 1
        if judged.newness == 1.0 and self._holding.ways.of(host, task.id):
            watched.budget.spent -= 1
        steps = self._holding.ways.beyond(host, task.id, judged.newness)
        if steps:
            self._beyond[task.id] = steps
        if judged.soft:
            lessons.reasons[visit.id] = SOFT
        if judged.closed or judged.opened:
            changed.add(host)
        if watched.domain:
            self._memory.crowd_of(watched.domain).judge(host, visit.core or gist, visit.simhash)
        if self._holding.held and judged.newness == 1.0 and visit.links:
            self._holding.free(self._holding.held.keys() & set(memoryview(visit.links).cast("q")), lessons)
        if judged.soft:
            return
        digest = visit.text_digest if visit.simhash else visit.digest
        same = watched.parameters.see(task.url, task.id, digest, self._digest)
        if same is not None:
            lessons.aliases += same
            changed.add(host)
        origins, pages = self._memory.twins.see(task.url, digest, self._digest)
        changed.update(map(identity, origins))
        lessons.aliases += pages
        for index, folder in index_pairs(task.url, watched.indexes):
            if self._digest(folder if task.id == index else index) == digest:
                self._indexes.append((index, folder))

    def _may_be_alike(self, host: int, gist: int) -> bool:
        """Records of a database may differ in a number only: what repeats another has to be equal
        to it.

        Some hundreds of them, because the days of an endless calendar differ in nothing else.
        """
        known, alike = self._records.get(host, (set(), 0))
        alike += gist in known
        known.add(gist)
        self._records[host] = known, alike
        return alike <= MOST_ALIKE

    def _learn_failure(
        self,
        visit: Visit,
        task: Task,
        home: str,
        host: int,
        watched: RememberedHost,
        lessons: Lessons,
        changed: set[int],
    ) -> None:
        watched.budget.missed(task.url)
        if watched.views.failed(task.id, task.url):
            changed.add(host)
        if watched.domain:
            self._memory.crowd_of(watched.domain).judge(host, 0, 0)
        if visit.outcome is Outcome.REDIRECT and visit.permanent:
            for other in _twin_names(home):
                if identity(other + task.url[len(home) :]) == visit.canonical:
                    self._memory.twins.know(other)
                    lost = self._memory.twins.moved(task.url, other + task.url[len(home) :])
                    changed.update(map(identity, lost))
        elif visit.outcome in (Outcome.GONE, Outcome.FAILED) and task.id in self._merged_into:
            # What others were merged into does not exist: they stand on their own again.
            where, reason = self._merged_into.pop(task.id)
            merged = self._memory.of(where)
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
        settled: dict[int, int] = {}
        for _ in range(claims.LONGEST_CHAIN):
            if not made:
                break
            facts = self._facts_of({id for claim in made for id in claim} | set(settled.values()))
            for id, known in facts.items():
                visit = new.get(id)
                if visit is not None and visit.outcome in (Outcome.PAGE, Outcome.REDIRECT):
                    known = PageFacts(State.FETCHED, known.alias, visit.status, visit.text_digest, visit.simhash)
                facts[id] = known._replace(alias=settled.get(id, known.alias))
            found = dict(claims.settled(made, facts))
            settled |= found
            # What moved for good to one of those that did is settled with it.
            moved = [id for id in found if 300 <= facts[id].status < 400]
            made = self._store.claims(moved) if moved else []
        lessons.aliases += settled.items()

    def _settle_indexes(self, lessons: Lessons) -> None:
        """Marks index pages as other names of their folders. What a page says of itself goes before
        that.
        """
        if self._indexes:
            facts = self._store.page_facts([id for pair in self._indexes for id in pair])
            named = {id: each.alias for id, each in facts.items()} | dict(lessons.aliases)
            lessons.aliases += [pair for pair in self._indexes if not any(named.get(id) for id in pair)]

    def _facts_of(self, ids: set[int]) -> dict[int, PageFacts]:
        """Of URLs, and of those that they stand for."""
        facts: dict[int, PageFacts] = {}
        for _ in range(claims.LONGEST_CHAIN):
            if not ids:
                break
            facts |= self._store.page_facts(list(ids))
            ids = {each.alias for each in facts.values() if each.alias} - facts.keys()
        return facts

    # ---- what passes the gate

    def note_links(self, mentioned: Collection[tuple[Found, Visit]]) -> None:
        """Takes note of the names in new URLs before they pass, and of URLs that stand on a page
        with new content beside others of their pattern: they are a bounded set.
        """
        lists: dict[tuple[int, str], list[int]] = {}
        # The page itself has fewer parameters than its views.
        for found, _ in sorted(mentioned, key=lambda each: each[0].url.count("=")):
            if found.kind == Kind.PAGE and (watched := self._memory.get(identity(origin(found.url)))) is not None:
                watched.views.claim(found.id, found.url)
        for found, visit in mentioned:
            if found.kind != Kind.PAGE or visit.id in self._beyond:
                continue
            watched = self._memory.get(identity(origin(found.url)))
            text = watched.budget.lists(found.url) if watched is not None else ""
            if text:
                lists.setdefault((visit.id, text), []).append(found.id)
        for ids in lists.values():
            if len(ids) >= traps.LIST:
                for id in ids:
                    self._listed.add(id)

    def place(self, row: NewUrl, unknown: Callable[[dict[int, str]], list[int]]) -> list[NewUrl]:
        """The rows that a new URL becomes: itself, perhaps held back; or another name, and what it
        is a name of.
        """
        if self._tunnel is None:
            return self._placed(row, unknown)
        if row.state is State.QUEUED and (far := self._tunnel.too_far(row)):
            return [far]
        return [*map(self._tunnel.place, self._placed(row, unknown))]

    def _placed(self, row: NewUrl, unknown: Callable[[dict[int, str]], list[int]]) -> list[NewUrl]:
        if row.state is not State.QUEUED or row.kind != Kind.PAGE or not row.depth or "#~" in row.url:
            return [row]
        merge = self._meant(row.url, row.host)
        if merge is not None:
            rows = self._merged(row, merge, unknown)
            if rows:
                return rows
        if self._mirrors is not None and (rows := self._mirrors.place(row, unknown)):
            return rows
        steps = self._beyond.get(row.via, 0.0)
        reason = self._hold_back(row, steps)
        if reason:
            self._holding.hold(row.id, row.host, row.depth, reason)
            return [row._replace(state=State.KNOWN, reason=reason)]
        if steps:
            self._holding.ways.note(row.host, [row.id], steps)
        return [row] if self._mirrors is None else self._mirrors.beside(row, unknown)

    def strict(self, host: int) -> bool:
        """Whether what is queued of a host has to be looked at again before it is visited."""
        watched = self._memory.get(host)
        if watched is not None and (watched.budget.closed or watched.parameters.names):
            return True
        if self._mirrors is not None and self._mirrors.mirrors(host):
            return True
        return bool(self._memory.twins.merged)

    def most_at_once(self, host: int) -> int:
        """How many URLs of a host may be under way: what they teach comes too late for those that
        are.

        Few while the host is young and there is something to learn about its URLs, and more with
        all that it says. A focused crawl learns from each page which links are best, so it always
        has something to learn. Of a host that brings less than others it has few under way, so that
        no farm of promising links takes its time.
        """
        if self._mirrors is not None and self._mirrors.suspects(host):
            return FEWEST_AT_ONCE
        watched = self._memory.get(host)
        if self._tunnel is not None:
            if (trust := self._tunnel.trust(host)) < 1.0:
                return max(1, round(FEWEST_AT_ONCE * trust * trust))
            return min(MOST_AT_ONCE, max(FEWEST_AT_ONCE, watched.budget.new // FOCUSED_SHARE if watched else 0))
        if watched is None or not (watched.parameters.undecided or watched.budget.dull):
            return MOST_AT_ONCE
        return max(PATIENT_AT_ONCE if watched.budget.patient else FEWEST_AT_ONCE, watched.budget.new // 4)

    def forget(self, ids: Iterable[int]) -> None:
        """These are held back no longer: somebody wants them visited, or they are excluded now."""
        for id in ids:
            self._holding.held.pop(id, None)
            if self._tunnel is not None:
                self._tunnel.forget(id)

    def recheck(
        self, task: Task, host: int, unknown: Callable[[dict[int, str]], list[int]]
    ) -> tuple[Reworked, list[NewUrl]] | None:
        """What becomes of a URL whose turn it is; None when it may be visited."""
        if task.kind != Kind.PAGE or not task.depth or "#~" in task.url:
            return None
        watched = self._memory.get(host)
        if watched is not None and (first := watched.parameters.first.get(task.id, task.id)) != task.id:
            watched.budget.missed(task.url)
            return Reworked(task.id, State.EXCLUDED, reasons.reason("merged-visited"), first), []
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
        if self._mirrors is not None and (verdict := self._mirrors.recheck(task, host, unknown)):
            return verdict
        held = self._holds and task.id not in self._holding.probing
        if held and watched is not None and watched.budget.closed:
            text = watched.budget.objection(task.url)
            if text:
                why = dull(text, task.id in self._listed)
                self._holding.hold(task.id, host, task.depth, why)
                return Reworked(task.id, State.KNOWN, why), []
        return None

    def _meant(self, url: str, host: int) -> Meant | None:
        watched = self._memory.get(host)
        names = watched.parameters.names if watched is not None else _NO_NAMES
        if not names and not self._memory.twins.merged:
            return None
        return meant(url, self._memory.twins.merged, names)

    def _merged(self, row: NewUrl, merge: Meant, unknown: Callable[[dict[int, str]], list[int]]) -> list[NewUrl] | None:
        home = origin(merge.url)
        if self._objection(merge.url, home):
            return None
        watched = self._memory.get(row.host)
        target = identity(merge.url)
        first = watched.parameters.first.get(target) if watched is not None else None
        rows = [row._replace(state=State.EXCLUDED, reason=merge.reason, alias=first or target)]
        if first is None and unknown({target: merge.url}):
            rows.append(row._replace(id=target, url=merge.url, host=identity(home)))
            if len(self._merged_into) < MOST_MERGED:
                self._merged_into[target] = (row.host, merge.reason)
        return rows

    def _hold_back(self, row: NewUrl, steps: float) -> str:
        """Why a URL is not visited yet; empty when it is."""
        if not self._holds:
            return ""
        watched = self._memory.get(row.host)
        if watched is not None:
            budget = watched.budget
            # What a page redirects to is the page.
            if not row.hops and (kind := watched.views.place(row.id, row.url, row.anchor, row.via)):
                return view(kind)
            if text := budget.objection(row.url):
                return dull(text, row.id in self._listed)
            if steps > budget.longest_way:
                return FARTHEST if budget.patient else FAR
            if steps:
                if budget.allowance < 1:
                    return SPENT
                budget.spent += 1
            if text := budget.admits(row.url):
                return dull(text, row.id in self._listed)
        elif (name := self._memory.domain(origin(row.url))) and not self._memory.crowd_of(name).admits(row.host):
            return crowd(name)
        return ""

    def idle(self) -> Lessons:
        """Nothing is queued any more: what was only put off is let go."""
        lessons = self._holding.idle() if self._holds else self._holding.release_all()
        if self._mirrors is not None and not lessons.released:
            self._mirrors.idle(lessons)
        if self._tunnel is not None:
            self._tunnel.release(lessons)
        return lessons

    def last_words(self) -> list[Host]:
        """The hosts that taught something since they were kept, as they are to be kept at the end
        of a run.
        """
        return self._memory.unkept()

    def _digest(self, id: int) -> bytes:
        """The text of a page that was visited, in this report or before."""
        if id in self._reported:
            return self._reported[id]
        facts = self._store.page_facts([id]).get(id)
        return facts.text_digest if facts is not None and 200 <= facts.status < 300 and facts.simhash else b""


def _is_much(watched: RememberedHost) -> bool:
    """Whether a host taught enough that is not kept yet."""
    return watched.unkept >= min(KEEP_EVERY, max(FEWEST_KEPT, watched.budget.new // KEEP_SHARE))


def _ignores(reason: str, name: str) -> bool:
    """Whether a URL was merged because a parameter does not count."""
    return reasons.code_of(reason) == "merged-parameters" and name in reasons.argument_of(reason).split(", ")


def _twin_names(home: str) -> list[str]:
    scheme, _, name = home.partition("://")
    other = {"http": "https", "https": "http"}.get(scheme, scheme)
    twin = name.removeprefix("www.") if name.startswith("www.") else "www." + name
    return [f"{other}://{name}", f"{scheme}://{twin}", f"{other}://{twin}"]
