"""Rebuilds from the archives what a database does not know: each of their responses becomes a visit
again.

An archive is read from the byte on up to which the database vouches for it, and every commit moves
that byte. So a recovery that was killed goes on where it was, and one that is complete changes
nothing. Archives that were set aside return to the others before the first commit that names them.
"""

import contextlib
import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Collection
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

from sanderling.client.archive import Archive
from sanderling.client.exchange import ANSWER, REQUISITE, ROBOTS, SITEMAP, SUBRESOURCE
from sanderling.client.fetch import Fetch
from sanderling.client.reading import Reader
from sanderling.files import PRIVATE, write_whole
from sanderling.header_values import whole_number
from sanderling.model import Commit, Exchange, Host, Kind, NewUrl, State, Stored, Task, Visit, VisitReport
from sanderling.processes.crew import new_name
from sanderling.processes.scratch import scratch
from sanderling.repository import archives, pruning, remote, warc
from sanderling.repository.exchanges import ArchivedExchange, by_date
from sanderling.repository.folder import Folder, hold
from sanderling.repository.opening import open_store
from sanderling.repository.store import Store
from sanderling.server.archived_fetch import Original, archived_fetch, is_file
from sanderling.server.assembly import Parts, Purpose, assemble
from sanderling.server.frontier.transition import Move, Transition
from sanderling.server.ranking.final_ranking import FinalRanking
from sanderling.settings import Settings, dump
from sanderling.telling import baseline
from sanderling.urls import SEEDABLE, canonical, identity, origin

_log = logging.getLogger("sanderling")

BATCH = 100
# About 100 MB.
MOST_CONTENTS = 300_000
VISITED = (State.FETCHED, State.GONE)

# Called with how many bytes were read, of how many.
OnProgress = Callable[[int, int], None]
# Makes a reader that writes to an archive.
MakeReader = Callable[[Archive], Reader]


class Recovered(Struct):
    """What a recovery brought back."""

    visits: int = 0
    pages: int = 0
    versions: int = 0
    older: int = 0  # visits that the database knows, or later ones to the same page
    archives: int = 0  # that brought something
    unreadable: list[str] = []  # URLs of answers that no parser could read


# What is read back though it is no page.
_KINDS = {SITEMAP: Kind.SOURCE, REQUISITE: Kind.REQUISITE}


class InPlace:
    """The archive that a reader of archives writes to: everything is there already."""

    def __init__(self) -> None:
        self.stored = Stored("", 0, 0)

    def add(self, exchange: Exchange) -> Stored:
        return self.stored

    def flush(self) -> dict[str, int]:
        return {}

    def close(self) -> None:
        pass


class Part(Struct):
    """An archive, or the end of one, that the database does not know."""

    path: Path
    name: str  # among the archives of the crawl
    start: int
    end: int  # of what was read so far
    size: int
    used: bool = False  # it brought something


def unknown_parts(folder: Folder, committed: dict[str, int]) -> list[Part]:
    """All bytes that the database does not vouch for."""
    found = []
    for path in remote.archives_in(folder.warcs):
        start, size = committed.get(path.name, 0), remote.size_of(path)
        if size > start:
            found.append(Part(path, path.name, start, start, size))
    for path in archives.orphans(folder.warcs):
        found.append(Part(path, archives.free_name(folder.warcs, path), 0, 0, path.stat().st_size))
    return found


class _Content(NamedTuple):
    """Where the bytes of a response are."""

    stored: Stored
    part: Part


class KnownContents:
    """Responses by the digests of what they brought. A revisit may say that its bytes are those of
    a response to another URL."""

    def __init__(self) -> None:
        self._by_digest: OrderedDict[str, _Content] = OrderedDict()

    def note(self, exchange: ArchivedExchange, part: Part) -> None:
        digest = exchange.fields.get(warc.DIGEST)
        if digest and not exchange.is_revisit:
            self._by_digest.setdefault(digest, _Content(exchange.stored, part))
            if len(self._by_digest) > MOST_CONTENTS:
                self._by_digest.popitem(last=False)

    def of(self, revisit: ArchivedExchange) -> _Content | None:
        return self._by_digest.get(revisit.fields.get(warc.DIGEST, "")) if revisit.is_revisit else None


