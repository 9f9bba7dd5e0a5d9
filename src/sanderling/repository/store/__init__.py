"""The contract of a state store: one writer, any number of readers, commits that are whole or
not at all.

Each user of a store takes a narrow protocol. `crawling`, `gate` and `revisiting` have those of the
server, `background` those of the jobs beside it, and `people` those of commands and the dashboard.
Only code that opens a store, or passes it to all of these, takes a `Store`.
"""

from typing import Protocol

from sanderling.repository.store.background import (
    CollectionStore,
    DuplicateStore,
    ExtractedStore,
    GraphStore,
    IndexStore,
    RankingStore,
)
from sanderling.repository.store.crawling import (
    ArchiveStore,
    ComparingStore,
    FrontierStore,
    HintStore,
    IntakeStore,
    NewUrls,
    QueueStore,
    ScopeStore,
    WeightStore,
)
from sanderling.repository.store.gate import GateStore, HeldRows, MirrorStore, TopicStore, TunnelStore
from sanderling.repository.store.judging import JudgedStore
from sanderling.repository.store.lookup import HostLookup, Notes, Totals, UrlLookup
from sanderling.repository.store.people import (
    ChangeStore,
    HistoryStore,
    HostStore,
    LinkStore,
    PageStore,
    ViewStore,
)
from sanderling.repository.store.pruning import PruningStore
from sanderling.repository.store.revisiting import ObserverStore, PlanningStore, RevisitStore
from sanderling.repository.store.values import Joins, ScopedUrl, TrailUrl, UrlFacts, Waiting, WhileAway

__all__ = [
    "ArchiveStore",
    "ChangeStore",
    "CollectionStore",
    "ComparingStore",
    "DuplicateStore",
    "ExtractedStore",
    "FrontierStore",
    "GateStore",
    "GraphStore",
    "HeldRows",
    "HintStore",
    "HistoryStore",
    "HostLookup",
    "HostStore",
    "IndexStore",
    "IntakeStore",
    "Joins",
    "JudgedStore",
    "LinkStore",
    "MirrorStore",
    "NewUrls",
    "Notes",
    "ObserverStore",
    "PageStore",
    "PlanningStore",
    "PruningStore",
    "QueueStore",
    "RankingStore",
    "RevisitStore",
    "ScopeStore",
    "ScopedUrl",
    "Store",
    "TopicStore",
    "Totals",
    "TrailUrl",
    "TunnelStore",
    "UrlFacts",
    "UrlLookup",
    "ViewStore",
    "Waiting",
    "WeightStore",
    "WhileAway",
]


class Store(
    JudgedStore, FrontierStore, HostStore, IntakeStore, PruningStore, PlanningStore, CollectionStore, DuplicateStore, IndexStore,
    ExtractedStore, PageStore, LinkStore, TopicStore, Protocol,
):  # fmt: skip
    """All that a store can do."""

    messages: list[str]
    """What the user should know about opening it, such as an upgrade and where the backup is."""

    def close(self) -> None: ...
