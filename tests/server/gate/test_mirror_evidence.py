"""What proves that a host is a mirror of another, and what does not."""

from random import Random

from sanderling.model import PageFacts, State
from sanderling.server.gate.mirror_evidence import (
    CONTENTS,
    MOST_COMPARED,
    SKETCH,
    MirrorPair,
    SampleTable,
    Sketch,
    remember,
)


def page(text: int, language: str = "", flips: int = 0) -> PageFacts:
    """A page; `flips` are bits of its simhash that differ, so it has not quite the same text."""
    simhash = Random(text).getrandbits(63) ^ ((1 << flips) - 1)
    return PageFacts(State.FETCHED, 0, 200, b"%-16d" % (text * 100 + flips), simhash, language)


def test_enough_different_contents_prove_a_mirror() -> None:
    pair = MirrorPair("http://a.test")
    for n in range(CONTENTS):
        assert not pair.convincing
        assert pair.compare(n, page(n), page(n))
    assert pair.convincing


def test_texts_that_are_nearly_the_same_will_do() -> None:
    pair = MirrorPair("http://a.test")
    assert all(pair.compare(n, page(n, flips=2), page(n)) for n in range(CONTENTS))
    assert pair.convincing


def test_one_content_everywhere_proves_nothing() -> None:
    pair = MirrorPair("http://a.test")
    for n in range(MOST_COMPARED):
        pair.compare(n, page(7), page(7))
    assert not pair.convincing


def test_a_shared_template_proves_nothing() -> None:
    pair = MirrorPair("http://a.test")
    agreed = [pair.compare(n, page(7, flips=n % 3 + 1), page(7)) for n in range(MOST_COMPARED)]
    assert agreed == [True] + [False] * (MOST_COMPARED - 1)
    assert pair.exhausted


def test_another_language_is_another_page() -> None:
    pair = MirrorPair("http://a.test")
    assert not pair.compare(1, page(1, "de"), page(1, "en"))
    assert pair.compare(2, page(2, "en-GB"), page(2, "en_US"))
    assert pair.compare(3, page(3, ""), page(3, "en"))


def test_pages_that_differ_or_are_missing_refute_it() -> None:
    pair, other = MirrorPair("http://a.test"), MirrorPair("http://a.test")
    for n in range(CONTENTS):
        pair.compare(n, page(n), page(n))
        other.compare(n, page(n), page(n))
    for n in range(100, 103):
        pair.compare(n, page(n), page(n + 1))
    assert not pair.convincing
    for n in range(200, 205):
        other.lacks(n)
    assert not other.convincing


def test_hosts_with_the_same_paths_remember_the_same_ones() -> None:
    chance = Random(1)
    paths = [chance.getrandbits(48) for _ in range(500)]
    sketches: list[Sketch] = [[], []]
    for sketch in sketches:
        chance.shuffle(paths)
        for path in paths:
            remember(sketch, path, 5)
    assert sorted(sketches[0]) == sorted(sketches[1])
    assert len(sketches[0]) == SKETCH


def test_the_table_finds_who_showed_nearly_the_same_at_a_path() -> None:
    table = SampleTable()
    simhash = Random(3).getrandbits(63)
    assert table.meet("http://a.test", 77, simhash) == []
    assert table.meet("http://a.test", 77, simhash) == []
    assert set(table.meet("http://b.test", 77, simhash ^ 0b1000_0000_0010_0001)) == {"http://a.test"}
    assert table.meet("http://b.test", 78, simhash) == []


def test_probes_become_rare() -> None:
    pair = MirrorPair("http://a.test", probe_at=8)
    probed = [n for n in range(1, 10_001) if pair.is_probed_next()]
    assert sum(n <= 100 for n in probed) == 6
    assert len(probed) == 25
