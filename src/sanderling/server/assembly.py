"""Puts the parts of a crawl server together, in an order in which each is complete when the next
one needs it.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from sanderling.processes import entry_points
from sanderling.repository.folder import Folder
from sanderling.repository.store import Store
from sanderling.server.frontier import beginning
from sanderling.server.frontier.admission import Admission
from sanderling.server.frontier.allocator import Allocator
from sanderling.server.frontier.asked_pages import AskedPages
from sanderling.server.frontier.assignment import assignment
from sanderling.server.frontier.collection import PageCollection
from sanderling.server.frontier.due import DueTimes
from sanderling.server.frontier.event_hints import EventHints
from sanderling.server.frontier.frontier import Frontier, FrontierParts
from sanderling.server.frontier.host_outage import HostOutages
from sanderling.server.frontier.hosts import Hosts
from sanderling.server.frontier.ledger import Ledger
from sanderling.server.frontier.limits import Limits
from sanderling.server.frontier.ordering import Ordering
from sanderling.server.frontier.outage import Connectivity, Reached, Say
from sanderling.server.frontier.queue import Queue
from sanderling.server.frontier.rescope import Rescoping
from sanderling.server.frontier.seeds import Seeds
from sanderling.server.frontier.transition import Transitions
from sanderling.server.frontier.url_filters import url_filters
from sanderling.server.gate.gatekeeper import Gatekeeper
from sanderling.server.gate.tunnel import Tunnel
from sanderling.server.intake.change_detection import ChangeDetection
from sanderling.server.intake.intake import Intake
from sanderling.server.intake.long_known import LongKnown
from sanderling.server.intake.troubles import Troubles
from sanderling.server.ranking.focus import Focus
from sanderling.server.requests.change_hints import ChangeHints
from sanderling.server.requests.visit_requests import VisitRequests
from sanderling.server.revisits.observer import Observer
from sanderling.server.revisits.refresher import Refresher
from sanderling.server.topic.harvest import Harvest
from sanderling.settings import Settings, revealed

if TYPE_CHECKING:  # loaded only by crawls that send forms or have a topic
    from sanderling.server.frontier.form_queries import FormQueries
    from sanderling.topics.model import Topic


class Purpose(NamedTuple):
    """What a run is for, beside new pages."""

    again: bool = False  # every known page is visited once more
    refresher: Callable[[Observer], Refresher] | None = None  # those that deserve it are; how it is made
    retry: bool = False  # what failed is tried once more


class Parts(NamedTuple):
    """What the server works with."""

    frontier: Frontier
    intake: Intake
    detection: ChangeDetection
    observer: Observer
    refresher: Refresher | None
    visit_requests: VisitRequests
    change_hints: ChangeHints
    messages: list[str]
    harvest: Harvest | None  # of a crawl with a topic
    ledger: Ledger
    hosts: Hosts


def assemble(
    store: Store, settings: Settings, named: list[str], folder: Folder, run_folder: Path, crew: int, purpose: Purpose,
    topic: "Topic | None" = None, say: Say = lambda _: None,
) -> Parts:  # fmt: skip
    """`named` are the seeds of this run, and `crew` is how many clients there will be. `say` tells
    the user."""
    ledger = Ledger(store.counts())
    seeds = Seeds(store, settings, named, url_filters(settings, folder.path))
    beginning.call_back(store, ledger, seeds, settings, purpose.retry)
    hosts = Hosts(store)
    observer = Observer(store)
    refresher = purpose.refresher(observer) if purpose.refresher is not None else None
    focus = Focus(settings.relatedness) if settings.topic else None
    harvest = Harvest(store, settings, topic, seeds.urls) if topic is not None else None
    forms = _forms(store, settings, seeds)

    # Which URLs are visited at all.
    gate = _gate(store, settings, hosts, seeds, focus, forms)
    ordering = Ordering(store, settings, folder.path, run_folder, focus)
    admission = Admission(store, settings, seeds, gate, hosts, ordering, observer.reporting())

    # Who gets them, and when.
    allocator = Allocator(settings, gate.most_at_once, crew, seeds.private_addresses, assignment(settings, folder.path))
    transitions = Transitions(store, ledger, hosts, allocator, seeds)
    connectivity = _connectivity(settings, seeds, refresher, say)
    outages = HostOutages(allocator, settings.host_patience, settings.retry_wait, say)
    collection = _collection(settings, folder.path, run_folder)
    asked, due_times, hints = AskedPages(store, observer), DueTimes(store), EventHints()
    limits = Limits(settings, ledger, allocator, collection, refresher, asked, purpose.again)
    rescoping = Rescoping(store, allocator, gate, transitions)
    queue = Queue(
        store, gate, ordering, rescoping, transitions, limits, collection, refresher, observer, asked, hints,
        purpose.again,
    )  # fmt: skip
    parts = FrontierParts(
        store, ledger, seeds, admission, allocator, gate, connectivity, outages, ordering, focus, transitions, queue,
        limits, due_times, asked, rescoping, collection, refresher, forms,
    )  # fmt: skip
    frontier = Frontier(parts, settings, purpose.again)
    messages = frontier.begin()

    # What happens to reports, and what others ask for.
    detection = ChangeDetection(store, settings, folder.warcs)
    # A page that left the collection, or failed, may be queued again with versions of its own.
    returns = purpose.retry or collection is not None
    intake = Intake(
        store=store, settings=settings, frontier=frontier, observer=observer, detection=detection,
        troubles=Troubles(store, settings), long_known=LongKnown(store), harvest=harvest, returns=returns,
    )  # fmt: skip
    visit_requests = VisitRequests(
        store=store, settings=settings, seeds=seeds, gate=gate, allocator=allocator, transitions=transitions,
        asked=asked,
    )  # fmt: skip
    change_hints = ChangeHints(
        store=store, settings=settings, seeds=seeds, hosts=hosts, admission=admission, transitions=transitions,
        observer=observer, refresher=refresher, allocator=allocator, hints=hints,
        say=say, taken=refresher.taken if refresher is not None else {},
    )  # fmt: skip
    return Parts(
        frontier, intake, detection, observer, refresher, visit_requests, change_hints, messages, harvest, ledger, hosts
    )


def _gate(
    store: Store, settings: Settings, hosts: Hosts, seeds: Seeds, focus: Focus | None, forms: "FormQueries | None"
) -> Gatekeeper:
    ranks = settings.order == "topic"
    tunnel = Tunnel(store, settings.relatedness, settings.tunnel_depth, focus, ranks) if focus else None
    many_hosts = settings.scope in ("domain", "any")
    is_record = forms.leads_to if forms is not None else lambda id: False
    return Gatekeeper(store, hosts.find, seeds.objection, seeds.is_home, many_hosts, tunnel, settings.hold, is_record)


def _connectivity(settings: Settings, seeds: Seeds, refresher: Refresher | None, say: Say) -> Connectivity:
    gives_up = refresher is None or not refresher.forever
    return Connectivity(_reached(settings, seeds), settings.retry_wait, refresher is not None, gives_up, say)


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
    from sanderling.server.frontier.form_queries import FormQueries

    return FormQueries(store, settings, seeds)


def _collection(settings: Settings, folder: Path, run_folder: Path) -> PageCollection | None:
    if settings.collection is None:
        return None
    return PageCollection(
        settings.collection, entry_points.command("refine", folder, *settings.always), run_folder / "swaps"
    )
