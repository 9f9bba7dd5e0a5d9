"""From visits to plans: evidence in four numbers, beliefs about a collection, and the choice of
pages."""

import math
import time
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from lab.simulation.exact_evidence import observed
from sanderling.freshness import belief, choosing, evidence, planning, trust
from sanderling.freshness.collection import COLUMNS, Believed, believe, numbers_of
from sanderling.freshness.outlook import budget_values, doubts, paces
from sanderling.freshness.ranked_pages import levels, published_ranks
from sanderling.freshness.signals import SignalRecord, Validators
from sanderling.freshness.worth import Objective, worth
from sanderling.model import PLANNED_VISIT, Outcome, PlannedVisit, Visit
from sanderling.server.revisits import refresher
from sanderling.server.revisits.planner import Collection, plan
from sanderling.server.revisits.refresher import Refresher
from sanderling.server.revisits.schedule import HostSchedule, VisitPlan, VisitSchedule, write
from sanderling.server.revisits.terms import Budget, Terms, read_budget
from sanderling.settings import Settings
from sanderling.urls import identity
from tests.waiting import until


def visits(pattern: list[bool], interval: float = 3.0) -> bytes:
    packed = evidence.NONE
    for changed in pattern:
        packed = evidence.observe(packed, interval, [changed] * 4)
    return packed


def said(packed: bytes) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    """The log-likelihood of each class of rates, from the stored evidence of a page."""
    return belief.log_likelihood(numbers_of(collection(1, evidence=packed))[:, 0])[0]


@pytest.mark.parametrize("pattern", [[True, False, False, True], [False] * 20, [True] * 7])
def test_four_numbers_say_what_the_whole_history_says(pattern: list[bool]) -> None:
    exact = np.zeros(belief.CLASSES)
    for changed in pattern:
        exact = observed(exact, 3.0, 3.0, changed)
    assert said(visits(pattern)) == pytest.approx(exact, abs=2e-3)


def test_intervals_that_differ_are_summed_up_well() -> None:
    rng = np.random.default_rng(5)
    for rate in (0.02, 0.2, 1.0):
        exact, packed = np.zeros(belief.CLASSES), evidence.NONE
        for interval in rng.uniform(1, 9, 60):
            changed = bool(rng.random() < -np.expm1(-rate * interval))
            exact = observed(exact, interval, interval, changed)
            packed = evidence.observe(packed, float(interval), [changed] * 4)
        believed = belief.posterior(belief.COMMON, said(packed))
        assert belief.expected_rate(believed) == pytest.approx(
            belief.expected_rate(belief.posterior(belief.COMMON, exact)), rel=0.15
        )


def test_many_small_quiet_times_are_not_rounded_away() -> None:
    daily, yearly = visits([False] * 365, 1.0), visits([False], 365.0)
    few, many = (said(each) for each in (yearly, daily))
    assert many[-4] < -100 and few[-4] < -100


def test_a_clock_that_jumped_back_says_nothing() -> None:
    seen = visits([True, False])
    assert evidence.observe(seen, -5.0, [True] * 4) == seen
    assert evidence.observe(b"written by somebody else", 2.0, [False] * 4) == visits([False], 2.0)


def test_who_was_called_does_not_mistake_every_visit_for_a_sign() -> None:
    called = plain = evidence.NONE
    for _ in range(10):  # a change every ten days, and a visit right after it
        called = evidence.observe(called, 10.0, [True] * 4, quiet=10.0)
        plain = evidence.observe(plain, 10.0, [True] * 4)
    rates = [float(belief.expected_rate(belief.posterior(belief.COMMON, said(each)))) for each in (called, plain)]
    assert rates[0] == pytest.approx(0.1, rel=0.25) and rates[1] > 0.2


def collection(pages: int, **columns: object) -> "np.ndarray[tuple[int], np.dtype[np.void]]":
    rows = np.zeros(pages, COLUMNS)
    rows["id"], rows["there"], rows["size"] = np.arange(pages), True, 10_000
    rows["folder"] = rows["pattern"] = rows["host"] = 1
    for name, values in columns.items():
        rows[name] = values
    return rows


