import itertools

import msgspec
from turbohtml import parse

from sanderling.change import Noise, Parameters, compare, learn, learn_template, parameters
from sanderling.change.noise import MAX_PLACES


def visit(counter: object, news: str = "old news", extra: str = "") -> Parameters:
    return parameters(parse(f"<h1>Site</h1><p>{news}</p><p>Visitors today:</p><p>{counter}</p><p>End</p>{extra}"))


def taught(pages: list[Parameters]) -> Noise:
    known = Noise()
    for old, new in itertools.pairwise(pages):
        known = learn(known, old, new)
    return known


def test_a_counter_is_learned_and_no_longer_news() -> None:
    known = taught([visit(number) for number in range(5)])
    verdict = compare(visit(5), visit(6), known=known)
    assert verdict.changed
    assert verdict.volatile
    assert not verdict.news
    assert "on most visits" in verdict.summary


def test_a_change_beside_the_counter_is_news() -> None:
    known = taught([visit(number) for number in range(5)])
    assert compare(visit(5), visit(6, "new news"), known=known).news


def test_the_first_changes_are_news() -> None:
    known = taught([visit(1), visit(2), visit(3)])
    assert compare(visit(3), visit(4), known=known).news


def test_what_pages_of_a_template_taught_holds_for_a_page_never_seen_before() -> None:
    template = Noise()
    for number in range(3):
        template = learn_template(template, *(visit(number + step, f"page {number}") for step in (0, 10)))
    other = [visit(number, "another page") for number in (1, 2)]
    assert compare(*other).news
    assert not compare(*other, template=template).news


def test_one_edit_on_all_pages_of_a_template_is_news_on_each() -> None:
    template = Noise()
    for number in range(20):
        pages = visit("opens at 9", f"page {number}"), visit("opens at 10", f"page {number}")
        assert compare(*pages, template=template).news
        template = learn_template(template, *pages)


def test_a_place_that_seldom_changes_is_no_noise_of_a_template() -> None:
    template = Noise()
    for number in range(40):
        page = visit(number // 8, f"page {number}")
        template = learn_template(template, page, visit((number + 1) // 8, f"page {number}"))
    assert compare(visit(0, "x"), visit(99, "x"), template=template).news


def test_an_author_at_work_is_no_noise() -> None:
    pages = [visit(0, f"draft {number // 3}") for number in range(12)]
    assert compare(pages[-1], visit(0, "final"), known=taught(pages)).news


def test_two_versions_in_turn_are_recognised_but_one_revert_is_news() -> None:
    one, other = visit(0, "version A"), visit(0, "version B")
    assert compare(other, one, known=taught([one, other])).news
    known = taught([one, other, one, other])
    verdict = compare(other, one, known=known)
    assert verdict.alternating
    assert not verdict.news
    assert compare(one, visit(0, "version C"), known=known).news


def test_state_stays_bounded() -> None:
    pages = [
        visit(0, extra="".join(f"<p>anchor {place}</p><p>{place * turn}</p>" for place in range(200)))
        for turn in range(12)
    ]
    known = taught(pages)
    assert len(known.places) <= MAX_PLACES
    assert len(msgspec.msgpack.encode(known)) <= 1500
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(known), type=Noise) == known
