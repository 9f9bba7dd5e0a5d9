"""Pages made to be expensive to compare: what is done with them is bounded."""

import random

import pytest
from turbohtml import parse

from sanderling.change import comparison, explain, wording
from sanderling.change.comparison import blame, pieces, words
from sanderling.change.explain import MAX_PARAGRAPHS, paragraphs
from sanderling.change.page import markup
from sanderling.change.verdict import AspectKind
from sanderling.documents.formats import read_xml
from sanderling.documents.html import HtmlPage
from sanderling.documents.visible import MOST_NESTED
from sanderling.presenting.diff import as_html, as_text
from sanderling.presenting.difference import Difference

MANY = 200_000


def test_very_many_paragraphs() -> None:
    """The first ones are compared one by one, the others as one paragraph that says so."""
    lines = [f"<p>{n}" for n in range(MANY)]
    shuffled = random.Random(7).sample(lines, MANY)
    old, new = parse("".join(lines)), parse("".join(shuffled))
    verdict = explain(old, new)
    assert AspectKind.TEXT in verdict.kinds
    before, after = paragraphs(old), paragraphs(new)
    assert len(before) == len(after) == MAX_PARAGRAPHS
    assert before[-1].startswith("(180,001 paragraphs, compared as one:) 19999 20000 ")
    shown = pieces(before, after, places=True)
    assert len(shown) <= 2 * MAX_PARAGRAPHS
    assert "180,001 paragraphs, compared as one" in as_text(["a", "b"], Difference("", shown, 0, None), False)
    assert "180,001 paragraphs, compared as one" in as_html("http://e.org/", ["a", "b"], Difference("", shown, 0, None))
    assert len(blame([before, after])) == MAX_PARAGRAPHS


def test_a_change_in_the_rest_is_seen() -> None:
    lines = "".join(f"<p>{n}" for n in range(MAX_PARAGRAPHS + 10))
    before, after = paragraphs(parse(lines)), paragraphs(parse(lines + "<p>new"))
    assert [piece.kind for piece in pieces(before, after)] == ["same"] * (MAX_PARAGRAPHS - 1) + ["edited"]
    assert [piece.kind for piece in pieces(before, before)] == ["same"] * MAX_PARAGRAPHS


def test_words_that_repeat_all_the_time_are_replaced_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(7)
    old, new = (" ".join(chance.choices("ab", k=950)) for _ in range(2))
    monkeypatch.delattr(wording, "SequenceMatcher")  # it would take half a second
    assert words(old, new) == ([(True, old)], [(True, new)])


def test_a_page_is_compared_word_by_word_as_far_as_somebody_could_follow() -> None:
    old = [f"{n} " + "x " * 500 for n in range(1000)]
    new = [f"{n} " + "y " * 500 for n in range(1000)]
    shown = pieces(old, new)
    edited = [piece for piece in shown if piece.kind == "edited"]
    assert sum(len(f"{piece.old} {piece.new}".split()) for piece in edited) <= comparison.MOST_WORDS_OF_A_PAGE
    assert 0 < len(edited) < 1000
    assert [piece.new for piece in shown if piece.new] == new
    assert [piece.old for piece in shown if piece.old] == old


@pytest.mark.parametrize("tag", ["big", "span style=font-size:20px", "h1><div", "svg"])
def test_elements_in_each_other_do_not_repeat_their_text_without_end(tag: str) -> None:
    """Two megabytes in 500 elements would be a gigabyte."""
    taken = markup(parse(f"<{tag}>" * 500 + "x " * 1_000_000))
    assert sum(len(text) for text, _ in taken.sized) < MOST_NESTED + 3_000_000


def test_links_in_each_other_do_not_repeat_their_text_without_end() -> None:
    page = HtmlPage("<svg>" + "".join(f"<a href=/{n}>" for n in range(400)) + "x " * 1_000_000, None, "http://e.org/")
    texts = page.anchor_texts(page.hrefs(follow_nofollow=True))
    assert texts[0].startswith("x x")
    assert texts[-1] == ""
    feed = b"<r>" + b"<link>" * 2000 + b"x " * 1_000_000 + b"</link>" * 2000 + b"</r>"
    assert sum(map(len, read_xml(feed, None).links)) < MOST_NESTED + 3_000_000
