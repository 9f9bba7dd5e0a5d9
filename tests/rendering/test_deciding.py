"""Which patterns of URLs are rendered, from samples."""

from sanderling.browser.deciding import (
    LOOK_AGAIN,
    MOST_FAILED,
    NOTHING_IN_A_ROW,
    SAMPLES,
    Decisions,
    Extent,
    Next,
    brings_more,
)
from sanderling.model.rendering import RenderVerdict, decode_evidence, sampled_patterns

HOME = "https://example.org"
EMPTY, SAME, FULL = Extent(3, 0), Extent(3, 0), Extent(200, 12)


def sampled(decisions: Decisions, path: str, *found: Extent) -> None:
    for each in found:
        assert decisions.decide(HOME + path) is Next.SAMPLE
        decisions.learn(HOME + path, Next.SAMPLE, EMPTY, each)


def test_what_brings_more() -> None:
    assert brings_more(EMPTY, FULL)
    assert brings_more(Extent(500, 3), Extent(500, 4))  # a link
    assert brings_more(Extent(0, 0), Extent(10, 0))
    assert brings_more(Extent(0, 0), Extent(1, 0))  # an application of few words
    assert brings_more(Extent(3, 0), Extent(9, 0))
    assert not brings_more(Extent(3, 0), Extent(5, 0))
    assert not brings_more(Extent(500, 3), Extent(505, 3))
    assert not brings_more(Extent(500, 3), Extent(400, 3))


def test_two_samples_that_agree_decide() -> None:
    decisions = Decisions()
    sampled(decisions, "/app/1", FULL, FULL)
    assert decisions.is_rendered(f"{HOME}/app/77") and decisions.decide(f"{HOME}/app/77") is Next.RENDER
    sampled(decisions, "/static/1", SAME, SAME)
    assert decisions.decide(f"{HOME}/static/9") is Next.PLAIN
    assert not decisions.is_rendered(f"{HOME}/other/1")


def test_two_of_three_decide_when_samples_differ() -> None:
    decisions = Decisions()
    sampled(decisions, "/app/1", FULL, SAME, FULL)
    assert decisions.is_rendered(f"{HOME}/app/2")


def test_pages_wait_for_the_samples_of_their_pattern() -> None:
    decisions = Decisions()
    for n in range(SAMPLES):
        assert decisions.decide(f"{HOME}/app/{n}") is Next.SAMPLE
    assert decisions.decide(f"{HOME}/app/9") is Next.WAIT
    for n in range(2):
        decisions.learn(f"{HOME}/app/{n}", Next.SAMPLE, EMPTY, SAME)
    assert decisions.decide(f"{HOME}/app/9") is Next.PLAIN


def test_samples_that_could_not_be_rendered_say_nothing() -> None:
    decisions = Decisions()
    for n in range(MOST_FAILED):
        assert not decisions.keeps_failing(f"{HOME}/app/{n}")
        assert decisions.decide(f"{HOME}/app/{n}") is Next.SAMPLE
        decisions.give_up(f"{HOME}/app/{n}", Next.SAMPLE)
    assert decisions.keeps_failing(f"{HOME}/app/77") and not decisions.is_plain(f"{HOME}/app/77")
    assert not decisions.changed()
    sampled(decisions, "/app/1", FULL, FULL)
    assert decisions.is_rendered(f"{HOME}/app/77") and not decisions.keeps_failing(f"{HOME}/app/77")


def test_a_pattern_that_is_not_rendered_is_looked_at_again_and_again_less_often() -> None:
    decisions, looked = Decisions(), []
    sampled(decisions, "/static/1", SAME, SAME)
    for n in range(10 * LOOK_AGAIN):
        if decisions.decide(f"{HOME}/static/{n}") is Next.SAMPLE:
            looked.append(n)
            decisions.learn(f"{HOME}/static/{n}", Next.SAMPLE, EMPTY, SAME)
    assert len(looked) == 4
    assert looked[0] == LOOK_AGAIN - 1


def test_a_pattern_is_rendered_no_more_when_it_brings_nothing() -> None:
    decisions = Decisions()
    sampled(decisions, "/app/1", FULL, FULL)
    for _ in range(NOTHING_IN_A_ROW):
        assert decisions.decide(f"{HOME}/app/2") is Next.RENDER
        assert decisions.learn(f"{HOME}/app/2", Next.RENDER, FULL, FULL)
    assert decisions.decide(f"{HOME}/app/3") is Next.PLAIN


def test_what_was_learned_is_told_once_and_taken_over() -> None:
    decisions = Decisions()
    sampled(decisions, "/app/1", FULL, FULL)
    (told,) = decisions.changed().values()
    assert not decisions.changed()
    (known,) = sampled_patterns(told)
    assert known.verdict == RenderVerdict.RENDER and known.words == (6, 400) and known.links == (0, 24)
    assert "2 of 2 samples brought more: 400 words and 24 links" in known.why
    other = Decisions()
    other.hear_of(HOME, told)
    assert other.is_rendered(f"{HOME}/app/5")
    other.hear_of(HOME, b"")  # a later lease knows less
    assert other.is_rendered(f"{HOME}/app/5")


def test_evidence_that_cannot_be_read_is_gathered_again() -> None:
    assert decode_evidence(b"\xff broken") == []
