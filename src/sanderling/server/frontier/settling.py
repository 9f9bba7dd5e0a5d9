"""Step 7 of a page's life: turns a report into the one commit that it is."""

from collections.abc import Iterable, Mapping

from sanderling.model import SETTLED, Before, Outcome, Settled, State, Task, Visit

# No pause before another try is longer, whatever a server asks for.
LONGEST_WAIT = 3600.0


def settle(visit: Visit, task: Task, retries: int, retry_wait: float, before: Before | None = None) -> Settled:
    """The state a visit leaves its URL in; `before` is what was known of a page that was visited
    again."""
    if visit.outcome is not Outcome.RETRY:
        state = SETTLED[visit.outcome]
        if before is not None and before.ever:
            # What is known of a page stands while it is only out of reach; a page that redirects
            # now has left.
            state = {Outcome.FAILED: State(before.state), Outcome.REDIRECT: State.GONE}.get(visit.outcome, state)
        return Settled(visit.id, state, 0 if before else task.attempts, 0.0, visit.reason)
    attempts = task.attempts + 1
    waiting, given_up = (State.QUEUED, State.FAILED) if before is None else (State(before.state),) * 2
    if attempts > retries:
        return Settled(visit.id, given_up, 0 if before else attempts, 0.0, visit.reason)
    wait = max(retry_wait * 2**task.attempts, visit.retry_after)
    return Settled(visit.id, waiting, attempts, visit.at + min(wait, LONGEST_WAIT), visit.reason)


def wait(visit: Visit, task: Task, retry_wait: float, before: Before | None) -> Settled:
    """The state of a URL that is not to blame: it waits for another try as if this one had not
    been."""
    state = State.QUEUED if before is None else State(before.state)
    return Settled(visit.id, state, task.attempts, visit.at + retry_wait, visit.reason)


def settle_all(
    visits: Iterable[Visit], tasks: Mapping[int, Task], before: Mapping[int, Before], excused: Mapping[int, float],
    retries: int, retry_wait: float,
) -> list[Settled]:  # fmt: skip
    """The states that a report's visits leave their URLs in; those `excused` wait that many
    seconds."""
    return [
        wait(visit, tasks[visit.id], excused[visit.id], before.get(visit.id))
        if visit.id in excused
        else settle(visit, tasks[visit.id], retries, retry_wait, before.get(visit.id))
        for visit in visits
    ]


def with_reasons(settled: list[Settled], reasons: Mapping[int, str]) -> list[Settled]:
    """Settlements with what the gate says of some of them."""
    return [each._replace(reason=reasons[each.id]) if each.id in reasons else each for each in settled]
