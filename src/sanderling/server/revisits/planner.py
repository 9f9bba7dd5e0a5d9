"""Reads a whole crawl and plans what to visit again. It runs in a process of its own beside the
crawl (`jobs/plan.py`).

What it leaves for the server is short: the visits of the near future, in order.
"""

import time
from itertools import islice

import msgspec
import numpy as np
from numpy.typing import NDArray

from sanderling.arrays import Floats
from sanderling.clock import DAY
from sanderling.freshness import planning, trust
from sanderling.freshness.adaptive import SITEMAP_FIRST
from sanderling.freshness.budget import expected_cost
from sanderling.freshness.choosing import ready
from sanderling.freshness.collection import COLUMNS, Believed, believe
from sanderling.freshness.evidence import NONE, SIZE
from sanderling.freshness.sources import SOURCES
from sanderling.freshness.url_groups import cut, groups_of
from sanderling.freshness.worth import Objective
from sanderling.model import Kind, PlannedVisit, State, Subject
from sanderling.repository.store import PlanningStore
from sanderling.server.revisits.schedule import VisitPlan
from sanderling.server.revisits.terms import Terms
from sanderling.settings import Settings
from sanderling.urls import identity

# The visits that a plan names reach so far, in days: the next plan is made long before.
HORIZON = 0.25
# A plan names at least this many visits, if there are enough pages.
_FEWEST = 1000
# A page that is always kept fresh is visited when it has changed with this probability, in days not
# sooner than SOONEST.
STALE, SOONEST = 0.05, 1 / 144
# A page's date of the last visit may lie in the future when a clock jumped back: then it counts as
# visited yesterday.
_SKEW = 0.05
# Rows in hand while a crawl is read, before they become columns.
_AT_ONCE = 10_000
# Folders remembered meanwhile, 15 MB of them.
_FOLDERS = 65_536
_TAKEN = (
    "id", "host", "depth", "announced", "at", "since", "kinds", "size", "importance", "interval", "tried", "failures",
    "not_modified", "same", "relevance",
)  # fmt: skip
# As `TURN` unpacks it.
_TURN = np.dtype([*zip(PlannedVisit._fields, ("<i8", "<i8", "<f8", "<f4", "<f4", "<f4"), strict=True)])


class Collection(msgspec.Struct, frozen=True):
    """Everything that may be visited again, in columns; sitemaps apart."""

    pages: NDArray[np.void]
    sitemaps: NDArray[np.void]
    hosts: dict[int, trust.Trust]


def read(store: PlanningStore, now: float) -> Collection:
    """`now` in days."""
    hosts = {host: trust.unpack(packed) for host, packed in store.trust().items()}
    grouped = _UrlGroups()
    pages, sitemaps = np.zeros(0, COLUMNS), np.zeros(0, COLUMNS)
    subjects = store.subjects()
    while some := list(islice(subjects, _AT_ONCE)):
        read = Subject._make(zip(*some, strict=True))
        rows = _columns(read, grouped)
        rows["at"] = np.where(rows["at"] > now + _SKEW, now - 1.0, rows["at"])
        kinds = np.array(read.kind)
        is_page = (kinds == Kind.PAGE) | (kinds == Kind.REQUISITE)  # files of pages change at their own rates
        _append(pages, rows[is_page])
        _append(sitemaps, rows[~is_page])
    return Collection(pages, sitemaps, hosts)


def _append(rows: NDArray[np.void], more: NDArray[np.void]) -> None:
    """In place: there is no room for everything twice."""
    rows.resize(len(rows) + len(more), refcheck=False)
    rows[len(rows) - len(more) :] = more


def _columns(read: Subject, grouped: "_UrlGroups") -> NDArray[np.void]:
    """Of some rows, each field of which is a column of them."""
    rows = np.zeros(len(read.id), COLUMNS)  # type: ignore[arg-type]
    for name in _TAKEN:
        rows[name] = getattr(read, name)
    for name in ("announced", "at", "since", "tried"):
        rows[name] /= DAY
    rows["told"] = np.column_stack([getattr(read, source) for source in SOURCES]) / DAY
    status = np.array(read.status)
    rows["there"] = (np.array(read.state) == State.FETCHED) & (status >= 200) & (status < 300)
    rows["folder"], rows["pattern"] = zip(*map(grouped, read.url), strict=True)
    rows["evidence"] = [said[:SIZE] if said is not None and len(said) >= SIZE else NONE for said in read.evidence]  # type: ignore[union-attr, arg-type, index]
    return rows


