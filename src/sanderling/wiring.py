"""Connects the rooms: the one file that knows them all.

seeds ─► dispatcher ─► ranking ─► store ─► allocator ═lease═► client crawler ─► web
             ▲                      ▲                               │
             └───── new URLs ─── intake ◄═══════════report══════════┘
"""

import contextlib
import logging
import math
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

import msgspec
import turbohtml

from sanderling.errors import DiskFull, StoreAway, UsageError
from sanderling.judging import fingerprinter, judge, rejudge
from sanderling.model import (
    PROTOCOL,
    Before,
    Change,
    ChangeKind,
    Commit,
    Counts,
    Found,
    Hello,
    Host,
    Kind,
    Lease,
    NewUrl,
    Outcome,
    Report,
    Reworked,
    Settled,
    State,
    Stop,
    Stored,
    Task,
    Visit,
    Welcome,
)
from sanderling.repository import address, export, warc
from sanderling.repository.folder import Folder, hold
from sanderling.repository.sqlite import SqliteStore
from sanderling.repository.store import Store, WhileAway
from sanderling.server import intake
from sanderling.server.allocator import Allocator
from sanderling.server.crew import Crew
from sanderling.server.dispatcher import Scope, admit, canonical_seed
from sanderling.server.distributor import Distributor
from sanderling.server.gatekeeper import Gatekeeper, Lessons, Released
from sanderling.server.marker import Marker
from sanderling.server.reranker import Reranker
from sanderling.server.sources import Sources
from sanderling.server.switchboard import Line, Switchboard
from sanderling.settings import Order, Settings, dump, load, overlay
from sanderling.urls import identity, origin

_log = logging.getLogger("sanderling")

# A client that says nothing for so long hangs in a parser; it is ended and replaced.
LONGEST_SILENCE = 60.0
LAST_WORDS = 1.5
# How often a database that went away is looked for.
AWAY_PAUSE = 0.3


class Progress(msgspec.Struct, frozen=True):
    """How far a running crawl is."""

    counts: Counts
    leased: int
    hosts: int
    clients: int
    replaced: int
    seconds: float
    left: int | None  # pages until the limit


OnProgress = Callable[[Progress], None]
OnVisits = Callable[[list[tuple[str, Visit]]], None]


def open_store(folder: Folder, readonly: bool, while_away: WhileAway | None = None) -> Store:
    """The state of a crawl, in its folder or where the folder's settings say."""
    store = load(folder.settings)[0].store if folder.settings.exists() else None
    if not store:
        return SqliteStore(folder.database, readonly)
    try:
        from sanderling.repository.postgres import PostgresStore
    except ImportError as error:
        raise UsageError(f"a store in PostgreSQL needs `pip install 'sanderling[postgresql]'` ({error})") from None
    return PostgresStore(store, readonly, while_away)


def settings_for(folder: Folder, chosen: dict[str, object]) -> tuple[Settings, list[str]]:
    """What is chosen now on top of what the folder was made with, and the seeds it was made with."""
    kept, seeds = load(folder.settings) if folder.settings.exists() else (Settings(), ())
    settings = overlay(kept, chosen)
    if folder.exists() and settings.store != kept.store:
        if not address.same(settings.store, kept.store):
            where = address.shown(kept.store) or "the folder"
            raise UsageError(f"the state of {folder.path} is in {where}, and stays there")
        settings = msgspec.structs.replace(settings, store=kept.store)
    return settings, list(seeds)