def test_pages_never_seen_again_are_believed_to_do_what_their_folder_does() -> None:
    busy, quiet = visits([True] * 6, 2.0), visits([False] * 6, 2.0)
    rows = collection(60, folder=[n % 2 for n in range(60)], at=100.0)
    rows["evidence"][:40] = [busy if n % 2 else quiet for n in range(40)]
    known = believe(rows, {}, 101.0)
    strangers = np.exp(known.log_rate[40:])
    assert strangers[1::2].min() > 5 * strangers[0::2].max()
    assert known.fresh[41] < known.fresh[40] <= 1
    assert (known.age >= 0).all() and known.age[41] > known.age[40]


def test_where_pages_change_together_neighbours_tell() -> None:
    rng = np.random.default_rng(3)
    # Folders 0 to 9 of 30 pages; two thirds of each were visited within the last five days, and
    # those of even folders have all changed since, those of odd ones have not.
    rows = collection(300, folder=np.arange(300) % 10, at=80.0, since=60.0)
    lately = rng.random(300) < 0.67
    rows["since"][lately], rows["at"][lately] = 80.0, rng.uniform(95, 100, int(lately.sum()))
    changed = lately & (rows["folder"] % 2 == 0)
    rows["kinds"] = np.where(changed, 4, 0)
    rows["evidence"] = [visits([bool(now), False, False], 15.0) for now in changed]
    known = believe(rows, {}, 100.0)
    old, young = (known.exposure[~lately & (rows["folder"] % 2 == parity)] for parity in (0, 1))
    assert old.min() > 2 * young.max() and young.max() < 20 < old.min()


def test_where_they_do_not_all_clocks_go_alike() -> None:
    rng = np.random.default_rng(4)
    rows = collection(600, folder=np.arange(600) % 5, at=rng.uniform(90, 100, 600))
    rows["since"] = rows["at"] - rng.uniform(5, 15, 600)
    changed = rng.random(600) < 0.5
    rows["kinds"], rows["evidence"] = np.where(changed, 4, 0), [visits([bool(c), not c], 10.0) for c in changed]
    known = believe(rows, {}, 100.0)
    assert np.log(known.exposure / (100.0 - rows["at"])).std() < 0.3


def test_silence_of_a_good_informant_keeps_pages_young_and_an_alarm_makes_them_old() -> None:
    rows = collection(3, at=100.0, announced=[0.0, 50.0, 109.0])
    good = {1: trust.Trust(SignalRecord(50.0, 1.0, 1.0, 1000.0))}
    liar = {1: trust.Trust(SignalRecord(5.0, 5.0, 900.0, 1000.0))}
    plain, silent, alarm = believe(rows, good, 110.0).fresh
    assert silent > plain > alarm
    plain, silent, alarm = believe(rows, liar, 110.0).fresh
    assert alarm == pytest.approx(silent, abs=0.1)


@pytest.mark.parametrize("policy", ["optimal", "uniform", "proportional", "nutch", "by-rank", "top-levels"])
def test_every_policy_chooses_within_the_budget(policy: str) -> None:
    rng = np.random.default_rng(1)
    rows = collection(500, at=rng.uniform(0, 90, 500), depth=rng.integers(0, 6, 500))
    rows["evidence"] = [visits(list(rng.random(5) < 0.3)) for _ in range(500)]
    known = believe(rows, {}, 100.0)
    cost = rng.uniform(1, 5, 500)
    inside = planning.inside_of(policy, rows, 0.3, 2)
    chosen = planning.choose(policy, Objective.FRESHNESS, rows, known, cost, 120.0, 100.0, inside)
    assert len(chosen) > 0 and 110.0 < cost[chosen].sum() <= 120.0
    if policy == "top-levels":
        assert rows["depth"][chosen].max() <= 2
    if policy == "by-rank":
        assert published_ranks(rows)[chosen].min() >= 0.3
    due, wait = planning.schedule(policy, Objective.FRESHNESS, rows, known, cost, 40.0, 100.0, inside=inside)
    assert len(due) == len(wait) == 500
    if policy != "nutch":  # which knows no budget
        assert (cost / wait).sum() <= 40.0 * 1.01
    assert (due[np.isfinite(due)] >= 0).all()