class Recovery:
    """One recovery: a client that has all its answers already."""

    def __init__(
        self, folder: Folder, store: Store, settings: Settings, parts: Parts, reader: Reader, place: InPlace,
        mark: Callable[[int], None], deadly: Collection[int],
    ) -> None:  # fmt: skip
        """`place` is the archive of the reader. `mark` is told what is read next; what is `deadly`
        is left out."""
        self._folder = folder
        self._store = store
        self._settings = settings
        self._frontier, self._intake, self._allocator = parts.frontier, parts.intake, parts.frontier.leases
        self._hosts = parts.hosts
        self._reader = reader
        self._place = place
        self._originals = warc.WarcReader(folder.warcs)
        self._contents = KnownContents()
        self._client = new_name()
        self._number = 0
        self._visits: dict[int, Visit] = {}
        self._led_to: set[int] = set()  # what these visits lead to
        self._moves: list[Move] = []  # URLs that are queued again, to be visited by them
        self._moved_hosts: dict[int, Host] = {}
        self._parts = unknown_parts(folder, store.warcs())
        self._recovered = Recovered()
        self._mark, self._deadly = mark, deadly
        self._first_crawl = False  # is being recovered

    def run(self, on_progress: OnProgress) -> Recovered:
        counts = self._frontier.counts
        pages, versions = counts.pages, counts.versions
        baseline.begin(self._store, self._store.newest_version(), pages, 0, False)
        self._first_crawl = baseline.baseline(self._store).open
        self._allocator.join(self._client)
        done, whole = 0, sum(part.size - part.start for part in self._parts)
        for number, exchange in by_date((part.path, part.start) for part in self._parts):
            part = self._parts[number]
            self._take(part, exchange._replace(stored=exchange.stored._replace(warc=part.name)))
            part.end = exchange.end
            done += exchange.end - exchange.stored.offset
            on_progress(done, whole)
        self._commit()
        self._store.commit(Commit(self._client, self._number + 1, [], [], [], [], self._reached(), counts))
        if not counts.queued:
            baseline.close(self._store, self._store.newest_version(), counts.pages, self._store.last_number())
        self._originals.close()
        self._recovered.pages, self._recovered.versions = counts.pages - pages, counts.versions - versions
        self._recovered.archives = sum(part.used for part in self._parts)
        return self._recovered

    def _take(self, part: Part, exchange: ArchivedExchange) -> None:
        """Reads an exchange as a client reads an answer, if it tells something about a page or a
        sitemap."""
        self._contents.note(exchange, part)
        if exchange.purpose in (ROBOTS, SUBRESOURCE, ANSWER):
            return
        task = self._task(exchange)
        source = self._contents.of(exchange)
        place = source.stored if source is not None else None
        fetch = None if task is None else archived_fetch(exchange, task, self._settings, self._original, place)
        if task is None or fetch is None:
            return
        part.used = True
        if source is not None:
            source.part.used = True
        visit = self._read(fetch, exchange.converted or place or exchange.stored)
        if visit is None:
            self._recovered.unreadable.append(task.url)
            return
        self._allocator.assign(self._client, self._host(task.url), task)
        self._visits[task.id] = visit
        self._led_to.update(found.id for found in visit.found)
        self._recovered.visits += 1
        if len(self._visits) >= BATCH:
            part.end = exchange.end
            self._commit()

    def _read(self, fetch: Fetch, stored: Stored) -> Visit | None:
        """What a client would report; None when a parser cannot read it, or ended the process when
        it tried."""
        number = identity(f"{stored.warc}:{stored.offset}")
        if number in self._deadly:
            return None
        self._mark(number)
        self._place.stored = stored
        try:
            return self._reader.read([fetch])[0]
        except Exception:  # as a client, it ends at such a page; the page is fetched again at its next visit
            _log.debug("%s cannot be read", fetch.task.url, exc_info=True)
            return None
        finally:
            self._mark(0)

    def _task(self, exchange: ArchivedExchange) -> Task | None:
        """The task that a visit settles; None when the database knows the visit, or a later one."""
        # States of pages, which only we write, have URLs that are not canonical.
        url = exchange.url if exchange.is_ours else canonical(exchange.url, SEEDABLE)
        if url is None or exchange.note("method") not in ("", "GET") or (not exchange.is_ours and _is_robots(url)):
            return None
        id, kind = identity(url), _KINDS.get(exchange.purpose, Kind.PAGE)
        if not exchange.is_ours and is_file(exchange):
            kind = Kind.REQUISITE
        if id in self._visits or id in self._led_to:
            self._commit()
        known = self._store.known([id]).get(id)
        if known is None:
            return self._admitted(url, id, whole_number(exchange.note("hopsfromseed")) or 0, kind)
        (task,) = self._store.tasks([id])
        # What others archived may be known as a link or as a file of a page.
        may_be = (kind,) if exchange.is_ours else (Kind.PAGE, Kind.REQUISITE)
        if known[0] != url or task.kind not in may_be:
            return None
        visited = known[1] in VISITED
        if (visited or task.stored) and exchange.at <= self._store.seen([id])[id].at:
            self._recovered.older += 1
            return None
        if not visited:
            if known[1] != State.QUEUED:
                self._queue(task, State(known[1]))
            return task if task.stored else Task(*task[:6])
        if self._first_crawl and kind == Kind.PAGE:
            self._end_first_crawl()
        return task

    def _end_first_crawl(self) -> None:
        """A page is visited again: what was visited so far is the baseline."""
        self._commit()
        self._first_crawl = False
        pages, urls = self._frontier.counts.pages, self._store.last_number()
        baseline.close(self._store, self._store.newest_version(), pages, urls)

    def _admitted(self, url: str, id: int, depth: int, kind: Kind) -> Task:
        """A URL that nothing leads to: a seed that was forgotten, or what it led to is lost."""
        row = NewUrl(id, url, identity(origin(url)), depth, State.QUEUED, 0.0, 0, 0, "", "", kind)
        self._frontier.apply(Transition([row]))
        return Task(id, url, depth, 0, 0, kind)

    def _queue(self, task: Task, state: State) -> None:
        """Queues a URL that was visited and is held back, excluded or failed by what is known so
        far."""
        self._frontier.let_through([task.id])
        host = self._host(task.url)
        self._moves.append(Move(task.id, host.id, task.depth, state, counted=task.kind == Kind.PAGE))
        self._moved_hosts[host.id] = host

    def _host(self, url: str) -> Host:
        home = origin(url)
        hosts = self._hosts
        return hosts.use(hosts.find(identity(home)) or Host(identity(home), home))

    def _original(self, stored: Stored) -> Original:
        return self._originals.read(stored)

    def _reached(self) -> dict[str, int]:
        return {part.name: part.end for part in self._parts if part.used}

    def _commit(self) -> None:
        """Commits the visits that were read, after their archives are where the database looks for
        them."""
        if not self._visits and not self._moves:
            return
        for part in self._parts:
            if part.used and part.path.parent != self._folder.warcs:
                part.path = part.path.rename(self._folder.warcs / part.name)
        self._number += 1
        visits, self._visits = list(self._visits.values()), {}
        self._led_to.clear()
        if self._moves:
            self._frontier.apply(Transition(moves=self._moves, hosts=[*self._moved_hosts.values()]))
            self._moves, self._moved_hosts = [], {}
        self._intake.take_in(VisitReport(self._client, self._number, time.monotonic(), 0, visits, [], self._reached()))