class CrawlServer:
    """One crawl: owns the store and the clients from start to end."""

    def __init__(
        self, folder: Folder, settings: Settings, seeds: list[str], crew_size: int, again: bool = False
    ) -> None:
        """`again` visits every known page once more, and asks only for what has changed."""
        self._folder = folder
        self._again = again
        self._stopping = False
        self._asked_to_stop: Callable[[], bool] = lambda: False
        self._away_since = 0.0
        self._back_since = -math.inf
        self.on_notice: Callable[[str], None] = _log.warning
        fresh = not folder.exists()
        folder.path.mkdir(exist_ok=True)
        folder.warcs.mkdir(exist_ok=True)
        with contextlib.ExitStack() as undo, contextlib.ExitStack() as failed:
            self._lock = undo.enter_context(hold(folder))
            if fresh:
                failed.callback(folder.abandon)
                settings = msgspec.structs.replace(settings, store=address.located(settings.store, folder.path))
                folder.settings.write_text(dump(settings, tuple(seeds)), "utf-8")
            self._settings = settings
            self._store = open_store(folder, readonly=False, while_away=self._while_away)
            undo.callback(self._store.close)
            self.repaired = [*self._store.notices, *warc.repair(folder.warcs, self._store.warcs())]
            self._run_folder = Path(undo.enter_context(tempfile.TemporaryDirectory(prefix="sanderling-")))
            (folder.path / "sanderling.socket").unlink(missing_ok=True)
            (folder.path / "sanderling.socket").symlink_to(self._run_folder / "socket")
            undo.callback((folder.path / "sanderling.socket").unlink, missing_ok=True)
            self._switchboard = undo.enter_context(contextlib.closing(Switchboard(self._run_folder / "socket")))
            failed.pop_all()
            self._undo = undo.pop_all()
        self._crew = Crew(crew_size, self._run_folder / "socket")
        self._counts = self._store.counts()
        self._seeds = list(dict.fromkeys([*self._store.seeds(), *map(canonical_seed, seeds)]))
        self._homes = self._store.homes()
        self._trusted = {origin(seed) for seed in self._seeds}
        self._scope = Scope([*self._seeds, *self._homes], settings)
        self._fingerprint = fingerprinter(settings.rules)
        self._allocator = Allocator(settings, self._take)
        self._distributor = Distributor(self._store.take, self._store.ranks)
        # With a limit of depth, levels come one after the other, whatever a page is worth.
        self._order: Order = settings.order if settings.max_depth is None else "breadth-first"
        self._reranker = Reranker(
            self._order, [sys.executable, "-m", "sanderling.cli.rerank", str(folder.path), self._order],
            self._run_folder / "ranks",
        )  # fmt: skip
        self._gate = Gatekeeper(
            self._store, lambda id: self._allocator.site(id) or self._store.host(id), self._scope.objection,
            lambda home: home in self._trusted or any(origin(url) == home for url in self._homes),
            settings.scope in ("domain", "any"),
        )  # fmt: skip
        # How far a page in a sitemap is from a seed nobody knows, so with a limit of depth none is read.
        self._sources = Sources(settings.sitemaps and settings.max_depth is None)
        self._passed: list[NewUrl] = []  # admitted at the gate while leases were made
        self._markers: dict[str, Marker] = {}
        self._blamed: Counter[int] = Counter()
        self._wants: dict[Line, int] = {}
        self._next_wake = self._store.next_wake()
        self._due_until = 0.0  # visits that are due by then have been handed to the allocator
        self._next_due: float | None = None
        self._started = time.monotonic()
        self.set_aside: list[int] = []
        self.on_visits: OnVisits | None = None
        self._apply_rules()
        self._load_queue()
        self._plant_seeds()

    # ---- the run

    def run(self, on_progress: OnProgress, asked_to_stop: Callable[[], bool]) -> Progress:
        """Crawls until the scope is exhausted, a limit is met or it is asked to stop."""
        ticked = 0.0
        self._asked_to_stop = asked_to_stop
        try:
            if not self._finished():
                self._crew.fill()
            while not self._finished() and not self._time_is_up() and not asked_to_stop():
                self._serve(0.1)
                now = time.monotonic()
                if now - ticked >= 0.2:
                    ticked = now
                    self._tick()
                    on_progress(self.progress())
        finally:
            self._stop()
        return self.progress()

    def close(self) -> None:
        self._undo.close()

    def progress(self) -> Progress:
        limit = self._settings.max_pages
        return Progress(
            self._counts, self._allocator.leased, self._allocator.hosts, len(self._wants), self._crew.replaced,
            time.monotonic() - self._started, max(0, limit - self._counts.pages) if limit is not None else None,
        )  # fmt: skip

    def _serve(self, timeout: float) -> None:
        arrived, lost = self._switchboard.poll(timeout)
        for line, message in arrived:
            line.heard = time.monotonic()
            if isinstance(message, Hello):
                self._welcome(line, message)
            else:
                self._take_in(message)
                self._wants[line] = message.want
        for line in lost:
            self._lose(line)
        for line, want in list(self._wants.items()):
            self._feed(line, want)

    def _tick(self) -> None:
        now = time.time()
        if self._next_wake is not None and self._next_wake <= now:
            for host, count in self._store.wake(now):
                self._add_work(host, count)
            self._next_wake = self._store.next_wake()
        if self._next_due is not None and self._next_due <= now:
            self._add_due(now)
        for line in list(self._switchboard.lines):
            if line.client and max(line.heard, self._back_since) < time.monotonic() - LONGEST_SILENCE:
                self._lose(line)
        known = {line.pid for line in self._switchboard.lines}
        for pid in self._crew.died_silently():
            if pid not in known:
                self._crew.bury(pid)
        self._crew.fill()
        if ranks := self._reranker.step(self._counts.fetched):
            self._store.rerank(ranks)
        if self._back_since < time.monotonic() - LONGEST_SILENCE:
            overdue = self._allocator.expired(time.monotonic())
            for line in [line for line in self._switchboard.lines if line.client in overdue]:
                self._lose(line)
        if shutil.disk_usage(self._folder.path).free < self._settings.min_free:
            raise DiskFull(
                f"stopped with less than {self._settings.min_free >> 20} MiB free on the disk; nothing is lost: "
                "free some space and run it again"
            )

    def _finished(self) -> bool:
        if self._allocator.leased:
            return False
        waiting = self._next_wake is not None or self._next_due is not None
        if self._room() <= 0:
            return True
        return self._allocator.nothing_left() and not waiting and not self._let_go(self._gate.idle().released)

    def _time_is_up(self) -> bool:
        return self._settings.max_time is not None and time.monotonic() - self._started >= self._settings.max_time

    def _room(self) -> int:
        """How many more leases the limits allow."""
        settings, counts = self._settings, self._counts
        if settings.max_bytes is not None and counts.bytes >= settings.max_bytes:
            return 0
        return 1 << 30 if self._again else self._pages_left() - self._allocator.leased

    def _pages_left(self) -> int:
        limit = self._settings.max_pages
        return 1 << 30 if limit is None else limit - self._counts.pages

    def _take(self, host: int, count: int, leased: Collection[int]) -> list[Task]:
        """What to visit next on a host: URLs that are new first, then those that are due again."""
        if not self._again:
            return self._let_pass(host, count, leased)
        room = min(count, self._pages_left() - self._allocator.leased)
        tasks = self._let_pass(host, room, leased) if room > 0 else []
        return tasks + self._store.take_due(host, count - len(tasks), leased, time.time())

    def _let_pass(self, host: int, count: int, leased: Collection[int]) -> list[Task]:
        """The best queued URLs of a host that the gate lets pass by what is known now."""
        in_order = self._order == "breadth-first"
        tasks = (self._store.take if in_order else self._distributor.take)(host, count, leased)
        if not self._gate.strict(host):
            return tasks
        passed: list[Task] = []
        while tasks:
            stopped = {task.id: verdict for task in tasks if (verdict := self._gate.recheck(task, host, self._unknown))}
            passed += [task for task in tasks if task.id not in stopped]
            if not stopped:
                break
            urls = list({row.id: row for _, rows in stopped.values() for row in rows}.values())
            depths = Counter(task.depth for task in tasks if task.id in stopped)
            self._allocator.add_depths({depth: -count for depth, count in depths.items()})
            self._counts.queued -= len(stopped)
            held = sum(change.state is State.KNOWN for change, _ in stopped.values())
            self._counts.held += held
            self._counts.excluded += len(stopped) - held
            intake.count(self._counts, urls, [], [])
            fresh = self._hosts_of(urls)
            self._store.rework([change for change, _ in stopped.values()], urls, list(fresh.values()), self._counts)
            self._passed += urls
            tasks = self._store.take(host, count - len(passed), {*leased, *(task.id for task in passed)})
        return passed

    def _unknown(self, urls: dict[int, str]) -> list[int]:
        return self._store.unknown(urls)

    def _stop(self) -> None:
        self._stopping = True
        self._reranker.close()
        for line in self._switchboard.lines:
            self._switchboard.send(line, Stop())
        deadline = time.monotonic() + LAST_WORDS
        with contextlib.suppress(DiskFull, StoreAway):
            while self._wants and time.monotonic() < deadline:
                self._serve(0.05)
        self._crew.disband(max(0.0, deadline - time.monotonic()))
        with contextlib.suppress(StoreAway):  # then it is done when the crawl goes on
            warc.repair(self._folder.warcs, self._store.warcs())

    def _while_away(self, reason: str) -> None:
        """Waits for a database that went away; clients go on with what they hold, and what they say is kept for later."""
        now = time.monotonic()
        if not reason:
            self.on_notice(f"the database is back after {now - self._away_since:.1f} s; the crawl goes on")
            self._away_since, self._back_since = 0.0, now
            return
        if not self._away_since:
            self._away_since = now
            self.on_notice(f"the database went away ({reason}); the crawl waits for it")
        if self._stopping or self._asked_to_stop():
            raise StoreAway("stopped while the database was away; nothing committed is lost: run it again to go on")
        time.sleep(AWAY_PAUSE)

    # ---- clients

    def _welcome(self, line: Line, hello: Hello) -> None:
        if hello.protocol != PROTOCOL or self._stopping:
            self._switchboard.drop(line)
            return
        line.client, line.pid = hello.client, hello.pid
        self._allocator.join(hello.client)
        marker = self._markers[hello.client] = Marker.create(self._run_folder / f"marker-{hello.client}")
        self._wants[line] = 0
        settings = msgspec.json.encode(msgspec.structs.replace(self._settings, store=""))  # no business of clients
        self._switchboard.send(line, Welcome(settings, str(self._folder.warcs.absolute()), str(marker.path)))

    def _feed(self, line: Line, want: int) -> None:
        if want <= 0 or self._stopping:
            return
        hosts = self._allocator.lease(line.client, want, self._room())
        if self._passed:
            passed, self._passed = self._passed, []
            self._queue(passed, {})
        if hosts:
            self._wants[line] = want - sum(len(part.tasks) for part in hosts)
            self._switchboard.send(line, Lease(hosts))

    def _lose(self, line: Line) -> None:
        """Takes back what a client held; a page that was being parsed when it died twice is set aside."""
        self._switchboard.drop(line)
        if self._wants.pop(line, None) is None:
            return
        if self._stopping:
            return
        self._crew.bury(line.pid)
        warc.repair(self._folder.warcs, self._store.warcs(), line.client)
        suspect = self._markers.pop(line.client).read()
        doomed = 0
        if suspect and (task := self._allocator.held(line.client, suspect)):
            self._blamed[suspect] += 1
            if self._blamed[suspect] >= 2:
                doomed = suspect
                if task.kind == Kind.PAGE:
                    self._counts.queued -= not task.digest
                    self._counts.fetched -= bool(task.digest)
                    self._counts.failed += 1
                self._store.set_aside(doomed, "set aside: it ended a client process twice", self._counts)
                self.set_aside.append(doomed)
        self._allocator.leave(line.client, doomed)

    # ---- what comes in

    def _take_in(self, report: Report) -> None:
        held = {v.id: self._allocator.held(report.client, v.id) for v in report.visits}
        tasks = {id: task for id, task in held.items() if task is not None}
        visits = [v for v in report.visits if v.id in tasks]
        hosts = [host for note in report.hosts if (host := self._allocator.note(note)) is not None]
        if not visits and not hosts:
            return
        settings = self._settings
        before = self._store.before([id for id, task in tasks.items() if task.digest])
        settled = [
            intake.settle(v, tasks[v.id], settings.retries, settings.retry_wait, before.get(v.id)) for v in visits
        ]
        changes, noise = self._judge(visits, before)
        lessons = self._gate.learn([(v, tasks[v.id]) for v in visits])
        settled = [s._replace(reason=lessons.reasons[s.id]) if s.id in lessons.reasons else s for s in settled]
        seen = intake.first_seen(visits)
        homes, again = self._follow_seeds(
            [v for v in visits if v.outcome is Outcome.REDIRECT and tasks[v.id].depth == 0], seen
        )
        urls: list[NewUrl] = self._new_sources(lessons)
        unknown = self._store.unknown({id: found.url for id, (found, _) in seen.items()})
        for id in unknown:
            found, visit = seen[id]
            task = tasks[visit.id]
            if found.kind == Kind.SOURCE:
                in_scope = not self._scope.objection(found.url, origin(found.url))
                urls.append(self._sources.row(found, visit.id, task, in_scope))
                continue
            redirected = visit.outcome is Outcome.REDIRECT
            for row in admit(
                [found], visit.id, task.depth + (not redirected), task.hops + 1 if redirected else 0,
                self._scope, settings.max_depth, self._reranker.rank,
            ):  # fmt: skip
                urls += self._gate.place(row, self._unknown)
        urls = list({row.id: row for row in urls}.values())
        fresh = self._hosts_of(urls)
        again += [Settled(each.id, State.QUEUED, 0, 0.0, "") for each in lessons.released]
        aliases = lessons.aliases + [(each.id, 0) for each in lessons.released if each.was is State.EXCLUDED]
        # What a sitemap says about URLs that were found without it.
        new = set(unknown)
        dated = [
            (id, found.modified, found.priority)
            for id, (found, _) in seen.items()
            if (found.modified or found.priority) and id not in new
        ]
        for settlement in settled:
            self._allocator.settle(settlement.id, settlement.state is State.QUEUED)
            if settlement.due and settlement.state is State.QUEUED:
                self._next_wake = min(self._next_wake or settlement.due, settlement.due)
            elif settlement.due:
                self._next_due = min(self._next_due or settlement.due, settlement.due)
        pages = [v for v in visits if tasks[v.id].kind == Kind.PAGE]
        intake.count(
            self._counts, urls, [s for s in settled if tasks[s.id].kind == Kind.PAGE], pages, before, changes
        )  # fmt: skip
        self._counts.bytes += sum(v.size for v in visits if tasks[v.id].kind == Kind.SOURCE)
        self._count_released(lessons.released)
        self._counts.leased = self._allocator.leased
        self._store.commit(
            Commit(
                report.client, report.number, urls, settled + again, visits,
                [*hosts, *lessons.hosts, *fresh.values()], report.warcs, self._counts, homes, changes, noise,
                aliases=aliases, dated=dated,
            )
        )  # fmt: skip
        self._queue(urls, fresh)
        self._add_released(lessons.released)
        self._crew.went_well()
        if self.on_visits is not None:
            self.on_visits([(tasks[v.id].url, v) for v in pages])

    def _new_sources(self, lessons: Lessons) -> list[NewUrl]:
        """The sitemaps of hosts that answer with a page for the first time, and addresses that should not exist."""
        wanted = {each.id: each for each in lessons.sources}
        for id in lessons.answered:
            host = self._allocator.site(id)
            if host is not None:
                wanted |= {each.id: each for each in self._sources.of(host)}
        unknown = self._store.unknown({id: each.url for id, each in wanted.items()}) if wanted else []
        return [self._sources.row(wanted[id], 0, None, True) for id in unknown]

    def _let_go(self, released: list[Released]) -> bool:
        """Queues what is held back no longer; False when there is nothing."""
        if released:
            self._count_released(released)
            self._store.rework([Reworked(each.id, State.QUEUED, "") for each in released], [], [], self._counts)
            self._add_released(released)
        return bool(released)

    def _add_released(self, released: list[Released]) -> None:
        self._allocator.add_depths(Counter(each.depth for each in released))
        for id, count in Counter(each.host for each in released).items():
            self._add_work(id, count)

    def _count_released(self, released: list[Released]) -> None:
        self._counts.queued += len(released)
        held = sum(each.was is State.KNOWN for each in released)
        self._counts.held -= held
        self._counts.excluded -= len(released) - held

    def _judge(self, visits: list[Visit], before: dict[int, Before]) -> tuple[dict[int, Change], dict[int, bytes]]:
        """What the pages that were visited again have become."""
        changes: dict[int, Change] = {}
        noise: dict[int, bytes] = {}
        for visit in visits:
            if visit.id in before:
                change, noise[visit.id] = judge(visit, before[visit.id], self._parameters_anew)
                if change is not None:
                    changes[visit.id] = change
        return changes, noise

    def _parameters_anew(self, before: Before) -> bytes:
        """Parameters of a version that is in the archive, made the way they are made now."""
        return b"" if before.stored is None else self._parameters_at(before.stored)

    def _parameters_at(self, stored: Stored) -> bytes:
        archived = warc.read(self._folder.warcs, stored)
        document = document_in(archived)
        return self._fingerprint(document, archived.url, b"") if document is not None else b""

    def _apply_rules(self) -> None:
        """Judges all versions anew from the archive when the user's rules are others than they were."""
        rules = msgspec.json.encode(self._settings.rules).decode()
        before = self._store.noted("rules") or "[]"
        if rules == before:
            return
        count = 0
        for page in self._store.with_history():
            versions = self._store.versions(page)
            texts = [b"" if v.kinds & ChangeKind.GONE else self._parameters_at(v.stored) for v in versions]
            changes, parameters, noise = rejudge(zip([v.kinds for v in versions], texts, strict=True))
            found = [(v.number, change) for v, change in zip(versions, changes, strict=True) if change is not None]
            self._store.rejudge(page, found, parameters, noise)
            count += 1
        self._store.note("rules", rules)
        self.repaired.append(f"the rules changed: the history of {count:,} pages was judged anew")

    def _follow_seeds(
        self, redirects: list[Visit], seen: dict[int, tuple[Found, Visit]]
    ) -> tuple[list[str] | None, list[Settled]]:
        """A seed that moved takes the scope with it: who asks for example.org wants www.example.org, too."""
        again: list[Settled] = []
        changed = False
        for visit in redirects:
            id = int.from_bytes(visit.links[:8], "little", signed=True)
            known = self._store.known([id]).get(id)
            url = seen[id][0].url if id in seen else known[0] if known else ""
            if not url or not self._scope.objection(url, origin(url)):
                continue
            self._scope.extend(url)
            self._homes.append(url)
            changed = True
            if known and known[1] == State.EXCLUDED:
                again.append(Settled(id, State.QUEUED, 0, 0.0, ""))
                self._counts.excluded -= 1
                self._counts.queued += 1
        return (self._homes if changed else None), again

    def _hosts_of(self, urls: list[NewUrl]) -> dict[int, Host]:
        """Hosts that have work for the first time."""
        fresh: dict[int, Host] = {}
        for row in urls:
            waits = row.state is State.QUEUED or row.state is State.KNOWN
            if waits and row.host not in fresh and self._allocator.site(row.host) is None:
                fresh[row.host] = self._store.host(row.host) or Host(row.host, origin(row.url))
        return fresh

    def _queue(self, urls: list[NewUrl], fresh: dict[int, Host]) -> None:
        queued = [row for row in urls if row.state is State.QUEUED]
        self._allocator.add_depths(Counter(row.depth for row in queued))
        for id, count in Counter(row.host for row in queued).items():
            self._add_work(id, count, fresh.get(id))

    def _add_work(self, id: int, count: int, host: Host | None = None) -> None:
        host = host or self._allocator.site(id) or self._store.host(id)
        if host is not None:
            self._allocator.add(host, count, host.origin in self._trusted)

    def _load_queue(self) -> None:
        for host, queued in self._store.waiting():
            self._allocator.add(host, queued, host.origin in self._trusted)
        if self._settings.max_depth is not None:
            self._allocator.add_depths(self._store.depths())
        if self._again:
            self._store.revisit_all(time.time())
            self._add_due(time.time())

    def _add_due(self, now: float) -> None:
        for host, count in self._store.due(self._due_until, now):
            self._add_work(host, count)
        self._due_until = now
        self._next_due = self._store.next_due(now)

    def _plant_seeds(self) -> None:
        ids = {identity(url): url for url in self._seeds}
        known = self._store.known(list(ids))
        found = [Found(id, url, "") for id, url in ids.items() if id not in known]
        urls = admit(found, 0, 0, 0, self._scope, None, self._reranker.rank)
        fresh = self._hosts_of(urls)
        intake.count(self._counts, urls, [], [])
        self._store.seed(self._seeds, urls, list(fresh.values()), self._counts)
        self._queue(urls, fresh)