@pytest.mark.parametrize("objective", Objective)
def test_of_many_pages_none_of_the_best_is_left_out_at_a_glance(objective: Objective) -> None:
    rng = np.random.default_rng(2)
    pages = 60_000
    rows = collection(pages, at=rng.uniform(0, 90, pages), failures=rng.random(pages) < 0.1, tried=100.0)
    weight, cost = rng.pareto(1.5, pages) + 0.1, rng.uniform(1, 5, pages)
    weight[::7] = 0.0
    known = Believed(
        rng.normal(-4, 2, pages), rng.uniform(0, 3, pages), np.ones(pages), 100.0 - rows["at"], np.ones(pages),
        np.ones(pages), weight,
    )  # fmt: skip
    half_a_round = (100.0 - rows["at"].max()) / 2
    worths = weight * worth(known.exposure + half_a_round, known.log_rate, known.spread, objective) / cost
    best = choosing.affordable(np.where(rows["failures"] > 0, -np.inf, worths), cost, 900.0)
    assert (planning.choose("optimal", objective, rows, known, cost, 900.0, 100.0) == best).all()


def test_planning_again_moves_due_times_only_as_much_as_the_world_moved() -> None:
    rng = np.random.default_rng(1)
    rows = collection(3000, at=rng.uniform(0, 90, 3000), importance=rng.pareto(1.5, 3000) + 0.1)
    rows["evidence"] = [visits(list(rng.random(5) < 0.3)) for _ in range(3000)]
    known, cost = believe(rows, {}, 100.0), np.ones(3000)
    first, again, more = (
        planning.schedule("optimal", Objective.FRESHNESS, rows, known, cost, budget, 100.0).due
        for budget in (300.0, 300.0, 303.0)
    )
    assert again == pytest.approx(first)
    assert np.median(np.abs(more / first - 1)) < 0.02


def test_no_host_is_planned_more_visits_than_its_manners_allow() -> None:
    rows = collection(600, at=10.0, host=[1, 2] * 300)
    rows["evidence"] = visits([True, False, True])
    slow = {1: 8640.0}  # seconds between two visits
    terms = Terms(Budget(100, "visits", 86400), forever=True)
    made = plan(Collection(rows, rows[:0], {}), terms, Settings(), slow, 100.0)
    load = Counter[int]()
    turns = [PlannedVisit._make(fields) for fields in PLANNED_VISIT.iter_unpack(made.visits)]
    for turn in turns:
        load[turn.host] += 86400 / turn.wait
    assert load[1] <= 10.1 and load[2] == pytest.approx(90, rel=0.02)
    assert len(turns) == 600 and made.pages == 600


@pytest.mark.parametrize("policy", ["optimal", "top-levels"])
def test_a_page_that_is_always_kept_fresh_comes_first_when_it_may_have_changed(policy: str) -> None:
    rows = collection(300, at=99.0, depth=5)
    url = "https://example.org/prices"
    rows["id"][7] = identity(url)
    rows["importance"], rows["importance"][7] = 1.0, 1e-6

    def planned(budget: Budget, now: float) -> list[PlannedVisit]:
        made = plan(Collection(rows, rows[:0], {}), Terms(budget, policy, always=(url,)), Settings(), {}, now)
        return [PlannedVisit._make(fields) for fields in PLANNED_VISIT.iter_unpack(made.visits)]

    assert [each.id for each in planned(Budget(1, "visits"), 140.0)] == [identity(url)]
    assert identity(url) not in [each.id for each in planned(Budget(1, "visits"), 99.01)]
    assert planned(Budget(1, "visits", 86400), 140.0)[0].id == identity(url)


