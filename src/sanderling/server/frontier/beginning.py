"""How a run begins: known seeds are queued again, the queue of the last run is taken up, and new
seeds are planted."""

from collections import Counter
from collections.abc import Iterable

from sanderling import clock
from sanderling.model import Kind, State
from sanderling.model.reasons import BY_SETTINGS, code_of
from sanderling.repository.store import FrontierStore, ScopedUrl, Store
from sanderling.server.frontier.admission import Admission
from sanderling.server.frontier.allocator import Allocator
from sanderling.server.frontier.due import DueTimes
from sanderling.server.frontier.ledger import Ledger
from sanderling.server.frontier.rescope import new_hosts, queued_anew
from sanderling.server.frontier.seeds import Seeds, pages_among
from sanderling.server.frontier.transition import Move, Transition, Transitions, record
from sanderling.server.intake import refused_logins
from sanderling.server.revisits.refresher import Refresher
from sanderling.settings import Settings
from sanderling.urls import identity, origin

LONGEST_RETRY = 120.0
# When a round of visits to all pages began; empty when it is complete.
ROUND = "round"


def call_back(store: Store, ledger: Ledger, seeds: Seeds, settings: Settings, retry: bool) -> None:
    """Queues what the user wants to be tried once more, before anything is loaded from the
    queue."""
    if retry:
        again = Transition(also=lambda totals: totals.failed_retried())
        record(again, store, ledger, write=lambda _moves, _hosts, counts: store.retry_failed(counts))
        refused_logins.forget(store, settings)
    _revive_seeds(store, ledger, seeds, settings.max_depth)
    _end_endless_waits(store)


def _revive_seeds(store: FrontierStore, ledger: Ledger, seeds: Seeds, max_depth: int | None) -> None:
    """Queues seeds that failed, and those that were not visited when they were only links.

    Who starts a crawl again wants to know whether failed seeds can be reached now. And a URL that
    was too deep, out of scope or held back counts as a seed when it is named as one.
    """
    known = store.known([identity(url) for url in seeds.urls])
    pages = {page.id for page in pages_among(store, list(known))}
    failed = [id for id, (_, state) in known.items() if state == State.FAILED]
    unvisited = [id for id, (_, state) in known.items() if state in (State.KNOWN, State.EXCLUDED)]
    coming = [row for row in _rows(store, unvisited) if _may_come(row, seeds)]
    if failed or coming:
        moves = [Move(id, 0, 0, State.FAILED, counted=id in pages) for id in failed]
        record(Transition(moves=[*moves, *map(queued_anew, coming)]), store, ledger, new_hosts(store, coming))
    moved = [identity(url) for url in seeds.centres]
    _bring_nearer(store, {*pages, *(page.id for page in pages_among(store, moved))}, max_depth)


def _rows(store: FrontierStore, ids: list[int]) -> list[ScopedUrl]:
    numbers = [number for id in ids if (number := store.number(id)) is not None]
    return [row for number in numbers for row in store.judged(number, number + 1)]


def _may_come(row: ScopedUrl, seeds: Seeds) -> bool:
    """Whether a seed that was not visited may be now: what robots.txt forbids and other names of
    pages may not."""
    if row.state == State.KNOWN:
        return True
    return code_of(row.reason) in BY_SETTINGS and not seeds.objection(row.url, origin(row.url))


def _bring_nearer(store: FrontierStore, seeds: Iterable[int], max_depth: int | None) -> None:
    """Puts seeds at depth 0. If depth is limited, what is known behind them gets nearer with
    them."""
    depth, found = 0, store.tasks(list(seeds))
    while nearer := [task.id for task in found if task.depth > depth and task.kind == Kind.PAGE]:
        store.put_depth(nearer, depth)
        if max_depth is None or depth > max_depth:
            break
        depth += 1
        found = store.tasks(list({link for id in nearer for link in memoryview(store.links_of(id)).cast("q")}))


def _end_endless_waits(store: FrontierStore) -> None:
    """Has pages tried at once that would wait longer for a retry than any page does: the clock was
    set back."""
    now = clock.now()
    store.bring_forward(now, now + LONGEST_RETRY, visited=False)


def load_queue(store: FrontierStore, allocator: Allocator, transitions: Transitions, by_level: bool) -> None:
    """Announces what earlier runs left queued; `by_level` visits one depth after the other."""
    for host, queued in store.waiting():
        transitions.resume(host, queued)
    if by_level:
        allocator.add_depths(store.depths())


def visit_all_again(store: FrontierStore, transitions: Transitions, due_times: DueTimes, sitemaps: bool) -> str:
    """Makes every visited page due now, and the sitemaps if they are read, unless a round was
    interrupted.

    Returns a message for the user when it goes on with such a round.
    """
    now = clock.now()
    interrupted = store.noted(ROUND)
    if interrupted:
        store.bring_forward(now, now, visited=True)  # the clock may have been set back since
    else:
        store.revisit_all(now, sitemaps)
        store.note(ROUND, str(now))
    due = due_times.visits_due(now)
    transitions.announce(due)
    left = sum(count for _, count in due)
    return f"goes on with a round of visits that was interrupted: {left:,} are left" if interrupted else ""


def end_round(store: FrontierStore) -> None:
    """Every page was visited again: the next round begins with all of them."""
    store.note(ROUND, "")


def begin_refresh(store: FrontierStore, transitions: Transitions, due_times: DueTimes, refresher: Refresher) -> None:
    """Leaves visits to the plan, and has sitemaps read first."""
    now = clock.now()
    store.forget_due()
    store.note(ROUND, "")
    due_times.ignore_visits_until(now)
    transitions.announce(Counter(refresher.read_first(store.sitemaps(), now)).items())


def plant_seeds(store: FrontierStore, seeds: Seeds, admission: Admission, transitions: Transitions) -> None:
    """Admits the seeds that are not known yet."""
    urls = admission.unknown_seeds()
    transitions.apply(Transition(urls), lambda _, hosts, counts: store.seed(seeds.urls, urls, hosts, counts))
    seeds.keep_addresses()