def _is_robots(url: str) -> bool:
    return url.partition("://")[2].partition("/")[2] == "robots.txt"


def seeds_in(folder: Folder) -> list[str]:
    """Where a crawl began whose settings are lost: the pages that no link leads from a seed to."""
    paths = [*remote.archives_in(folder.warcs), *archives.orphans(folder.warcs)]
    found = {
        exchange.url: None
        for _, exchange in by_date((path, 0) for path in sorted(paths))
        if not exchange.purpose and exchange.note("hopsfromseed") == "0"
    }
    return list(found)


def recover(
    folder: Folder, settings: Settings, seeds: list[str], read: MakeReader, on_progress: OnProgress,
    mark: Callable[[int], None] = lambda number: None, deadly: Collection[int] = (),
) -> Recovered:  # fmt: skip
    """Takes back what the archives of a folder hold and its database does not know; makes the
    database if need be.

    `mark` is called with the number of each answer before it is read. Those that are `deadly` are
    left out.
    """
    with contextlib.ExitStack() as undo:
        undo.enter_context(hold(folder))
        if not folder.settings.exists():
            seeds = seeds_in(folder)
            write_whole(folder.settings, dump(settings, tuple(seeds)).encode(), mode=PRIVATE)
        store = open_store(folder, readonly=False)
        undo.callback(store.close)
        pruning.settle(folder, store)
        archives.seal(folder.warcs, store.warcs())
        place = undo.enter_context(scratch("recover"))
        parts = assemble(store, settings, seeds, folder, place, 1, Purpose())
        parts.detection.apply_rules()
        archive = InPlace()
        recovered = Recovery(folder, store, settings, parts, read(archive), archive, mark, deadly).run(on_progress)
        parts.detection.close()
        parts.frontier.close()
        ranking = FinalRanking(store, folder.path, place / "weights")
        undo.callback(ranking.close)
        ranking.begin(parts.frontier.counts)
        ranking.finish(lambda: False)
    return recovered