def test_who_does_not_answer_is_left_alone_for_longer_each_time() -> None:
    rows = collection(3, at=1.0, tried=99.0, failures=[0, 1, 12])
    ready = choosing.ready(rows, 100.0)
    assert ready[0] == -np.inf and ready[1] < 99.1 and ready[2] == 106.0
    rows["tried"] = 5000.0  # a wrong clock says that the last try was tomorrow
    assert (choosing.ready(rows, 100.0) == -np.inf).all()


def test_what_a_budget_buys_grows_and_the_optimum_is_never_worse() -> None:
    rng = np.random.default_rng(1)
    rows = collection(400, at=90.0)
    rows["evidence"] = [visits(list(rng.random(8) < rng.choice([0.02, 0.5, 0.95]))) for _ in range(400)]
    known = believe(rows, {}, 100.0)
    curve = budget_values(known)
    assert all(a.optimal < b.optimal for a, b in pairwise(curve))
    assert all(bought.optimal >= bought.uniform - 1e-3 for bought in curve)
    assert sum(count for _, count in paces(known)) == 400


def test_hosts_that_lie_are_named() -> None:
    hosts = {
        1: trust.Trust(),
        2: trust.Trust(SignalRecord(5.0, 5.0, 300.0, 300.0)),
        3: trust.Trust(validators=Validators(agreed=10, restless=40)),
        4: trust.Trust(validators=Validators(agreed=10, stuck=40)),
        5: trust.Trust(validators=Validators(dated=20, misdated=15)),
    }
    assert [(doubt.host, doubt.about) for doubt in doubts(hosts, 0.1)] == [
        (2, "sitemap"), (3, "ETag"), (4, "304"), (5, "Last-Modified"),
    ]  # fmt: skip


def test_a_lie_found_by_an_audit_stands_for_the_visits_that_were_not_audited() -> None:
    host = trust.Trust()
    for _ in range(100):
        host = trust.after_not_modified(host)
    assert host.may_ask_conditionally
    assert trust.after_body(host, False, True, audit=False).may_ask_conditionally
    assert not trust.after_body(host, False, True, audit=True).may_ask_conditionally
    assert trust.unpack(trust.pack(host)) == host


@pytest.mark.parametrize(
    ("text", "budget"),
    [
        ("500", Budget(500)),
        ("2000/h", Budget(2000, "visits", 3600)),
        ("50MB", Budget(50e6, "bytes")),
        ("1.5GiB/2d", Budget(1.5 * 2**30, "bytes", 2 * 86400)),
        (" 3 / m ", Budget(3, "visits", 60)),
    ],
)
def test_budgets_are_read(text: str, budget: Budget) -> None:
    assert read_budget(text) == budget


