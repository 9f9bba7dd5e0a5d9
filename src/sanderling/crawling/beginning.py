"""How a run begins: failed seeds are tried again, the queue of the last run is taken up, and new seeds are planted."""

from collections import Counter

from sanderling import clock
from sanderling.crawling.asked_pages import AskedPages
from sanderling.crawling.due_times import DueTimes
from sanderling.crawling.ledger import Ledger
from sanderling.model import Reworked, State
from sanderling.refreshing.refresher import Refresher
from sanderling.repository.store import FrontierStore, IntakeStore
from sanderling.server.admission import Admission
from sanderling.server.allocator import Allocator
from sanderling.server.backlog import Backlog
from sanderling.server.hosts import Hosts
from sanderling.server.seeds import Seeds, pages_among
from sanderling.server.settling import LONGEST_WAIT
from sanderling.urls import identity

# When a round of visits to all pages began; empty when it is complete.
ROUND = "round"


def retry_failed(store: IntakeStore, ledger: Ledger) -> None:
    """Queues every page that failed."""
    ledger.failed_retried()
    store.retry_failed(ledger.counts)


def retry_seeds(store: FrontierStore, ledger: Ledger, seeds: Seeds) -> None:
    """Queues failed seeds: who begins a crawl anew wants to know whether they can be reached now."""
    known = store.known([identity(url) for url in seeds.urls])
    failed = [id for id, (_, state) in known.items() if state == State.FAILED]
    if failed:
        ledger.moved((State.FAILED, State.QUEUED) for _ in pages_among(store, failed))
        store.rework([Reworked(id, State.QUEUED, "") for id in failed], [], [], ledger.counts)


def load_queue(store: FrontierStore, allocator: Allocator, backlog: Backlog, by_level: bool) -> None:
    """Announces what earlier runs left queued; `by_level` visits one depth after the other."""
    now = clock.now()
    # Nothing waits that long for a retry, unless the clock was set back.
    store.bring_forward(now, now + LONGEST_WAIT, visited=False)
    for host, queued in store.waiting():
        backlog.add(host, queued)
    if by_level:
        allocator.add_depths(store.depths())


def visit_all_again(store: FrontierStore, backlog: Backlog, due_times: DueTimes, sitemaps: bool) -> str:
    """Makes every visited page due now, and the sitemaps if they are read, unless a round was interrupted.

    Returns a notice for the user when it goes on with such a round.
    """
    now = clock.now()
    interrupted = store.noted(ROUND)
    if interrupted:
        store.bring_forward(now, now, visited=True)  # the clock may have been set back since
    else:
        store.revisit_all(now, sitemaps)
        store.note(ROUND, str(now))
    due = due_times.visits_due(now)
    backlog.add_all(due)
    left = sum(count for _, count in due)
    return f"goes on with a round of visits that was interrupted: {left:,} are left" if interrupted else ""


def end_round(store: FrontierStore) -> None:
    """Every page was visited again: the next round begins with all of them."""
    store.note(ROUND, "")


def begin_refresh(store: FrontierStore, backlog: Backlog, due_times: DueTimes, refresher: Refresher) -> None:
    """Leaves visits to the plan, and has sitemaps read first."""
    now = clock.now()
    store.forget_due()
    store.note(ROUND, "")
    due_times.ignore_visits_until(now)
    backlog.add_all(Counter(refresher.read_first(store.sitemaps(), now)).items())


def take_up_asked(backlog: Backlog, asked: AskedPages) -> None:
    """Announces the pages that a person asked for and the last run did not get to."""
    backlog.add_all(asked.load())


def plant_seeds(
    store: FrontierStore, ledger: Ledger, seeds: Seeds, admission: Admission, hosts: Hosts, backlog: Backlog
) -> None:
    """Admits the seeds that are not known yet."""
    urls = admission.unknown_seeds()
    first = hosts.first_used(urls)
    ledger.admitted(urls)
    store.seed(seeds.urls, urls, list(first.values()), ledger.counts)
    backlog.add_urls(urls, first)
