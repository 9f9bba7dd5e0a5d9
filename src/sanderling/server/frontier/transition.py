"""Changes of the frontier: counted, written in one transaction, and announced, in this order.

`Transitions.apply` is the only way to change which URLs there are and which state they are in. So
the totals are always those of the rows, and a host with work is always known to the allocator.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from sanderling.model import Counts, Host, NewUrl, Reworked, State
from sanderling.repository.store.crawling import UnleasedUrls
from sanderling.server.frontier.allocator import Allocator
from sanderling.server.frontier.hosts import Hosts
from sanderling.server.frontier.ledger import Ledger
from sanderling.server.frontier.seeds import Seeds
from sanderling.server.gate.holding import Released


class Move(NamedTuple):
    """A known URL that goes from one state to another without a visit."""

    id: int
    host: int
    depth: int
    was: State
    state: State = State.QUEUED
    reason: str = ""
    alias: int = 0  # the page that it is only another name of
    url: str = ""  # needed if its host may be new to the store
    counted: bool = True  # only pages are; none of them is a redirect


class Transition(NamedTuple):
    """Everything that happens at once."""

    rows: Sequence[NewUrl] = ()  # URLs that were met for the first time
    moves: Sequence[Move] = ()
    hosts: Sequence[Host] = ()  # whose facts are kept
    due: Iterable[tuple[int, int]] = ()  # (host, how many) of URLs that are to be visited and stay as they are
    also: Callable[[Ledger], None] | None = None  # what else changes the totals


# Writes moves, hosts and totals of a transition; whoever gives it knows the rows.
Write = Callable[[Sequence[Move], list[Host], Counts], object]


class Transitions:
    """Applies transitions to the totals, to the store, and to what the allocator knows."""

    def __init__(self, store: UnleasedUrls, ledger: Ledger, hosts: Hosts, allocator: Allocator, seeds: Seeds) -> None:
        self._store = store
        self._ledger = ledger
        self._hosts = hosts
        self._allocator = allocator
        self._seeds = seeds
        self._quiet = False
        self._unannounced: list[NewUrl | Move] = []

    def apply(self, change: Transition, write: Write | None = None) -> None:
        """`write` is for transactions that contain more than the transition."""
        rows, moves = change.rows, change.moves
        first = self._hosts.first_used([*rows, *(move for move in moves if move.url)])
        record(change, self._store, self._ledger, first.values(), write)
        self._announce(rows, moves, first)
        self.announce(change.due)

    def announce(self, due: Iterable[tuple[int, int]]) -> None:
        """(host, how many) of URLs that are to be visited again."""
        for id, count in due:
            if (host := self._hosts.find(id)) is not None:
                self.resume(host, count)

    def resume(self, host: Host, count: int) -> None:
        """`count` more URLs of a host are to be visited."""
        self._allocator.add(self._hosts.use(host), count, self._seeds.is_trusted(host.origin))

    @contextmanager
    def quietly(self) -> Iterator[None]:
        """While a lease is made, the allocator is busy: what is queued meanwhile is announced
        after it."""
        self._quiet = True
        try:
            yield
        finally:
            self._quiet = False
            if self._unannounced:
                queued, self._unannounced = self._unannounced, []
                self._announce_queued(queued, {})

    def _announce(self, rows: Sequence[NewUrl], moves: Sequence[Move], first: dict[int, Host]) -> None:
        leaving = Counter(move.depth for move in moves if move.was == State.QUEUED != move.state)
        if leaving:
            self._allocator.add_depths({depth: -count for depth, count in leaving.items()})
        queued: list[NewUrl | Move] = [row for row in rows if row.state is State.QUEUED]
        queued += [move for move in moves if move.state == State.QUEUED != move.was]
        if self._quiet:
            self._unannounced += queued
        elif queued:
            self._announce_queued(queued, first)

    def _announce_queued(self, queued: list[NewUrl | Move], first: dict[int, Host]) -> None:
        self._allocator.add_depths(Counter(each.depth for each in queued))
        for id, count in Counter(each.host for each in queued).items():
            if (host := first.get(id) or self._hosts.find(id)) is not None:
                self.resume(host, count)


def record(
    change: Transition, store: UnleasedUrls, ledger: Ledger, first: Collection[Host] = (), write: Write | None = None
) -> None:
    """Counts and writes a transition, and announces nothing: before a run has loaded its queue, or
    without one."""
    ledger.admitted(change.rows)
    ledger.moved((move.was, move.state) for move in change.moves if move.counted)
    if change.also is not None:
        change.also(ledger)
    hosts = [*change.hosts, *first]
    if write is not None:
        write(change.moves, hosts, ledger.counts)
    elif change.rows or change.moves or hosts:
        reworked = [Reworked(move.id, move.state, move.reason, move.alias) for move in change.moves]
        store.rework(reworked, list(change.rows), hosts, ledger.counts)


def queued(released: Iterable[Released]) -> list[Move]:
    """URLs that are held back no longer."""
    return [Move(each.id, each.host, each.depth, each.was) for each in released]
