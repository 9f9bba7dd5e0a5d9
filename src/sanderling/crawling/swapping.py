"""Lets pages change places in a full collection: one leaves, another takes its place."""

from collections import Counter

from sanderling.crawling.collection import LEFT, PageCollection, Swap
from sanderling.crawling.ledger import Ledger
from sanderling.model import Reworked, State
from sanderling.repository.store import FrontierStore
from sanderling.server.allocator import Allocator


def apply_swaps(
    swaps: list[Swap], collection: PageCollection, store: FrontierStore, ledger: Ledger, allocator: Allocator
) -> list[tuple[int, int]]:
    """Writes who leaves and who returns, unless something came between; returns (host, how many) of
    the newcomers."""
    states = {id: state for id, (_, state) in store.known([id for s in swaps for id in s[:2] if id]).items()}
    swaps = [swap for swap in swaps if _still_fits(swap, states, allocator)]
    collection.expect(swaps)
    leavers = [swap.leaver for swap in swaps if swap.leaver]
    returning = [swap.newcomer for swap in swaps if swap.returns]
    ledger.moved([(State.FETCHED, State.EXCLUDED)] * len(leavers))
    ledger.moved([(State.EXCLUDED, State.QUEUED)] * len(returning))
    reworked = [Reworked(id, State.EXCLUDED, LEFT) for id in leavers]
    reworked += [Reworked(id, State.QUEUED, "") for id in returning]
    allocator.add_depths(Counter(task.depth for task in store.tasks(returning)))
    store.rework(reworked, [], [], ledger.counts)
    return list(Counter(swap.host for swap in swaps if swap.newcomer).items())


def _still_fits(swap: Swap, states: dict[int, int], allocator: Allocator) -> bool:
    """Whether both pages are as they were when the swap was proposed. A missing page has the id
    0."""
    waits = State.EXCLUDED if swap.returns else State.QUEUED
    return (
        states.get(swap.leaver, State.FETCHED) == State.FETCHED
        and states.get(swap.newcomer, waits) == waits
        and not allocator.is_leased(swap.leaver)
        and not allocator.is_leased(swap.newcomer)
    )
