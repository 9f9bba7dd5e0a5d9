"""Hosts that show the pages of another host under a name of their own are visited at one of them.

`mirror_evidence` says when a host is a mirror. Of the two, the one is visited that was met first,
or that the user named. Links to the mirror lead there: its URL is held back, and the same path is
queued at the other host. What that host does not have is visited at the mirror after all. Samples
of what is held are visited now and then. When they differ, the mirror is visited like any other
host.

Pairs of hosts are found by a table of a few pages of each: the first ones, and those whose paths
have the smallest hashes, so that two hosts with the same pages remember the same ones.
"""

from collections.abc import Callable, Iterable, Mapping

from sanderling.model import Kind, NewUrl, Outcome, PageFacts, Reworked, State, Task, Visit
from sanderling.model.reasons import reason
from sanderling.repository.store import MirrorStore
from sanderling.server.gate.claims import LONGEST_CHAIN
from sanderling.server.gate.holding import MOST_AT_ONCE, MOST_DRAWN, Lessons, Released
from sanderling.server.gate.host_memory import HostMemory, kept_mirror
from sanderling.server.gate.lots import Held, Lot, sample_size
from sanderling.server.gate.mirror_evidence import COMFORT, FIRST_PROBE, MirrorPair, SampleTable, alike, remember
from sanderling.server.gate.traps import MOST_HELD
from sanderling.urls import identity, origin

Unknown = Callable[[dict[int, str]], list[int]]

# When a page of a mirror differs, this many others are tried at once.
SECOND_LOOK = 2
# Hosts that a host was compared with in vain; after these it is compared with no more.
MOST_APART = 8
# So much has to be alike before fewer URLs of a host are under way.
SUSPICIOUS = 2

_LOST = (State.GONE, State.FAILED, State.EXCLUDED)
_LOSING = (Outcome.GONE, Outcome.FAILED, Outcome.EXCLUDED)


