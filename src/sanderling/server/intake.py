"""Step 7 of a page's life: turns a report into the one commit that it is."""

from collections.abc import Callable

from sanderling.model import SETTLED, Counts, Found, NewUrl, Outcome, Settled, State, Task, Visit

# No pause before another try is longer, whatever a server asks for.
LONGEST_WAIT = 3600.0

Admit = Callable[[list[Found], Task, Visit], list[NewUrl]]


def settle(visit: Visit, task: Task, retries: int, retry_wait: float) -> Settled:
    """The state a visit leaves its URL in."""
    if visit.outcome is not Outcome.RETRY:
        return Settled(visit.id, SETTLED[visit.outcome], task.attempts, 0.0, visit.reason)
    attempts = task.attempts + 1
    if attempts > retries:
        return Settled(visit.id, State.FAILED, attempts, 0.0, visit.reason)
    wait = max(retry_wait * 2**task.attempts, visit.retry_after)
    return Settled(visit.id, State.QUEUED, attempts, visit.at + min(wait, LONGEST_WAIT), visit.reason)


def first_seen(visits: list[Visit]) -> dict[int, tuple[Found, Visit]]:
    """Every URL that a report mentions, once, with the visit that mentioned it first."""
    seen: dict[int, tuple[Found, Visit]] = {}
    for visit in visits:
        for found in visit.found:
            seen.setdefault(found[0], (found, visit))
    return seen


def count(counts: Counts, urls: list[NewUrl], settled: list[Settled], visits: list[Visit]) -> None:
    """Keeps the totals up with one commit; a leased URL counts as queued in the store's eyes."""
    counts.known += len(urls)
    for row in urls:
        if row.state is State.QUEUED:
            counts.queued += 1
        else:
            counts.excluded += 1
    for settlement in settled:
        state = settlement.state
        if state is State.QUEUED:
            counts.retried += 1
            continue
        counts.queued -= 1
        if state is State.FETCHED:
            counts.fetched += 1
        elif state is State.FAILED:
            counts.failed += 1
        elif state is State.GONE:
            counts.gone += 1
        else:
            counts.excluded += 1
    for visit in visits:
        counts.bytes += visit.size
        counts.truncated += visit.truncated
        if visit.outcome is Outcome.PAGE:
            counts.pages += 1
            counts.versions += 1
        elif visit.outcome is Outcome.REDIRECT:
            counts.redirects += 1
