"""From a URL that was found to rows: through the scope, the limit of depth and the gate."""

from collections.abc import Iterable, Mapping
from functools import partial

from sanderling.model import Found, Kind, NamedPage, NewUrl, Outcome, State, Task, Visit
from sanderling.model.reasons import reason
from sanderling.repository.store import FrontierStore
from sanderling.server.frontier import requisites
from sanderling.server.frontier.hosts import Hosts
from sanderling.server.frontier.ordering import Ordering
from sanderling.server.frontier.scope import admit
from sanderling.server.frontier.seeds import Seeds
from sanderling.server.frontier.sources import Sources
from sanderling.server.gate.gatekeeper import Gatekeeper
from sanderling.server.gate.holding import Lessons
from sanderling.server.ranking.reranker import FRONT
from sanderling.settings import Settings
from sanderling.urls import identity, is_state, origin


class Admission:
    """Decides for each new URL what its row says."""

    def __init__(
        self, store: FrontierStore, settings: Settings, seeds: Seeds, gate: Gatekeeper, hosts: Hosts,
        ordering: Ordering, reported: Iterable[int] = (),
    ) -> None:  # fmt: skip
        """`reported` are hosts whose own reports name all their pages, as visits have proven."""
        self._store = store
        self._seeds = seeds
        self._gate = gate
        self._hosts = hosts
        self._ordering = ordering
        self.reported = set(reported)
        self.change(settings)

    def change(self, settings: Settings) -> None:
        """Goes on with another limit of depth."""
        self._max_depth = settings.max_depth
        # The distance of a page in a sitemap from the seeds is unknown, so with a limit of depth
        # none is read.
        self._sources = Sources(settings.sitemaps and settings.follow_links and settings.max_depth is None)

    @property
    def reads_sitemaps(self) -> bool:
        return self._sources.wanted

    def unknown_seeds(self) -> list[NewUrl]:
        """Rows for the seeds that are not known yet. They may be anywhere, also out of reach of the
        patterns."""
        ids = {identity(url): url for url in self._seeds.urls}
        known = self._store.known(list(ids))
        found = [Found(id, url, "") for id, url in ids.items() if id not in known]
        return admit(found, 0, 0, 0, self._seeds.scope, None, self._ordering.rank)

    def found(self, mentioned: Iterable[tuple[Found, Visit]], tasks: Mapping[int, Task]) -> list[NewUrl]:
        """Rows for URLs that are not known yet, each with the visit that mentioned it first."""
        mentioned = list(mentioned)
        self._gate.note_links(mentioned)
        return [row for found, visit in mentioned for row in self._rows(found, visit, tasks[visit.id])]

    def named(self, pages: Iterable[NamedPage], first: bool) -> list[NewUrl]:
        """Rows for URLs that a source names and that are not known yet; `first` puts them in front
        of the queue, unless a topic decides there."""
        if self._max_depth is not None:
            return []  # their distance from a seed is unknown
        found = ((page.id, page.url, "", Kind.PAGE, page.at, 0.0) for page in pages)
        rank = (lambda _: FRONT) if first and not self._ordering.is_focused else self._ordering.rank
        rows = admit(found, 0, 1, 0, self._seeds.scope, None, rank)
        return [placed for row in rows for placed in self._gate.place(row, self._store.unknown)]

    def files(self, visits: Iterable[Visit], tasks: Mapping[int, Task], links: Iterable[NewUrl]) -> requisites.Needed:
        """What becomes of the files that visits name; `links` are the rows for their links."""
        files = requisites.named(visits)
        if not files:
            return requisites.Needed([], [])
        return requisites.admitted(files, tasks, links, self._store, self._seeds)

    def sitemaps(self, lessons: Lessons) -> list[NewUrl]:
        """The sitemaps of hosts that answer with a page for the first time, and addresses that
        should not exist."""
        wanted = {each.id: each for each in lessons.sources}
        for id in lessons.answered:
            host = self._hosts.used(id)
            if host is not None:
                wanted |= {each.id: each for each in self._sources.of(host)}
        unknown = self._store.unknown({id: each.url for id, each in wanted.items()}) if wanted else []
        return [self._sources.row(wanted[id], 0, None, True) for id in unknown]

    def _rows(self, found: Found, visit: Visit, task: Task) -> list[NewUrl]:
        if found.kind == Kind.SOURCE:
            in_scope = not self._seeds.objection(found.url, origin(found.url))
            return [self._sources.row(found, visit.id, task, in_scope)]
        redirected = visit.outcome is Outcome.REDIRECT
        stays = redirected or is_state(found.url)  # a state is as far from the seeds as its page
        depth, hops = task.depth + (not stays), task.hops + 1 if redirected else 0
        rank = partial(self._ordering.rank_link, found, visit.relevance)
        rows = admit([found], visit.id, depth, hops, self._seeds.scope, self._max_depth, rank)
        if self.reported and not stays:
            rows = [self._unless_reported(row) for row in rows]
        return [placed for row in rows for placed in self._gate.place(row, self._store.unknown)]

    def _unless_reported(self, row: NewUrl) -> NewUrl:
        """A link into a host that reports all its pages leads to none when the report has not named
        it."""
        if row.host not in self.reported or row.state is not State.QUEUED:
            return row
        return row._replace(state=State.EXCLUDED, reason=reason("not-reported"))
