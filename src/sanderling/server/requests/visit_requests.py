"""What a person wants visited now: each URL is refused with a reason, or put in front of everything
else."""

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from msgspec import Struct

from sanderling import clock
from sanderling.model import Found, Hint, Kind, NewUrl, State, VisitReply
from sanderling.model.reasons import BY_SETTINGS, code_of, sentence
from sanderling.network import names_private
from sanderling.repository.store import Store
from sanderling.server.frontier.allocator import Allocator
from sanderling.server.frontier.asked_pages import AskedPages
from sanderling.server.frontier.hints import SURE, apply_hints
from sanderling.server.frontier.scope import admit
from sanderling.server.frontier.seeds import Seeds
from sanderling.server.frontier.transition import Move, Transition, Transitions
from sanderling.server.gate.gatekeeper import Gatekeeper
from sanderling.server.ranking.reranker import FRONT
from sanderling.settings import Settings
from sanderling.urls import SEEDABLE, hostname, identity, origin, with_fragment

if TYPE_CHECKING:
    from sanderling.repository.views import Shown

# In front of sitemaps, which are in front of all pages.
RANK = 2 * FRONT
# How far from a seed such a URL is taken to be, when it is unknown: its redirect does not extend
# the scope.
DEPTH = 1
# Reasons for which a URL was not followed that do not count when a person asks for it.
NOT_IN_THE_WAY = (*BY_SETTINGS, "too-many-redirects")


VISITED = (State.FETCHED, State.GONE)


class VisitRefused(Exception):
    """Says why a URL is not visited."""


class VisitRequests(Struct, frozen=True, kw_only=True, eq=False):
    """Where such requests arrive. What is accepted is in the store before it is answered."""

    store: Store
    settings: Settings
    seeds: Seeds
    gate: Gatekeeper
    allocator: Allocator
    transitions: Transitions
    asked: AskedPages

    def follow(self, texts: Iterable[str]) -> list[VisitReply]:
        """Does about each URL what can be done, and says what."""
        replies: list[VisitReply] = []
        hints: dict[int, Hint] = {}
        from sanderling.repository import views  # late: few crawls are asked for anything

        known: dict[int, Shown] = {}
        for text in dict.fromkeys(texts):
            try:
                hint = _hint(text)
                page = views.url(self.store, hint.id)
                promise = self._promise(hint.url, page)
            except VisitRefused as why:
                replies.append(VisitReply(text, False, str(why)))
                continue
            replies.append(VisitReply(text, True, promise))
            if not self.allocator.is_leased(hint.id):
                hints[hint.id] = hint
                if page is not None:
                    known[hint.id] = page
        effects = apply_hints(hints.values(), hints.keys() - known.keys(), self._admit)
        self._visit_again([known[id] for id in effects.due if _state(known[id]) in VISITED])
        self._visit_first(effects.urls, [known[id] for id in effects.due if _state(known[id]) not in VISITED])
        return replies

    def _promise(self, url: str, page: "Shown | None") -> str:
        """What will become of a URL; `page` is what is known of it."""
        if page is None:
            self._require_in_scope(url)
            return "new, visited next"
        if self.allocator.is_leased(page.id):
            return "being visited now"
        if page.same_as:
            raise VisitRefused(f"another name of {page.same_as}: ask for that one")
        state = _state(page)
        if state in VISITED:
            return "visited again next"
        if state is State.QUEUED:
            return "already queued, visited next"
        stands = state is State.EXCLUDED and code_of(page.reason) not in NOT_IN_THE_WAY
        if stands or page.kind != Kind.PAGE or code_of(page.reason) == "set-aside":
            raise VisitRefused(sentence(page.reason))
        self._require_in_scope(url)
        return "known and never visited, visited next"

    def _require_in_scope(self, url: str) -> None:
        home = origin(url)
        if reason := self.seeds.objection(url, home):
            raise VisitRefused(sentence(reason))
        private = names_private(hostname(home)) and not self.settings.allow_private
        if private and not self.seeds.is_trusted(home):
            raise VisitRefused(f"{hostname(home)} is a private address, and no seed: see allow_private")

    def _admit(self, hint: Hint) -> list[NewUrl]:
        found = Found(hint.id, hint.url, "")
        return admit([found], 0, DEPTH, 0, self.seeds.scope, None, lambda _: RANK)

    def _visit_again(self, pages: "list[Shown]") -> None:
        self.store.make_due([page.id for page in pages])
        for page in pages:
            self.asked.add(page.host, page.id, new=False)
        self.transitions.announce(Counter(page.host for page in pages).items())

    def _visit_first(self, rows: list[NewUrl], known: "list[Shown]") -> None:
        """Puts URLs that were never visited in front of the queue: rows that are new, and those
        that are known."""
        self.gate.forget(page.id for page in known)
        moves = [Move(page.id, page.host, page.depth, _state(page)) for page in known]
        # Those that waited for another try do so no longer.
        waited = Counter(page.host for page in known if page.due and _state(page) is State.QUEUED)
        self.transitions.apply(Transition(rows, moves, due=waited.items()))
        self.store.rerank((page.id, RANK) for page in known)
        for host, id in [*((row.host, row.id) for row in rows), *((page.host, page.id) for page in known)]:
            self.asked.add(host, id, new=True)


def _hint(text: str) -> Hint:
    url = with_fragment(text.strip(), SEEDABLE)
    if url is None:
        raise VisitRefused("not a URL that begins with http:// or https:// and a host")
    return Hint(identity(url), url, "changed", clock.now(), "person", SURE)


def _state(page: "Shown") -> State:
    return State[page.state.upper()]