class Mirrors:
    """The hosts of a crawl that are mirrors of others, and those that may be."""

    def __init__(
        self, store: MirrorStore, memory: HostMemory, objection: Callable[[str, str], str], active: bool
    ) -> None:
        """Nothing is held back unless it is `active`, and what was held is let go."""
        self._store = store
        self._memory = memory
        self._objection = objection
        self._active = active
        self._table = SampleTable()
        self._pairs = memory.pairs
        self._copies: dict[int, set[int]] = {}  # from hosts to those that are, or may be, mirrors of them
        self._exempt: set[int] = set()  # URLs of mirrors that are to be visited
        self.probed: set[int] = set()  # hosts whose probes were counted with the last URLs
        self._searched: dict[int, int] = {}  # how many URLs were held back when they were looked through
        for host in store.hosts():
            kept = kept_mirror(host)
            for path, simhash in kept.sketch if active else ():
                self._table.meet(host.origin, -path, simhash)
            if kept.pair is not None:
                self._restore(host.id, host.origin, self._pairs.setdefault(host.id, kept.pair))

    def _restore(self, host: int, home: str, pair: MirrorPair) -> None:
        if not pair.original:
            return
        self._copies.setdefault(identity(pair.original), set()).add(host)
        if pair.proven:
            pair.held = len(self._store.held(host, mirrored(pair.original), MOST_HELD))
            if self._memory.is_home(home) or self._objection(pair.original + "/", pair.original):
                self._release(host, pair, set())

    # ---- what passes

    def mirrors(self, host: int) -> str:
        """The origin that a host is a mirror of; empty when it is none."""
        pair = self._pairs.get(host)
        return pair.original if pair is not None and pair.proven and self._active else ""

    def suspects(self, host: int) -> bool:
        """Whether a host looks like a mirror and is not known to be one yet."""
        pair = self._pairs.get(host)
        return pair is not None and self._active and not pair.proven and pair.contents >= SUSPICIOUS

    def place(self, row: NewUrl, unknown: Unknown) -> list[NewUrl] | None:
        """A URL of a mirror as it is held back, with the one to visit in its place if that is new;
        None when it may be visited.
        """
        home = self.mirrors(row.host)
        if not home or row.hops:  # the host that it mirrors may have moved there
            return None
        url = home + row.url[len(origin(row.url)) :]
        target = identity(url)
        facts = self._store.page_facts([target]).get(target)
        if self._objection(url, home) or (facts is not None and _is_lost(facts)):
            return None
        self._pairs[row.host].held += 1
        rows = [row._replace(state=State.KNOWN, reason=mirrored(home))]
        if facts is None and unknown({target: url}):
            rows.append(row._replace(id=target, url=url, host=identity(home)))
        return rows

    def beside(self, row: NewUrl, unknown: Unknown) -> list[NewUrl]:
        """A new URL of a host, now and then with the one that a mirror of it has at the same path:
        it is visited to see whether it is still the same, and where it leads.
        """
        rows = [row]
        for copy in self._copies.get(row.host, ()) if self._active else ():
            pair = self._pairs[copy]
            if pair.proven and pair.is_probed_next():
                home = self._home(copy)
                url = home + row.url[len(origin(row.url)) :]
                id = identity(url)
                if not self._objection(url, home) and unknown({id: url}):
                    rows.append(row._replace(id=id, url=url, host=copy))
                    self._exempt.add(id)
                self._keep(copy, self.probed)
        return rows

    def recheck(self, task: Task, host: int, unknown: Unknown) -> tuple[Reworked, list[NewUrl]] | None:
        """The same for a URL whose turn it is."""
        if task.id in self._exempt:
            return None
        row = NewUrl(task.id, task.url, host, task.depth, State.QUEUED, -float(task.depth), 0, task.hops, "", "")
        rows = self.place(row, unknown)
        return (Reworked(task.id, State.KNOWN, rows[0].reason), rows[1:]) if rows else None

    # ---- what visits teach

    def learn(self, visits: list[tuple[Visit, Task]], lessons: Lessons, changed: set[int]) -> None:
        """Takes the visits of a report as evidence."""
        if not self._active:
            return
        reported = {visit.id: _facts(visit) for visit, _ in visits if visit.simhash and visit.outcome is Outcome.PAGE}
        for visit, task in visits:
            if task.kind != Kind.PAGE or visit.id in lessons.reasons:
                continue
            self._exempt.discard(visit.id)
            home = origin(task.url)
            host = identity(home)
            if visit.outcome in _LOSING and host in self._copies:
                self._fall_back(task, home, host, lessons)
            elif visit.id in reported or (visit.outcome is Outcome.UNCHANGED and self._is_paired(host)):
                self._learn_page(visit, task, home, host, reported, lessons, changed)
        self._follow_twins(changed)
        self._release_rest(lessons, changed)

    def _follow_twins(self, changed: set[int]) -> None:
        """A host that has mirrors may turn out to be only another name of a host."""
        merged = self._memory.twins.merged
        for copy, pair in self._pairs.items() if merged else ():
            home = pair.original
            if home in merged:
                self._copies[identity(home)].discard(copy)
                self._copies.setdefault(identity(merged[home]), set()).add(copy)
                pair.original = merged[home]
                # What is held gets another reason when its turn comes.
                pair.releasing = home if pair.proven else pair.releasing
                self._keep(copy, changed)

    def _learn_page(
        self, visit: Visit, task: Task, home: str, host: int, reported: Mapping[int, PageFacts], lessons: Lessons,
        changed: set[int],
    ) -> None:  # fmt: skip
        path = task.url[len(home) :]
        if self._is_paired(host):
            mine = reported.get(visit.id) or self._store.page_facts([visit.id]).get(visit.id)
            pair = self._pairs.get(host)
            if pair is not None and pair.original and mine is not None:
                page = identity(pair.original + path)
                self._weigh(host, pair, page, mine, self._look(page, reported), lessons, changed)
            for copy in list(self._copies.get(host, ())):
                pair = self._pairs[copy]
                theirs = self._look(identity(self._home(copy) + path), reported)
                if mine is not None and theirs is not None and _is_page(theirs) and not (pair.proven and task.digest):
                    self._weigh(copy, pair, visit.id, theirs, mine, lessons, changed)
        watched = self._memory.get(host)
        if watched is None or task.digest or visit.id not in reported or self.mirrors(host):
            return
        hashed = identity(path) & 0xFFFF_FFFF_FFFF
        if remember(watched.sketch, hashed, visit.simhash):
            for other in dict.fromkeys(self._table.meet(home, hashed, visit.simhash)):
                facts = self._look(identity(other + path), reported)
                if facts is not None and _is_page(facts) and alike(reported[visit.id], facts):
                    self._suspect(home, other, path, reported, changed)

    def _suspect(self, home: str, other: str, path: str, reported: Mapping[int, PageFacts], changed: set[int]) -> None:
        """A page of a host shows what another host showed at the same path before."""
        original, copy = sorted((other, home), key=self._weight, reverse=True)
        original = self.mirrors(identity(original)) or original
        twins, host = self._memory.twins, identity(copy)
        original = twins.merged.get(original, original)
        pair = self._pairs.get(host) or MirrorPair()
        theirs = self._pairs.get(identity(original)) or MirrorPair()
        if (
            pair.original
            or original in (copy, *pair.apart, *twins.others(copy))
            or theirs.original == copy
            or len(pair.apart) >= MOST_APART
            or self._memory.is_home(copy)
            or copy in twins.merged
        ):
            return
        self._pairs[host] = pair
        pair.original = original
        self._copies.setdefault(identity(original), set()).add(host)
        page = identity(original + path)
        if (here := self._memory.of(host)) is not None and (there := self._memory.of(identity(original))) is not None:
            pair.differ_in(here.sketch, there.sketch)
        one, two = self._look(identity(copy + path), reported), self._look(page, reported)
        if one is not None and two is not None:
            pair.compare(page, one, two)
        self._keep(host, changed)

    def _weight(self, home: str) -> tuple[bool, int]:
        """What decides which of two hosts is visited: the user named it, or it has shown more."""
        watched = self._memory.get(identity(home))
        return self._memory.is_home(home), watched.budget.new if watched is not None else 0

    def _weigh(
        self, host: int, pair: MirrorPair, page: int, mine: PageFacts, theirs: PageFacts | None, lessons: Lessons,
        changed: set[int],
    ) -> None:  # fmt: skip
        """A page of a host that is, or may be, a mirror was visited."""
        if theirs is not None and not _is_page(theirs) and not _is_lost(theirs):
            return  # it is not visited yet
        if not pair.proven:
            if theirs is not None and _is_page(theirs):
                pair.compare(page, mine, theirs)
            else:
                pair.lacks(page)
            self._decide(host, pair, changed)
            return
        if theirs is None:
            return  # it was on its way when the proof came
        if _is_lost(theirs):
            pair.own += 1
        elif pair.compare(page, mine, theirs):
            pair.doubt = max(0.0, pair.doubt - COMFORT)
        else:
            pair.doubt += 1.0
        if pair.refuted:
            self._release(host, pair, changed)
        elif pair.doubt >= 1.0:
            self._probe(host, pair, SECOND_LOOK, lessons)
        self._keep(host, changed)

    def _decide(self, host: int, pair: MirrorPair, changed: set[int]) -> None:
        if pair.decisive:
            # What the other host has been found to have meanwhile is not missing there.
            found = self._store.page_facts(list(pair.missing)) if pair.missing else {}
            pair.missing -= {id for id, facts in found.items() if not _is_lost(facts)}
            if pair.convincing and not self._is_mirrored_by(pair.original, self._home(host)):
                pair.proven, pair.passed, pair.probe_at = True, 0, FIRST_PROBE
            elif pair.exhausted:
                self._copies[identity(pair.original)].discard(host)
                pair.part()
        self._keep(host, changed)

    def _is_mirrored_by(self, home: str, copy: str) -> bool:
        """Whether a host is, by way of others, itself a mirror of one that shall be its mirror."""
        for _ in range(LONGEST_CHAIN):
            home = self.mirrors(identity(home))
            if not home or home == copy:
                return bool(home)
        return True

    def _fall_back(self, task: Task, home: str, host: int, lessons: Lessons) -> None:
        """What a host does not have is visited at its mirrors."""
        for copy in self._copies[host]:
            if self._pairs[copy].proven:
                id = identity(self._home(copy) + task.url[len(home) :])
                known = self._store.known([id])
                if id in known and known[id][1] == State.KNOWN:
                    self._let_go(copy, [(id, task.depth)], lessons)

    # ---- what is held

    def idle(self, lessons: Lessons) -> None:
        """Nothing else is left to visit: a sample of what is held is, and what is nowhere else."""
        changed: set[int] = set()
        for host, pair in self._pairs.items():
            if not pair.proven:
                continue
            if not self._active:
                self._let_go(host, self._store.held(host, mirrored(pair.original), MOST_AT_ONCE), lessons)
                continue
            if pair.held and pair.held >= 2 * pair.sampled:
                pair.sampled = pair.held
                self._probe(host, pair, sample_size(pair.held), lessons)
                self._keep(host, changed)
            if self._searched.get(host) != pair.held:
                self._search(host, pair, lessons)
        self._release_rest(lessons, changed)
        for host in changed:
            if (watched := self._memory.of(host)) is not None:
                watched.unkept += 1

    def _search(self, host: int, pair: MirrorPair, lessons: Lessons) -> None:
        """Lets go of what the other host was asked for in vain."""
        rows = self._store.held(host, mirrored(pair.original), MOST_HELD)
        for start in range(0, len(rows), MOST_AT_ONCE):
            part = rows[start : start + MOST_AT_ONCE]
            facts = self._at_original(pair, part)
            lost = [row for row in part if row[0] in facts and _is_lost(facts[row[0]])]
            self._let_go(host, lost, lessons)
        self._searched[host] = pair.held

    def _probe(self, host: int, pair: MirrorPair, most: int, lessons: Lessons) -> None:
        """Lets go of some URLs whose like the other host has shown, evenly among all."""
        drawn = Lot(self._store.held(host, mirrored(pair.original), MOST_DRAWN)).draw(8 + 4 * most)
        facts = self._at_original(pair, drawn)
        self._let_go(host, [row for row in drawn if row[0] in facts and _is_page(facts[row[0]])][:most], lessons)

    def _at_original(self, pair: MirrorPair, rows: Iterable[Held]) -> dict[int, PageFacts]:
        """What the other host has at the paths of some URLs."""
        known = self._store.known([id for id, _ in rows])
        there = {id: identity(pair.original + url[len(origin(url)) :]) for id, (url, _) in known.items()}
        facts = self._store.page_facts(list(there.values()))
        return {id: facts[page] for id, page in there.items() if page in facts}

    def _let_go(self, host: int, rows: list[Held], lessons: Lessons) -> None:
        lessons.released += [Released(id, host, depth, State.KNOWN) for id, depth in rows]
        self._exempt.update(id for id, _ in rows)
        self._pairs[host].held -= len(rows)

    def _release(self, host: int, pair: MirrorPair, changed: set[int]) -> None:
        """A mirror is none any more."""
        original = pair.original
        self._copies[identity(original)].discard(host)
        pair.part()
        pair.releasing = original
        self._keep(host, changed)

    def _release_rest(self, lessons: Lessons, changed: set[int]) -> None:
        """Lets go of what was held of hosts that are no mirrors any more, some at a time."""
        for host, pair in self._pairs.items():
            if pair.releasing:
                rows = self._store.held(host, mirrored(pair.releasing), MOST_AT_ONCE)
                lessons.released += [Released(id, host, depth, State.KNOWN) for id, depth in rows]
                if len(rows) < MOST_AT_ONCE:
                    pair.releasing = ""
                self._keep(host, changed)

    # ---- looking up

    def _is_paired(self, host: int) -> bool:
        return host in self._pairs or host in self._copies

    def _home(self, host: int) -> str:
        known = self._memory.host_of(host)
        return known.origin if known is not None else ""

    def _look(self, id: int, reported: Mapping[int, PageFacts]) -> PageFacts | None:
        """A URL as it is known, in this report or before."""
        return reported.get(id) or self._store.page_facts([id]).get(id)

    def _keep(self, host: int, changed: set[int]) -> None:
        if self._memory.of(host) is not None:
            changed.add(host)


def mirrored(home: str) -> str:
    return reason("held-mirror", home)


def _facts(visit: Visit) -> PageFacts:
    return PageFacts(State.FETCHED, 0, visit.status, visit.text_digest, visit.simhash, visit.language)


def _is_page(facts: PageFacts) -> bool:
    return facts.state == State.FETCHED and 200 <= facts.status < 300 and facts.simhash != 0


def _is_lost(facts: PageFacts) -> bool:
    """Whether there is no such page."""
    return facts.state in _LOST and not facts.alias
