import itertools

import msgspec
import pytest
from turbohtml import parse

from sanderling.change import Noise, PageFingerprint, compare, fingerprint, learn, learn_template
from sanderling.change.judging import rejudge
from sanderling.change.noise import MAX_PLACES, learn_first, steady
from sanderling.model import ChangeKind


def visit(counter: object, news: str = "old news", extra: str = "") -> PageFingerprint:
    return fingerprint(parse(f"<h1>Site</h1><p>{news}</p><p>Visitors today:</p><p>{counter}</p><p>End</p>{extra}"))


def taught(pages: list[PageFingerprint]) -> Noise:
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


def test_what_most_pages_change_at_their_first_revisit_is_noise_for_the_others() -> None:
    template, told = Noise(), 0
    for number in range(40):
        pages = [visit(number + step, f"page {number}") for step in (0, 100)]
        told += compare(*pages, template=template).news
        template = learn_first(template, *pages) if number % 4 else steady(template)
    assert told <= 14


def test_edits_of_some_pages_at_one_place_are_news_at_the_first_revisit() -> None:
    template = Noise()
    for number in range(60):
        pages = [visit(number + step, f"page {number}") for step in (0, 100)]
        assert compare(*pages, template=template).news
        template = steady(template) if number % 3 else learn_first(template, *pages)


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


def dressed(turn: int, text: str = "some words", **kept: str) -> PageFingerprint:
    """A page on which all aspects except the text change each time, apart from those in `kept`."""
    parts = {
        "look": f'<p class="c{turn}">Look</p>',
        "outline": "<div></div>" * (turn % 7),
        "links": f'<a href="/{turn}">lucky</a>',
        "images": f'<img src="{turn}.png">',
    } | kept
    return fingerprint(parse(f"<p>{text}</p>{''.join(parts.values())}"), links=parts["links"].encode())


@pytest.mark.parametrize("what", ["look", "outline", "links", "images"])
def test_what_changes_beside_the_text_on_most_visits_is_learned_too(what: str) -> None:
    still = {name: "<p>as ever</p>" for name in ("look", "outline", "links", "images") if name != what}
    pages = [dressed(turn, **still) for turn in range(6)]
    assert compare(*pages[:2], known=Noise()).news
    assert compare(*pages[2:4], known=taught(pages[:3])).news
    verdict = compare(*pages[-2:], known=taught(pages[:-1]))
    assert verdict.volatile
    assert not verdict.news
    assert compare(pages[-1], dressed(5, "other words", **still), known=taught(pages)).news
    other = {name: part + "<h2></h2><img src=new.png>" for name, part in still.items()}
    assert compare(pages[-1], dressed(6, **other), known=taught(pages)).news


def test_an_advertisement_with_a_link_and_a_picture_is_learned() -> None:
    def page(turn: int, news: str = "old news") -> PageFingerprint:
        shown = (
            f'<p>{news}</p><p>Advertisement</p><p><a href="/{turn}">Buy {turn}<img src="{turn}.png"></a></p><p>End</p>'
        )
        return fingerprint(parse(shown), links=str(turn).encode())

    known = taught([page(turn) for turn in range(5)])
    assert not compare(page(4), page(5), known=known).news
    assert compare(page(4), page(5, "new news"), known=known).news


@pytest.mark.parametrize("most", [100, 4])
def test_a_list_that_has_another_entry_at_every_visit_is_news_each_time(most: int) -> None:
    def page(turn: int) -> PageFingerprint:
        entries = "".join(f'<li><a href="/{each}">entry {each}</a>' for each in range(turn, max(-3, turn - most), -1))
        return fingerprint(parse(f"<h1>Latest</h1><ul>{entries}</ul><p>End"), links=str(turn).encode())

    known = taught([page(turn) for turn in range(8)])
    assert compare(page(7), page(8), known=known).news


@pytest.mark.parametrize(("unchanged", "news"), [(0, False), (5, True), (300, True)])
def test_a_history_judged_anew_counts_the_visits_that_found_nothing(unchanged: int, news: bool) -> None:
    versions = [(ChangeKind.TEXT if turn else ChangeKind.NEW, visit(turn)) for turn in range(6)]
    changes, _, _ = rejudge([(kinds, msgspec.msgpack.encode(each)) for kinds, each in versions], unchanged)
    assert changes[0] is None
    assert changes[1] is not None
    assert changes[1].news
    assert changes[-1] is not None
    assert changes[-1].news is news


def test_state_stays_bounded() -> None:
    pages = [
        visit(0, extra="".join(f"<p>anchor {place}</p><p>{place * turn}</p>" for place in range(200)))
        for turn in range(12)
    ]
    known = taught(pages)
    assert len(known.places) <= MAX_PLACES
    assert len(msgspec.msgpack.encode(known)) <= 1500
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(known), type=Noise) == known