class Watch:
    """A clock that a test controls."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        monkeypatch.setattr(refresher.time, "monotonic", lambda: self.now)


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Iterator[Watch]:
    yield Watch(monkeypatch)


def planned(terms: Terms, pages: int) -> Refresher:
    """A refresh with this many overdue pages."""
    turns = VisitSchedule(["false"], Path("unused"), repeat=True)
    turns.plan = VisitPlan(b"", pages, 0.5, 1.0, 1000.0, 0.0)
    turns._not_before = float("inf")
    for id in range(1, pages + 1):
        turns.again(PlannedVisit(id, id % 7, 0.0, 3600.0, 0.001, 1.0), 0.0)
    return Refresher(terms, turns)


def test_a_flowing_budget_never_bursts(watch: Watch) -> None:
    refresh = planned(Terms(Budget(3600, "visits", 3600), forever=True), 1000)
    handed = [len(refresh.step(1e9))]
    for seconds in (1, 1, 1, 86400, 1, -5000, 1):  # a night asleep, a clock set back
        watch.now += seconds
        handed.append(len(refresh.step(1e9)))
    assert handed[0] == 0 and handed[1:4] == [1, 1, 1]
    assert handed[4] <= refresher.BURST and handed[5] <= 1 and handed[6] == 0


def test_pages_that_sources_name_overdraw_the_budget_and_planned_visits_pay_it_back(watch: Watch) -> None:
    refresh = planned(Terms(Budget(100, "visits", 3600), forever=True), 1000)
    named = range(2001, 2031)
    refresh.calls.add(7, "report", named, 1.0, 1000)
    assert len(refresh.step(1e9)) == refresher.LOAN and refresh.room(0) == refresher.LOAN
    assert refresh.room(refresher.LOAN) == 0
    for id in refresh.ids(7, 100, ()):
        refresh.settle(Visit(id=id, outcome=Outcome.PAGE, status=200, at=2.0), 7, excused=False)
    assert refresh.step(1e9) == [] and refresh.room(0) == 0
    for _ in range(20):  # the others come as the budget flows
        watch.now += 36
        assert refresh.step(1e9) == [7] and refresh.room(0) == 1
        (id,) = refresh.ids(7, 100, ())
        assert id in named
        refresh.settle(Visit(id=id, outcome=Outcome.PAGE, status=200, at=2.0), 7, excused=False)
    for _ in range(refresher.LOAN):
        watch.now += 36
        assert refresh.step(1e9) == []
    watch.now += 36
    assert len(refresh.step(1e9)) == 1
    # New pages that were named do not wait, either.
    watch.now += 3600
    refresh.step(1e9)
    assert refresh.room(0) == 1
    refresh.expect([5001, 5002, 5003])
    assert refresh.room(0) == 3
    refresh.settle(Visit(id=5001, outcome=Outcome.PAGE, status=200, at=2.0), 7, excused=False)
    assert refresh.room(0) == 2


def test_nothing_is_saved_up_while_the_network_is_away(watch: Watch) -> None:
    refresh = planned(Terms(Budget(3600, "visits", 3600), forever=True), 1000)
    watch.now += 500
    assert len(refresh.step(1e9, away=True)) <= 1
    watch.now += 2
    assert len(refresh.step(1e9)) <= 2


def test_visits_without_an_answer_cost_nothing(watch: Watch) -> None:
    refresh = planned(Terms(Budget(3)), 10)
    assert len(refresh.step(1e9)) == 3 and refresh.room(0) == 3
    assert [refresh.ids(host, 9, ()) for host in (1, 2, 3, 4)] == [[1], [2], [3], []]
    refresh.settle(Visit(id=1, outcome=Outcome.RETRY, reason="refused"), 1, excused=False)
    assert (refresh.spent, refresh.room(0)) == (0, 3)
    refresh.settle(Visit(id=2, outcome=Outcome.UNCHANGED, status=304), 2, excused=False)
    assert (refresh.spent, refresh.room(0), refresh.room(2)) == (1, 2, 0)
    assert not refresh.over(idle=False, now=1e9)
    for id in (3, 4):
        refresh.step(1e9)
        assert refresh.ids(id, 9, ()) == [id]
        refresh.settle(Visit(id=id, outcome=Outcome.PAGE, status=200), id, excused=False)
    assert refresh.over(idle=False, now=1e9) and refresh.gained == pytest.approx(0.003)


def test_a_page_that_waits_while_plans_name_it_again_is_visited_once(watch: Watch) -> None:
    """As with pages that could not be reached. The budget is not reserved twice either."""
    refresh = planned(Terms(Budget(3600, "visits", 3600), forever=True), 3)
    watch.now += 10
    assert len(refresh.step(1e9)) == 3 and refresh.ids(1, 9, ()) == [1]
    refresh.settle(Visit(id=1, outcome=Outcome.RETRY, reason="no route"), 1, excused=True)
    for _ in range(2):
        refresh.schedule.again(PlannedVisit(1, 1, 0.0, 3600.0, 0.001, 1.0), 0.0)
        assert refresh.step(1e9) == [1]
    assert refresh.ids(1, 9, ()) == [1] and refresh.ids(1, 9, {1}) == []
    assert refresh._listed == 3.0


def test_turns_come_by_their_due_times_and_a_visit_moves_them() -> None:
    turns = VisitSchedule(["false"], Path("unused"), repeat=False)
    a, b, c = (PlannedVisit(id, 1, due, 10.0, 0.0, 1.0) for id, due in ((1, 50.0), (2, 40.0), (3, 65.0)))
    turns.plan = VisitPlan(b"".join(PLANNED_VISIT.pack(*turn) for turn in (b, a, c)), 3, 0.5, 1.0, 1000.0, 0.0)
    assert turns.next(30.0) is None and turns.next(60.0) == b
    turns.again(b, 60.0)
    turns.again(b, 70.0)
    assert turns.next(60.0) == a
    turns.take(a)
    assert turns.next(60.0) is None
    turns.take(c)
    assert turns.next(69.0) is None and turns.next(80.0) == b._replace(due=70.0)
    turns.take(b)
    assert turns.next(1e9) is None


def test_a_visit_that_a_plan_does_not_know_moves_its_turn(tmp_path: Path) -> None:
    turns = [PlannedVisit(id, 1, 100.0, 10.0, 0.0, 1.0) for id in (1, 2)]
    write(tmp_path / "made", VisitPlan(b"".join(PLANNED_VISIT.pack(*turn) for turn in turns), 2, 0.5, 1.0, 1000.0, 0.0))
    held = VisitSchedule(["cp", str(tmp_path / "made")], tmp_path / "plan", repeat=True)
    held.step()
    held.visited(1, 95.0)  # while it is made
    until(lambda: held.step() or held.plan)
    assert held.next(100.0) == turns[1]
    held.take(turns[1])
    assert held.next(104.0) is None and held.next(105.0) == turns[0]._replace(due=105.0)


def test_a_fixed_budget_is_planned_in_parts_and_visits_nobody_twice(tmp_path: Path) -> None:
    """Each plan names all pages, in another order: the later ones begin where visits found most."""

    def plan_from(first: int) -> None:
        turns = [PlannedVisit(1 + (first + n) % 500, 1, 0.0, math.inf, 0.0, 1.0) for n in range(500)]
        made = VisitPlan(b"".join(PLANNED_VISIT.pack(*turn) for turn in turns), 500, 0.5, 1.0, 1000.0, 0.0)
        write(tmp_path / "made", made)

    schedule = VisitSchedule(["cp", str(tmp_path / "made")], tmp_path / "plan", repeat=False)
    refresh = Refresher(Terms(Budget(400, "visits")), schedule)
    plan_from(0)
    until(lambda: refresh.step(1e9) or schedule.plan)
    visited: list[int] = []

    def visit(count: int) -> None:
        for id in refresh.ids(1, count, ()):
            refresh.settle(Visit(id=id, outcome=Outcome.UNCHANGED, status=200, at=1.0), 1, excused=False)
            visited.append(id)

    refresh.step(1e9)
    visit(49)
    refresh.step(1e9)
    assert not schedule._job.out
    visit(1)
    plan_from(300)
    refresh.step(1e9)  # half of the first part is spent
    before = schedule.plan
    until(lambda: refresh.step(1e9) or schedule.plan is not before)
    visit(400)
    refresh.step(1e9)
    assert visited[:100] == [*range(1, 101)] and set(visited[100:]) <= {*range(301, 401)}
    for _ in range(100):
        visit(400)
        if refresh.over(idle=True, now=1e9):
            break
        before = schedule.plan
        until(lambda: refresh.step(1e9) or not schedule._job.out)
    assert len(visited) == len(set(visited)) == 400


def test_a_line_keeps_its_order_and_offers_nobody_twice() -> None:
    line = HostSchedule()
    for id in range(1, 6):
        line.add(PlannedVisit(id, 1, 0.0, 10.0, 0.0, 1.0))
    assert line.ids(2, ()) == [1, 2] and line.ids(2, {1, 2}) == [3, 4]
    assert line.ids(9, {1, 3}) == [2, 4, 5]  # returned leases are first
    assert [turn.id if (turn := line.settle(id)) else 0 for id in (1, 2, 3, 4, 7)] == [1, 2, 3, 4, 0]
    assert line
    line.settle(5)
    assert not line and line.ids(1, ()) == []


def test_a_million_pages_are_planned_in_seconds() -> None:
    rng = np.random.default_rng(0)
    pages = 1_000_000
    rows = collection(pages, at=rng.uniform(0, 30, pages), importance=rng.pareto(1.5, pages) + 0.1)
    rows["host"] = rng.integers(0, 5000, pages)
    rows["folder"] = rows["pattern"] = rows["host"] * 10 + rng.integers(0, 10, pages)
    some = [visits(list(rng.random(4) < 0.3)) for _ in range(100)]
    rows["evidence"][::4] = [some[n % 100] for n in range(pages // 4)]
    known = believe(rows, {}, 31.0)
    caps = np.where(np.arange(5000) % 10 == 0, 3.0, np.inf)
    _, host = np.unique(rows["host"], return_inverse=True)
    started = time.process_time()
    due, wait = planning.schedule(
        "optimal", Objective.FRESHNESS, rows, known, np.ones(pages), 50_000.0, 31.0, host.astype(np.intp), caps
    )
    assert (
        time.process_time() - started < 90
    )  # 3 s on an idle core; page by page it would take much longer on any machine
    assert (1 / wait).sum() == pytest.approx(50_000, rel=0.01)
    assert np.bincount(host, 1 / wait)[::10].max() <= 3.001
    started = time.process_time()
    first = np.argpartition(due, 1000)[:1000]  # the next one
    assert time.process_time() - started < 15 and len(first) == 1000
    started = time.process_time()
    chosen = planning.choose("optimal", Objective.FRESHNESS, rows, known, np.ones(pages), 1000, 31.0)
    assert time.process_time() - started < 15 and len(chosen) == 1000  # 25 ms on an idle core
    assert np.isfinite(due).all()


def test_the_published_rank() -> None:
    # The deepest page lies at depth 9: sqrt((9 - 1) / 2) = 2 bands of four depths each.
    depths = np.array([0, 1, 2, 5, 6, 9])
    assert levels(depths, np.full(6, 9)).tolist() == [0.5, 0.5, 0.4, 0.4, 0.3, 0.3]
    assert levels(np.array([2, 3]), np.full(2, 3)).tolist() == [0.4, 0.4]
    assert levels(np.array([2, 33]), np.full(2, 33)).tolist() == [0.4, 0.1]
    rows = collection(4, depth=np.array([0, 1, 2, 9]))
    rows["evidence"] = [visits([False] * 4), visits([True] * 4), visits([True, True, False, False]), visits([False])]
    assert published_ranks(rows).tolist() == pytest.approx([0.5, 1.0, 0.65, 0.3], abs=0.01)
    assert len(published_ranks(rows[:0])) == 0


def test_a_plan_that_was_killed_is_made_again_soon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Later and later, if it fails again and again."""
    now = [1000.0]
    monkeypatch.setattr("sanderling.server.revisits.schedule.time", SimpleNamespace(monotonic=lambda: now[0]))
    turns = VisitSchedule(["sh", "-c", "kill -9 $$"], tmp_path / "plan", repeat=True)
    waits = []
    for _ in range(5):
        turns.step()
        assert turns._job.out
        until(lambda: turns.step() or not turns._job.out)
        assert "signal 9" in turns.complaint
        waits.append(turns._not_before - now[0])
        now[0] = turns._not_before
    assert waits == [1.0, 4.0, 16.0, 60.0, 60.0]
