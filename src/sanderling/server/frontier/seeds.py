"""The URLs that a crawl begins with, where they were redirected to, and the scope measured from
both."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from sanderling.model import Found, Kind, NewUrl, State, Task, Visit
from sanderling.model.reasons import code_of
from sanderling.repository.store import FrontierStore
from sanderling.server.frontier.scope import Scope, UrlFilter, canonical_seed
from sanderling.server.frontier.seed_addresses import SeedAddresses
from sanderling.settings import Settings
from sanderling.urls import hostname, identity, origin

# Of a crawl: what `_aside` found in earlier runs.
_ASIDE = "always kept"


class Followed(NamedTuple):
    """What became of seeds that were redirected."""

    homes: list[str] | None  # all URLs that seeds were redirected to, when there are new ones
    queued: list[NewUrl]  # known pages that the scope had excluded; they are in it now


class Seeds:
    """Knows what the user named, and asks the scope."""

    def __init__(
        self, store: FrontierStore, settings: Settings, named: Iterable[str], filters: Sequence[UrlFilter] = ()
    ) -> None:
        """`named` are seeds of this run; those of earlier runs stay seeds. `filters` are the
        user's own."""
        self._filters = filters
        self._store = store
        earlier, given = store.seeds(), [*map(canonical_seed, named)]
        self.urls = list(dict.fromkeys([*earlier, *given, *settings.always]))
        self._aside = _aside(store, settings.always, earlier, given)
        self._homes = store.homes()
        self._origins = {origin(url) for url in self.urls}
        self._private = settings.private_seeds
        wanted = self._private and not settings.allow_private
        self._addresses = SeedAddresses(store, map(origin, self.urls)) if wanted else None
        self.scope = Scope(self.centres, settings, self._filters)

    @property
    def centres(self) -> list[str]:
        """The URLs that scope is measured from."""
        return [*(url for url in self.urls if url not in self._aside), *self._homes]

    def change(self, settings: Settings) -> None:
        """Goes on with another scope."""
        self.scope = Scope(self.centres, settings, self._filters)

    def objection(self, url: str, home: str) -> str:
        """Why a URL with origin `home` is out of scope; empty when it is not."""
        return self.scope.objection(url, home)

    def is_home(self, home: str) -> bool:
        """Whether an origin is that of a seed, or of what a seed was redirected to."""
        return home in self._origins or any(origin(url) == home for url in self._homes)

    def is_trusted(self, home: str) -> bool:
        """Whether the user named an origin, so that its name may be one of a private network."""
        return self._private and home in self._origins

    def private_addresses(self, home: str) -> list[str]:
        """The private addresses at which an origin may be: those it had when the user named it."""
        if self._addresses is None or home not in self._origins:
            return []
        return self._addresses.of(hostname(home))

    def keep_addresses(self) -> None:
        """Writes down which addresses were found."""
        if self._addresses is not None:
            self._addresses.keep()

    def follow(self, redirects: Iterable[Visit], seen: Mapping[int, tuple[Found, Visit]]) -> Followed:
        """Extends the scope to where seeds were redirected: who asks for example.org wants
        www.example.org, too.

        `seen` are the URLs that the report mentions.
        """
        queued: list[NewUrl] = []
        changed = False
        for visit in redirects:
            id = int.from_bytes(visit.links[:8], "little", signed=True)
            known = self._store.known([id]).get(id)
            url = seen[id][0].url if id in seen else known[0] if known else ""
            too_deep = known is not None and known[1] == State.EXCLUDED and self._is_too_deep(id)
            if not url or not (too_deep or self.objection(url, origin(url))):
                continue
            self.scope.extend(url)
            self._homes.append(url)
            changed = True
            if too_deep:
                self._store.put_depth([id], 0)
            if known and known[1] == State.EXCLUDED:
                queued += [_queued(page) for page in pages_among(self._store, [id])]
        return Followed(list(self._homes) if changed else None, queued)

    def _is_too_deep(self, id: int) -> bool:
        number = self._store.number(id)
        rows = self._store.judged(number, number + 1) if number is not None else []
        return any(code_of(row.reason) == "too-deep" for row in rows)


def _aside(store: FrontierStore, always: Iterable[str], earlier: list[str], given: list[str]) -> set[str]:
    """Pages that are always kept and were never named as seeds: nothing around them is crawled."""
    known = set(filter(None, store.noted(_ASIDE).split()))
    aside = (known | {url for url in always if url not in earlier}).difference(given)
    if aside != known:
        store.note(_ASIDE, " ".join(sorted(aside)))
    return aside


def pages_among(store: FrontierStore, ids: list[int]) -> list[Task]:
    """Those of some known URLs that are pages, and not sitemaps."""
    return [task for task in store.tasks(ids) if task.kind == Kind.PAGE]


def _queued(page: Task) -> NewUrl:
    host = identity(origin(page.url))
    return NewUrl(page.id, page.url, host, page.depth, State.QUEUED, 0.0, 0, page.hops, "", "")
