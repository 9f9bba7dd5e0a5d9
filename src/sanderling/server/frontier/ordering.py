"""In which order queued URLs are visited: by depth, or by ranks that are scored again while the
crawl grows."""

from collections.abc import Collection
from functools import lru_cache
from pathlib import Path

from sanderling.model import Found, Task
from sanderling.processes import entry_points
from sanderling.repository.store import FrontierStore
from sanderling.server.frontier.distributor import EXPLORING, TURNS, Distributor
from sanderling.server.ranking.best_hosts import BestHosts
from sanderling.server.ranking.fish import AT_ONCE
from sanderling.server.ranking.focus import Focus
from sanderling.server.ranking.reranker import Reranker
from sanderling.settings import BY_TOPIC, Settings, is_scored
from sanderling.urls import identity, origin

# Depth first, each URL has a higher rank than all that were found before it. A million million of
# them stay below ranks that come before all (`reranker.FRONT`).
NEWER = 1e-6
# Most links lead to a host of which there were others a moment ago.
_identity = lru_cache(1024)(identity)


class Ordering:
    """The order of a crawl; it may be changed while the crawl runs."""

    def __init__(
        self, store: FrontierStore, settings: Settings, folder: Path, run_folder: Path, focus: Focus | None = None
    ) -> None:
        """`focus` is there if the crawl has a topic."""
        self._store = store
        self._focus = focus
        self._folder, self._result = folder, run_folder / "ranks"
        self._distributor = Distributor(store.take, store.ranks)
        self._best = BestHosts(store.best_ranks, focus.harvest) if focus is not None else None
        self._name = _order(settings)
        self._found = store.counts().known
        self._reranker = self._new_reranker()
        self._distributor.turns = _turns(self._name)

    @property
    def by_depth(self) -> bool:
        return not is_scored(self._name)

    @property
    def is_focused(self) -> bool:
        """Whether URLs may wait for better ones of other hosts."""
        return self._focus is not None

    def change(self, settings: Settings) -> None:
        """Goes on with another order."""
        if _order(settings) != self._name:
            self._name = _order(settings)
            self._reranker.close()
            self._reranker = self._new_reranker()
            self._distributor.turns = _turns(self._name)

    def rank_link(self, found: Found, parent: float, depth: int) -> float:
        """The rank of a URL just found on a page of this relevance."""
        if self._focus is None or self._name not in BY_TOPIC:
            return self.rank(depth)
        if self._name in AT_ONCE:
            return AT_ONCE[self._name](found.relevance, parent)
        return self._focus.rank(found.relevance, parent, parent, _identity(origin(found.url)))

    def rank(self, depth: int) -> float:
        """The rank of a URL just found."""
        if self._name != "depth-first":
            return self._reranker.rank(depth)
        self._found += 1
        return self._found * NEWER

    @property
    def at_once(self) -> int | None:
        """How many URLs of a host may be leased at a time; None for as many as its manners allow.
        Depth first, what a page leads to comes before its neighbours, so it has to be known."""
        return 1 if self._name == "depth-first" else None

    def take(self, host: int, count: int, leased: Collection[int]) -> list[Task]:
        """The queued URLs of a host that come next."""
        return (self._store.take if self.by_depth else self._distributor.take)(host, count, leased)

    def worth(self, host: int, count: int, leased: Collection[int]) -> int:
        """How many queued URLs of a host may be visited now, of `count`: in a focused crawl the
        best of all hosts come first."""
        return count if self._best is None or self._name != "topic" else self._best.worth(host, count, leased)

    def step(self, fetched: int) -> None:
        """To be called now and then: writes a few of the ranks and importances that were scored
        again."""
        step = self._reranker.step(fetched)
        if self._focus is not None:
            self._focus.weigh(self._reranker.weights)
        if step.ranks and self._focus is not None and self._name == "topic":
            paths = self._focus.paths
            self._store.rerank([(id, paths.ranked(id, rank)) for id, rank in step.ranks])
        elif step.ranks:
            self._store.rerank(step.ranks)
        if step.importances:
            self._store.weigh(step.importances)

    def list_lengths(self, queued: int) -> list[int] | None:
        """About how many of the queued URLs are in each of the three lists; None when depth
        decides."""
        return None if self.by_depth else [round(share * queued) for share in self._distributor.shares]

    def close(self) -> None:
        self._reranker.close()

    def _new_reranker(self) -> Reranker:
        return Reranker(self._name, entry_points.command("rank", self._folder, self._name), self._result)


def _turns(order: str) -> tuple[int, ...]:
    return EXPLORING if order in BY_TOPIC else TURNS


def _order(settings: Settings) -> str:
    """With a limit of depth, levels come one after the other, whatever a page is worth."""
    return settings.order if settings.max_depth is None else "breadth-first"
