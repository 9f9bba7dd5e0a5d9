"""Sources that name pages are believed as far as visits confirm them, and no further."""

from functools import cache

import numpy as np
import pytest

from sanderling.freshness import evidence, planning, trust
from sanderling.freshness.collection import COLUMNS, believe
from sanderling.freshness.sources import SOURCES, SourceRecord, expected_by_word, hear, learn
from sanderling.freshness.worth import Objective

RATE = 0.1  # changes a day
DAYS = 2.0  # between two visits


def taught(visits: int, announced: float, false: float = 0.0, record: SourceRecord | None = None) -> SourceRecord:
    """A source after visits to pages of which a fifth changed; it named this share of them, and of the others."""
    random = np.random.default_rng(1)
    record = record or hear(SourceRecord(), 1.0, 1)
    begin = record.heard + 1
    for n in range(visits):
        changed = bool(random.random() < 1 - np.exp(-RATE * DAYS))
        named = random.random() < (announced if changed else false)
        last = begin + n * 0.01
        record = hear(record, last + DAYS, 1)
        record = learn(record, "indexnow", last + 1 if named else 0.0, last, last + DAYS, changed, RATE)
    return record


def test_a_true_source_is_heeded_and_its_silence_believed() -> None:
    record = taught(400, announced=1.0)
    assert record.precision > 0.95 and record.is_heeded and not record.on_trial
    assert record.recall > 0.9 and expected_by_word(record) > 3


def test_nothing_is_believed_before_visits() -> None:
    new = hear(SourceRecord(), 1.0, 5)
    assert new.is_heeded and new.on_trial and new.recall == 0.0


def test_half_of_the_truth_is_believed_by_half() -> None:
    record = taught(2000, announced=0.5)
    assert record.is_heeded and 0.25 < record.recall < 0.7


def test_lies_are_unlearned_and_the_truth_is_believed_again() -> None:
    true = taught(400, announced=1.0)
    liar = taught(300, announced=0.2, false=0.9, record=true)
    assert not liar.is_heeded and liar.recall < 0.3 and expected_by_word(liar) < 0.3
    again = taught(2000, announced=1.0, record=liar)
    assert again.is_heeded and again.recall > 0.9


def test_a_source_that_died_covers_no_more_time() -> None:
    record = hear(hear(hear(SourceRecord(), 1.0, 1), 1.1, 1), 1.2, 1)
    assert record.silence_until("indexnow") < 2.0  # five of its pauses
    assert record.silence_until("report") == 1.2  # when it was read last
    # A change that came after its death is not held against it.
    assert learn(record, "report", 0.0, 1.5, 9.0, True, RATE) == record


def table(named: list[bool]) -> np.ndarray:
    pages = np.zeros(len(named), COLUMNS)
    pages["id"], pages["host"], pages["there"] = np.arange(len(named)) + 1, 1, True
    pages["at"], pages["importance"], pages["size"] = 100.0, 1.0, 1000.0
    pages["told"][:, SOURCES.index("report")] = np.where(named, 105.0, 0.0)
    return pages


def test_what_a_proven_source_names_is_old_and_what_it_does_not_name_is_young() -> None:
    named = [True] + [False] * 9
    alone = believe(table(named), {}, 110.0)
    proven = SourceRecord(since=50.0, heard=110.0, true=49.0, unnamed=200.0, expected=100.0)
    helped = believe(table(named), {1: trust.Trust(sources={"report": proven})}, 110.0)
    assert helped.fresh[0] < alone.fresh[0] and helped.fresh[0] < 0.2
    assert (helped.fresh[1:] > alone.fresh[1:]).all() and helped.fresh[1] > 0.99
    assert (helped.silence < 0.05).all()
    dead = proven._replace(heard=100.0)
    without = believe(table([False] * 10), {}, 110.0)
    after = believe(table([False] * 10), {1: trust.Trust(sources={"report": dead})}, 110.0)
    assert np.allclose(after.exposure, without.exposure)
    assert (after.silence == 1.0).all()


def test_the_record_is_kept_with_the_host() -> None:
    host = trust.after_message(trust.Trust(), "report", 5.0, 3)
    host = trust.after_visit(host, {"report": 5.5}, 5.0, 6.0, True)
    kept = trust.unpack(trust.pack(host))
    assert kept == host and kept.sources["report"].true == 1.0
    assert trust.unpack(trust.pack(trust.Trust())).sources == {}


@cache
def kept_fresh(mode: str, pages: int = 150, days: int = 40, budget: int = 15) -> float:
    """The mean freshness of a site whose source behaves in a way, from the tenth day on."""
    random = np.random.default_rng(3)
    rates = np.clip(random.lognormal(np.log(0.05), 1.2, pages), 0.001, 2)
    rows = table([False] * pages)
    rows["at"], rows["told"] = 0.0, 0.0
    seen, stale, told = [evidence.NONE] * pages, np.zeros(pages, bool), rows["told"][:, SOURCES.index("report")]
    record, fresh = SourceRecord(), []
    for day in map(float, range(1, days + 1)):
        changed = random.random(pages) < 1 - np.exp(-rates)
        stale |= changed
        lies = ~changed & (random.random(pages) < 0.15)
        alive = mode != "none" and not (mode == "dies" and day > 20)
        speaks = mode == "true" or day <= 20
        named = {"flood": np.ones(pages, bool), "lies": lies}.get(mode, changed & speaks)
        if alive:
            told[named] = day - 0.01
            record = hear(record, day, int(named.sum()), day - 0.005)
        rows["evidence"] = seen
        hosts = {1: trust.Trust(sources={"report": record})} if record.since else {}
        chosen = planning.choose(
            "optimal", Objective.FRESHNESS, rows, believe(rows, hosts, day), np.ones(pages), budget, day
        )
        calls = np.flatnonzero(told > rows["at"])[: 10 if record.on_trial else pages] if record.is_heeded else []
        for page in list(dict.fromkeys([*map(int, calls), *chosen.tolist()]))[:budget]:
            last, found = float(rows["at"][page]), bool(stale[page])
            rate = evidence.rough_rate(seen[page], record.rate)
            called = record.is_heeded and told[page] > last and found
            if record.since:
                record = learn(record, "report", float(told[page]), last, day, found, rate)
            seen[page] = evidence.observe(seen[page], day - last, [found] * 4, day - last if called else None)
            rows["since"][page], rows["at"][page], rows["kinds"][page], stale[page] = last, day, found, False
        if day > 10:
            fresh.append(1 - stale.mean())
    return float(np.mean(fresh))


@pytest.mark.parametrize("mode", ["lies", "flood", "falls silent", "dies"])
def test_no_source_makes_a_collection_worse_than_without_it(mode: str) -> None:
    # On the mean of several sites it is never more than a point; one site varies by half a point.
    assert kept_fresh(mode) > kept_fresh("none") - 0.015


def test_a_true_source_keeps_a_collection_fresh() -> None:
    assert kept_fresh("true") > 0.97 > kept_fresh("none") + 0.1
