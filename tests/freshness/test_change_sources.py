"""Sources that name pages are believed as far as visits confirm them, and no further."""

from functools import cache

import numpy as np
import pytest

from lab.simulation.sources import CASES, LIAR, NOTHING, TURN, VISITS, freshness
from sanderling.freshness import planning, trust
from sanderling.freshness.collection import COLUMNS, believe
from sanderling.freshness.sources import SOURCES, SourceRecord, hear, learn, odds_by_word
from sanderling.freshness.worth import Objective

RATE = 0.1  # changes a day
DAYS = 2.0  # between two visits


def taught(visits: int, announced: float, false: float = 0.0, record: SourceRecord | None = None) -> SourceRecord:
    """A source after visits to pages of which a fifth changed; it named this share of them, and of
    the others."""
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
    assert record.recall > 0.9 and odds_by_word(record) > 30


def test_nothing_is_believed_before_visits() -> None:
    new = hear(SourceRecord(), 1.0, 5)
    assert new.is_heeded and new.on_trial and new.recall == 0.0


def test_half_of_the_truth_is_believed_by_half() -> None:
    record = taught(2000, announced=0.5)
    assert record.is_heeded and 0.25 < record.recall < 0.7


def test_lies_are_unlearned_and_the_truth_is_believed_again() -> None:
    true = taught(400, announced=1.0)
    liar = taught(300, announced=0.2, false=0.9, record=true)
    assert not liar.is_heeded and liar.recall < 0.3 and odds_by_word(liar) < 1.5
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
    proven = SourceRecord(since=50.0, heard=110.0, true=49.0, unnamed=200.0, expected=100.0, forecast=5.0)
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
def kept_fresh(case: str) -> np.ndarray:
    return freshness(case, 1)


# A site of this size gains or loses up to two points by chance; `lab liars` has the means of many.
CHANCE = 0.03


@pytest.mark.parametrize("case", [case for case in CASES if case.startswith(("falls", "names other", "names all"))])
def test_a_source_that_turns_liar_costs_nothing(case: str) -> None:
    (fresh, _), (alone, _) = kept_fresh(case), kept_fresh(NOTHING)
    assert fresh[TURN:].mean() > alone[TURN:].mean() - CHANCE
    assert fresh[TURN - 10 : TURN].mean() > 0.95


def test_a_source_that_always_lies_costs_nothing() -> None:
    assert kept_fresh(LIAR)[0].mean() > kept_fresh(NOTHING)[0].mean() - CHANCE


def test_a_true_source_keeps_a_collection_fresh_with_fewer_visits() -> None:
    fresh, visits = kept_fresh("tells the truth")
    assert fresh[10:].mean() > 0.97 > kept_fresh(NOTHING)[0][10:].mean() + 0.1
    assert visits[TURN:].mean() < VISITS - 1


def test_two_lies_end_what_a_month_of_truth_has_earned() -> None:
    true = taught(400, announced=1.0)
    once = _after_words(true, False)
    assert once.is_heeded and once.recall > 0.8
    assert _after_words(once, True, True).is_heeded  # a mistake is forgiven
    twice = _after_words(once, False)
    assert not twice.is_heeded and twice.recall < 0.1 and odds_by_word(twice) == 1.0
    # So many true words are needed to be heeded again.
    assert not _after_words(twice, *[True] * 9).is_heeded
    assert _after_words(twice, *[True] * 25).is_heeded


def _after_words(record: SourceRecord, *found: bool) -> SourceRecord:
    for changed in found:
        record = learn(record, "indexnow", 99.0, 98.0, 100.0, changed, RATE)
    return record


def test_a_few_missed_changes_end_the_trust_in_silence() -> None:
    true = taught(1500, announced=1.0)
    silent, missed = true, 0
    while silent.silence_recall > 0.5:
        silent = learn(
            hear(silent, silent.heard + 1, 0), "indexnow", 0.0, silent.heard - 1, silent.heard + 1, True, RATE
        )
        missed += 1
    assert true.silence_recall > 0.9 and missed <= 3
    assert silent.is_heeded  # its words were true


def test_who_names_everything_says_nothing() -> None:
    record = taught(400, announced=1.0, false=1.0)
    assert odds_by_word(record) < 1.5
    everything = believe(table([True] * 10), {1: trust.Trust(sources={"report": record})}, 110.0)
    alone = believe(table([True] * 10), {}, 110.0)
    assert np.allclose(everything.fresh, alone.fresh, atol=0.1)


PROVEN = SourceRecord(since=50.0, heard=110.0, true=49.0, unnamed=200.0, expected=100.0, forecast=5.0, complete=True)


def test_pages_that_a_proven_report_does_not_name_are_only_checked() -> None:
    pages = np.concatenate([table([True] * 5 + [False] * 195)] * 2)
    pages["host"][200:] = 2
    known = believe(pages, {1: trust.Trust(sources={"report": PROVEN})}, 110.0)
    chosen = planning.choose("optimal", Objective.FRESHNESS, pages, known, np.ones(400), 200, 110.0)
    checked = [page for page in chosen if 5 <= page < 200]
    assert set(range(5)) <= set(chosen) and len(checked) == 5  # a twentieth of its share of the budget
    assert sum(chosen >= 200) == 190  # the rest is for the other host
    alone = planning.choose("optimal", Objective.FRESHNESS, pages[:200], believe(pages[:200], {1: trust.Trust(sources={"report": PROVEN})}, 110.0), np.ones(200), 100, 110.0)  # fmt: skip
    assert len(alone) == 10  # and is not spent where there is none
    due = planning.schedule(
        "optimal", Objective.FRESHNESS, pages, known, np.ones(400), 200.0, 110.0, pages["host"] - 1
    ).wait
    assert (1 / due[5:200]).sum() == pytest.approx(5, rel=0.01)


def test_a_report_that_names_far_fewer_pages_than_usual_is_checked_like_no_report() -> None:
    record = PROVEN._replace(words=0.0, words_lately=0.0)
    for day in range(30):
        record = hear(record, 111.0 + day, 12, 111.0 + day, complete=True)
    assert record.spares_visits(140.0)
    assert hear(record, 141.0, 6, 141.0, complete=True).spares_visits(141.0)
    quiet = hear(record, 141.0, 0, 141.0, complete=True)
    assert quiet.is_short_of_words and not quiet.spares_visits(141.0) and quiet.stands_for(141.0)
