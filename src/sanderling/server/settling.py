"""Step 7 of a page's life: turns a report into the one commit that it is."""

from collections.abc import Mapping

from sanderling.model import (
    SETTLED,
    Before,
    Change,
    ChangeKind,
    Counts,
    Found,
    Kind,
    NewUrl,
    Outcome,
    Settled,
    State,
    Task,
    Visit,
)

# No pause before another try is longer, whatever a server asks for.
LONGEST_WAIT = 3600.0

_CAME_OR_LEFT = ChangeKind.NEW | ChangeKind.GONE
_NONE: Mapping[int, Before] = {}
_NO_CHANGES: Mapping[int, Change] = {}


def settle(visit: Visit, task: Task, retries: int, retry_wait: float, before: Before | None = None) -> Settled:
    """The state a visit leaves its URL in; `before` is what was known of a page that was visited again."""
    if visit.outcome is not Outcome.RETRY:
        state = SETTLED[visit.outcome]
        if before is not None and before.ever:
            # What is known of a page stands while it is only out of reach; a page that redirects now has left.
            state = {Outcome.FAILED: State(before.state), Outcome.REDIRECT: State.GONE}.get(visit.outcome, state)
        return Settled(visit.id, state, 0 if before else task.attempts, 0.0, visit.reason)
    attempts = task.attempts + 1
    waiting, given_up = (State.QUEUED, State.FAILED) if before is None else (State(before.state),) * 2
    if attempts > retries:
        return Settled(visit.id, given_up, 0 if before else attempts, 0.0, visit.reason)
    wait = max(retry_wait * 2**task.attempts, visit.retry_after)
    return Settled(visit.id, waiting, attempts, visit.at + min(wait, LONGEST_WAIT), visit.reason)


def wait(visit: Visit, task: Task, retry_wait: float, before: Before | None) -> Settled:
    """The state of a URL that is not to blame: it waits for another try as if this one had not been."""
    state = State.QUEUED if before is None else State(before.state)
    return Settled(visit.id, state, task.attempts, visit.at + retry_wait, visit.reason)


def first_seen(visits: list[Visit]) -> dict[int, tuple[Found, Visit]]:
    """Every URL that a report mentions, once, with the visit that mentioned it first."""
    seen: dict[int, tuple[Found, Visit]] = {}
    for visit in visits:
        for found in visit.found:
            seen.setdefault(found[0], (found, visit))
    return seen


def count(
    counts: Counts,
    urls: list[NewUrl],
    settled: list[Settled],
    visits: list[Visit],
    before: Mapping[int, Before] = _NONE,
    changes: Mapping[int, Change] = _NO_CHANGES,
) -> None:
    """Keeps the totals up with one commit; a leased URL counts as queued in the store's eyes."""
    for row in urls:
        if row.kind != Kind.PAGE:
            continue
        counts.known += 1
        if row.state is State.QUEUED:
            counts.queued += 1
        elif row.state is State.KNOWN:
            counts.held += 1
        else:
            counts.excluded += 1
    for settlement in settled:
        state = settlement.state
        known = before.get(settlement.id)
        if settlement.due:
            counts.retried += 1
            continue
        if known is None:
            counts.queued -= 1
        elif known.state == State.FETCHED:
            counts.fetched -= 1
        elif known.state == State.GONE:
            counts.gone -= 1
        else:  # it left the collection while it was visited
            counts.excluded -= 1
        if state is State.FETCHED:
            counts.fetched += 1
        elif state is State.FAILED:
            counts.failed += 1
        elif state is State.GONE:
            counts.gone += 1
        else:
            counts.excluded += 1
    ended = {settlement.id for settlement in settled if not settlement.due}
    for visit in visits:
        counts.bytes += visit.size
        counts.truncated += visit.truncated
        counts.visits += visit.status != 0
        known = before.get(visit.id)
        change = changes.get(visit.id)
        counts.versions += change is not None or (known is None and visit.outcome is Outcome.PAGE)
        if visit.outcome is Outcome.UNCHANGED:
            counts.not_modified += visit.status == 304
            counts.same += visit.status != 304
        elif visit.outcome is Outcome.PAGE and (known is None or not known.ever):
            counts.pages += 1
        elif known is not None and change is not None:
            counts.left += bool(change.kinds & ChangeKind.GONE)
            counts.back += bool(change.kinds & ChangeKind.NEW)
            counts.quiet += not change.news
            counts.changed += change.news and not change.kinds & _CAME_OR_LEFT
        elif known is not None:
            counts.missed += visit.outcome in (Outcome.FAILED, Outcome.RETRY) and visit.id in ended
        elif visit.outcome is Outcome.REDIRECT:
            counts.redirects += 1