def text_of(archived: warc.Archived) -> str:
    """The visible text of an archived document."""
    from sanderling.client.reading import visible_text

    types = [value for name, value in archived.headers if name.lower() == "content-type"]
    return visible_text(archived.url, archived.body, types[0] if types else "")


def document_in(archived: warc.Archived) -> turbohtml.Document | None:
    """An archived document as a page of text; None for one that says nothing."""
    from sanderling.client.reading import document_of

    types = [value for name, value in archived.headers if name.lower() == "content-type"]
    return document_of(archived.url, archived.body, types[0] if types else "")


FORMATS: dict[str, Callable[[Folder, Store], Iterator[bytes]]] = {
    "warc": export.warcs,
    "cdxj": export.cdxj,
    "jsonl": lambda folder, store: export.jsonl(folder, store, text_of),
    "links": export.links,
    "parquet": export.links_parquet,
    "graphml": export.links_graphml,
}


def client(path: str) -> None:
    """The life of a client process: connect, be welcomed, crawl, leave."""
    import gc
    import os
    import resource
    import signal

    from sanderling.client.crawler import Crawler, own_name
    from sanderling.client.line import ServerLine
    from sanderling.client.reading import Reader

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server is told and tells us
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 16384)), hard))
    gc.set_threshold(50_000, 20, 50)  # pages are trees without cycles; looking for some costs 5 % of the time
    line = ServerLine(path)
    name = own_name()
    welcome = line.introduce(Hello(PROTOCOL, name, os.getpid()))
    if welcome is None:
        return
    settings = msgspec.json.decode(welcome.settings, type=Settings)
    archive = warc.WarcWriter(Path(welcome.warc_folder), name)
    reader = Reader(settings, archive, Marker.open(Path(welcome.marker)).write, fingerprinter(settings.rules))
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # the server is gone: so are we
        Crawler(name, settings, line, reader, archive).run()


if __name__ == "__main__":
    client(sys.argv[1])
