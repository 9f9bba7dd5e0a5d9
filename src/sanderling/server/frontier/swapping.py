"""Lets pages change places in a full collection: one leaves, another takes its place."""

from collections import Counter

from sanderling.model import State
from sanderling.repository.store import FrontierStore
from sanderling.server.frontier.allocator import Allocator
from sanderling.server.frontier.collection import LEFT, PageCollection, Swap
from sanderling.server.frontier.transition import Move, Transition, Transitions


def apply_swaps(
    swaps: list[Swap], collection: PageCollection, store: FrontierStore, transitions: Transitions, allocator: Allocator
) -> None:
    """Lets pages leave, return and come, unless something came between."""
    states = {id: state for id, (_, state) in store.known([id for s in swaps for id in s[:2] if id]).items()}
    swaps = [swap for swap in swaps if _still_fits(swap, states, allocator)]
    collection.expect(swaps)
    moves = [Move(swap.leaver, 0, 0, State.FETCHED, State.EXCLUDED, LEFT) for swap in swaps if swap.leaver]
    depths = {task.id: task.depth for task in store.tasks([swap.newcomer for swap in swaps if swap.returns])}
    moves += [Move(swap.newcomer, swap.host, depths[swap.newcomer], State.EXCLUDED) for swap in swaps if swap.returns]
    coming = Counter(swap.host for swap in swaps if swap.newcomer and not swap.returns)
    transitions.apply(Transition(moves=moves, due=coming.items()))


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
