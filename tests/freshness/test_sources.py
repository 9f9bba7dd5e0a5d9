"""Sources that name pages are believed as far as visits confirm them, and no further."""

import numpy as np

from sanderling.freshness import trust
from sanderling.freshness.collection import COLUMNS, believe
from sanderling.freshness.sources import SOURCES, SourceRecord, hear, learn

RATE = 0.1  # changes a day


def taught(
    visits: int, announced: float, false: float = 0.0, source: str = "indexnow", days: float = 2.0
) -> SourceRecord:
    """A source after visits to pages of which a fifth changed; it named this share of them, and of the others."""
    random = np.random.default_rng(1)
    record = hear(SourceRecord(), 1.0, 1)
    for n in range(visits):
        changed = random.random() < 1 - np.exp(-RATE * days)
        named = random.random() < (announced if changed else false)
        last = 2.0 + n * 0.01
        record = hear(record, last + days, 1)
        record = learn(record, source, last + days / 2 if named else 0.0, last, last + days, changed)
    return record


def test_a_true_source_is_heeded_and_its_silence_believed() -> None:
    record = taught(400, announced=1.0)
    assert record.precision > 0.95 and record.is_heeded and not record.on_trial
    assert record.recall(RATE) > 0.95


def test_nothing_is_believed_before_visits() -> None:
    new = hear(SourceRecord(), 1.0, 5)
    assert new.is_heeded and new.on_trial and new.recall(RATE) == 0.0


def test_half_of_the_truth_is_believed_by_half() -> None:
    record = taught(2000, announced=0.5)
    assert record.is_heeded
    assert 0.3 < record.recall(RATE) < 0.6


def test_a_liar_is_not_heeded_and_is_believed_again_when_it_tells_the_truth() -> None:
    liar = taught(300, announced=0.2, false=0.9)
    assert not liar.is_heeded and liar.recall(RATE) < 0.5
    for n in range(3000):
        last = 100.0 + n * 0.01
        liar = learn(hear(liar, last + 2, 1), "indexnow", last + 1 if n % 5 == 0 else 0.0, last, last + 2, n % 5 == 0)
    assert liar.is_heeded and liar.recall(RATE) > 0.9


def test_a_source_that_died_covers_no_more_time() -> None:
    record = hear(hear(hear(SourceRecord(), 1.0, 1), 1.1, 1), 1.2, 1)
    assert record.silence_until("indexnow") < 2.0  # five of its pauses
    assert record.silence_until("report") == 1.2  # when it was read last
    # A change that came after its death is not held against it.
    assert learn(record, "report", 0.0, 1.5, 9.0, True) == record


def table(named: list[bool]) -> np.ndarray:
    pages = np.zeros(len(named), COLUMNS)
    pages["id"], pages["host"], pages["there"] = np.arange(len(named)) + 1, 1, True
    pages["at"], pages["importance"], pages["size"] = 100.0, 1.0, 1000.0
    pages["told"][:, SOURCES.index("report")] = np.where(named, 105.0, 0.0)
    return pages


def test_what_a_proven_source_names_is_old_and_what_it_does_not_name_is_young() -> None:
    named = [True] + [False] * 9
    alone = believe(table(named), {}, 110.0)
    proven = SourceRecord(since=50.0, heard=110.0, true=200.0, silent=20_000.0)
    helped = believe(table(named), {1: trust.Trust(sources={"report": proven})}, 110.0)
    assert helped.fresh[0] < alone.fresh[0] and helped.fresh[0] < 0.2
    assert (helped.fresh[1:] > alone.fresh[1:]).all() and helped.fresh[1] > 0.99
    assert (helped.silence < 0.05).all()
    dead = SourceRecord(since=50.0, heard=100.0, true=200.0, silent=20_000.0)
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