class _UrlGroups:
    """Numbers for the folder and the pattern of a URL; URLs come in the order they were found, and
    neighbours are alike."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], tuple[int, int]] = {}

    def __call__(self, url: str) -> tuple[int, int]:
        place = cut(url)
        found = self._known.get(place)
        if found is None:
            if len(self._known) >= _FOLDERS:
                self._known.clear()
            folder, pattern = groups_of(*place)
            found = self._known[place] = identity(folder), identity(pattern)
        return found


def plan(
    collection: Collection, terms: Terms, settings: Settings, intervals: dict[int, float], now: float
) -> VisitPlan:
    """`intervals` are the seconds between two visits that each host's manners ask for."""
    pages, budget = collection.pages, terms.budget
    known = believe(pages, collection.hosts, now)
    cost = costs(collection, known) if budget.unit == "bytes" else np.ones(len(pages))
    inside = planning.inside_of(terms.policy, pages, terms.threshold, terms.levels)
    always = np.isin(pages["id"], [identity(url) for url in terms.always])
    gain = known.weight * (1 - known.fresh) / max(float(known.weight.sum()), 1e-12)
    if budget.period:
        hosts, caps = _caps(pages, settings, intervals)
        due, wait = planning.schedule(
            terms.policy, Objective(terms.objective), pages, known, cost, budget.a_day, now, hosts, caps, inside
        )
        promised = np.flatnonzero(always)
        due[promised] = np.minimum(due[promised], _kept_fresh(pages, known, promised, now))
        chosen = np.flatnonzero(due <= now + HORIZON)
        chosen = chosen[np.argsort(due[chosen], kind="stable")]
        # More than this the budget cannot reach before the next plan.
        chosen = chosen[np.cumsum(cost[chosen]) <= _FEWEST * cost[chosen].mean() + 2 * HORIZON * budget.a_day]
    else:
        objective = Objective(terms.objective)
        chosen = planning.choose(terms.policy, objective, pages, known, cost, budget.amount, now, inside)
        stale = np.flatnonzero(always & (known.fresh < 1 - STALE))
        chosen = np.concatenate([stale, chosen[~np.isin(chosen, stale)]])
        chosen = chosen[np.cumsum(cost[chosen]) <= budget.amount]
        due, wait = np.full(len(pages), now), np.full(len(pages), np.inf)
    turns = _turns(pages[chosen], due[chosen], wait[chosen], gain[chosen], cost[chosen])
    if terms.sitemaps and terms.forever:
        turns = np.concatenate([_sitemaps(collection.sitemaps, terms, now), turns])
    if budget.period:
        turns = turns[np.argsort(turns["due"], kind="stable")]
    weight = max(float(known.weight.sum()), 1e-12)
    return VisitPlan(
        turns.tobytes(), len(pages),
        float(known.weight @ known.fresh) / weight, float(known.weight @ known.age) / weight,
        float(pages["size"].mean()) if len(pages) else 0.0, time.process_time(),
    )  # fmt: skip


def _kept_fresh(pages: NDArray[np.void], known: Believed, promised: NDArray[np.intp], now: float) -> Floats:
    """When pages that the user wants to be fresh are due, whatever the policy says."""
    wait = np.maximum(STALE / np.maximum(known.rate[promised], 1e-9), SOONEST)
    return np.asarray(np.maximum(pages["at"][promised] + wait, ready(pages[promised], now)))


def costs(collection: Collection, known: Believed) -> Floats:
    """Bytes that a visit to each page is expected to move."""
    ids, host = np.unique(collection.pages["host"], return_inverse=True)
    trusted = np.array([collection.hosts.get(int(id), trust.Trust()).may_ask_conditionally for id in ids])
    spared, same = (np.bincount(host, collection.pages[name]) for name in ("not_modified", "same"))
    saves = np.where(trusted, (spared + 0.5) / (spared + same + 1.0), 0.0)
    return expected_cost(np.maximum(collection.pages["size"], 300.0), 1 - known.fresh, saves[host])


def _caps(pages: NDArray[np.void], settings: Settings, intervals: dict[int, float]) -> tuple[NDArray[np.intp], Floats]:
    """The most visits a day that manners allow each host."""
    ids, host = np.unique(pages["host"], return_inverse=True)
    usual = settings.delay or 0.0
    seconds = np.array([max(intervals.get(int(id), 0.0), usual) for id in ids])
    return host.astype(np.intp), settings.per_host * np.divide(
        DAY, seconds, out=np.full(len(ids), np.inf), where=seconds > 0
    )


def _sitemaps(sitemaps: NDArray[np.void], terms: Terms, now: float) -> NDArray[np.void]:
    """Those that are due. A refresh that is to end reads them before it plans."""
    wait = np.where(sitemaps["interval"] > 0, sitemaps["interval"], SITEMAP_FIRST)
    due = sitemaps["at"] + wait
    size = np.maximum(sitemaps["size"], 1.0) if terms.budget.unit == "bytes" else np.ones(len(sitemaps))
    chosen = np.flatnonzero(due <= now + HORIZON)
    return _turns(sitemaps[chosen], due[chosen], wait[chosen], np.zeros(len(chosen)), size[chosen])


def _turns(rows: NDArray[np.void], due: Floats, wait: Floats, gain: Floats, cost: Floats) -> NDArray[np.void]:
    turns = np.zeros(len(rows), _TURN)
    for name, column in zip(
        PlannedVisit._fields, (rows["id"], rows["host"], due * DAY, wait * DAY, gain, cost), strict=True
    ):
        turns[name] = column
    return turns
