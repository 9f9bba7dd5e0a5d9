"""Puts the parts of a crawl server together, in an order in which each is complete when the next
one needs it.
"""

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from sanderling.crawling import beginning
from sanderling.crawling.asked_pages import AskedPages
from sanderling.crawling.change_detection import ChangeDetection
from sanderling.crawling.collection import PageCollection
from sanderling.crawling.due_times import DueTimes
from sanderling.crawling.event_hints import EventHints
from sanderling.crawling.frontier import Frontier
from sanderling.crawling.harvest import Harvest
from sanderling.crawling.host_outage import HostOutages
from sanderling.crawling.intake import Intake
from sanderling.crawling.ledger import Ledger
from sanderling.crawling.limits import Limits
from sanderling.crawling.next_tasks import NextTasks
from sanderling.crawling.outage import Network, Reached
from sanderling.crawling.queued_urls import QueuedUrls
from sanderling.crawling.rescope import Rescoping
from sanderling.crawling.told import ToldPages
from sanderling.crawling.visit_requests import VisitRequests
from sanderling.processes import entry_points
from sanderling.refreshing.observer import Observer
from sanderling.refreshing.refresher import Refresher
from sanderling.repository.folder import Folder
from sanderling.repository.store import Store
from sanderling.server.admission import Admission
from sanderling.server.allocator import Allocator
from sanderling.server.backlog import Backlog
from sanderling.server.focus import Focus
from sanderling.server.gate.gatekeeper import Gatekeeper
from sanderling.server.gate.tunnel import Tunnel
from sanderling.server.hosts import Hosts
from sanderling.server.ordering import Ordering
from sanderling.server.seeds import Seeds
from sanderling.settings import Settings, revealed

if TYPE_CHECKING:  # loaded only by crawls that send forms or have a topic
    from sanderling.crawling.form_queries import FormQueries
    from sanderling.topics.model import Topic


class Purpose(NamedTuple):
    """What a run is for, beside new pages."""

    again: bool = False  # every known page is visited once more
    refresher: Refresher | None = None  # those that deserve it are
    retry: bool = False  # what failed is tried once more


class Parts(NamedTuple):
    """What the server works with."""

    ledger: Ledger
    allocator: Allocator
    observer: Observer
    limits: Limits
    detection: ChangeDetection
    frontier: Frontier
    intake: Intake
    visit_requests: VisitRequests
    told_pages: ToldPages
    notices: list[str]
    harvest: Harvest | None  # of a crawl with a topic


def assemble(
    store: Store, settings: Settings, named: list[str], folder: Folder, run_folder: Path, crew: int, purpose: Purpose,
    topic: "Topic | None" = None,
) -> Parts:  # fmt: skip
    """`named` are the seeds of this run, and `crew` is how many clients there will be."""
    again, refresher, retry = purpose
    ledger = Ledger(store.counts())
    seeds = Seeds(store, settings, named)
    beginning.call_back(store, ledger, seeds, settings, retry)
    hosts = Hosts(store)
    focus = Focus(settings.relatedness) if settings.topic else None
    harvest = Harvest(store, settings, topic, seeds.urls) if topic is not None else None
    ranks = settings.order == "topic"
    tunnel = Tunnel(store, settings.relatedness, settings.tunnel_depth, focus, ranks) if focus else None
    many_hosts = settings.scope in ("domain", "any")
    gate = Gatekeeper(store, hosts.find, seeds.objection, seeds.is_home, many_hosts, tunnel, settings.hold)
    network = _network(settings, seeds, refresher)
    allocator = Allocator(settings, gate.most_at_once, crew, seeds.private_addresses)
    outages = HostOutages(allocator, settings.host_patience, settings.retry_wait)
    backlog = Backlog(allocator, hosts, seeds)
    ordering = Ordering(store, settings, folder.path, run_folder, focus)
    admission = Admission(store, settings, seeds, gate, hosts, ordering)
    collection = _collection(settings, folder.path, run_folder)
    observer = Observer(store)
    asked = AskedPages(store, observer)
    limits = Limits(settings, ledger, allocator, collection, refresher, asked, again)
    due_times = DueTimes(store)
    rescoping = Rescoping(store, allocator, gate)
    queued = QueuedUrls(store, ledger, allocator, gate, hosts, ordering, rescoping, backlog)
    hints = EventHints()
    next_tasks = NextTasks(store, queued, limits, collection, refresher, observer, asked, hints, again)
    allocator.worth = next_tasks.worth if focus is not None else None
    forms = _forms(store, settings, seeds)
    if forms is not None:
        gate.is_record = forms.leads_to
    frontier = Frontier(
        store=store, ledger=ledger, seeds=seeds, admission=admission, allocator=allocator, gate=gate, network=network,
        outages=outages, ordering=ordering, backlog=backlog, queued=queued, next_tasks=next_tasks, limits=limits, due_times=due_times,
        asked=asked, rescoping=rescoping, collection=collection, refresher=refresher, forms=forms, again=again,
    )  # fmt: skip
    notices = beginning.begin(frontier, settings, hosts)
    detection = ChangeDetection(store, settings, folder.warcs)
    intake = Intake(
        store=store, settings=settings, ledger=ledger, allocator=allocator, gate=gate, seeds=seeds, hosts=hosts,
        admission=admission, backlog=backlog, frontier=frontier, observer=observer, detection=detection,
        focus=focus, harvest=harvest, forms=forms,
        # A page that left the collection, or failed, may be in the queue again with versions of its
        # own.
        returns=retry or collection is not None,
    )  # fmt: skip
    visit_requests = VisitRequests(
        store=store, settings=settings, seeds=seeds, gate=gate, hosts=hosts, ledger=ledger, allocator=allocator,
        backlog=backlog, asked=asked,
    )  # fmt: skip
    told_pages = ToldPages(
        store=store, settings=settings, seeds=seeds, hosts=hosts, ledger=ledger, admission=admission, backlog=backlog,
        observer=observer, refresher=refresher, allocator=allocator, hints=hints,
    )  # fmt: skip
    admission.reported.update(observer.reporting())  # `told_pages` finds out which of them are still proven
    if refresher is not None:
        refresher.calls.heeded = observer.heeds
    return Parts(
        ledger, allocator, observer, limits, detection, frontier, intake, visit_requests, told_pages, notices,
        harvest,
    )  # fmt: skip


def _network(settings: Settings, seeds: Seeds, refresher: Refresher | None) -> Network:
    gives_up = refresher is None or not refresher.forever
    return Network(_reached(settings, seeds), settings.retry_wait, refresher is not None, gives_up)


def _reached(settings: Settings, seeds: Seeds) -> Reached:
    def one_of(origins: list[str]) -> bool:
        from sanderling.client.reaching import one_reached

        return one_reached(
            revealed(settings),
            {origin: (seeds.is_trusted(origin), seeds.private_addresses(origin)) for origin in origins},
        )

    return one_of


def _forms(store: Store, settings: Settings, seeds: Seeds) -> "FormQueries | None":
    if settings.forms == "none" and not settings.form_post:
        return None
    from sanderling.crawling.form_queries import FormQueries

    return FormQueries(store, settings, seeds)


def _collection(settings: Settings, folder: Path, run_folder: Path) -> PageCollection | None:
    if settings.collection is None:
        return None
    return PageCollection(settings.collection, entry_points.command("refine", folder), run_folder / "swaps")
