"""The query language: correct queries are read exactly, and every text is a valid query."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sanderling.search.parsing import DEEPEST, LONGEST, MOST_WORDS, AllOf, AnyOf, Not, Phrase, Word, parse


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("sand bird", (Word("sand"), Word("bird"))),
        ('"sand bird" -gull', (Phrase("sand bird"), Not(Word("gull")))),
        ('"sand bird"~3', (Phrase("sand bird", slop=3),)),
        ("title:sand url:bird", (Word("sand", "title"), Word("bird", "url"))),
        ('site:example.org language:de heading:"a b"', (Word("example.org", "host"), Word("de", "lang"), Phrase("a b", "headings"))),
        ("sand* bird~ wave~2 gull~9", (Word("sand", prefix=True), Word("bird", distance=1), Word("wave", distance=2), Word("gull", distance=2))),
        ('data.shop.unit-price:12.5 data.a:"b c"', (Word("12.5", "data.shop.unit-price"), Phrase("b c", "data.a"))),
        ("fast bird OR wave", (Word("fast"), AnyOf((Word("bird"), Word("wave"))))),
        ("a OR b OR c", (AnyOf((Word("a"), Word("b"), Word("c"))),)),
        ("(a b) OR c", (AnyOf((AllOf((Word("a"), Word("b"))), Word("c"))),)),
        ("a OR (b c)", (AnyOf((Word("a"), AllOf((Word("b"), Word("c"))))),)),
        ("-(a b) c", (Not(AllOf((Word("a"), Word("b")))), Word("c"))),
        ("title:(a OR b)", (AllOf((AnyOf((Word("a", "title"), Word("b", "title"))),)),)),
        ("a AND b", (Word("a"), Word("b"))),
        ("http://example.org/ 12:30 std::sort", (Word("http://example.org/"), Word("12:30"), Word("std::sort"))),
        ("", ()),
    ],
)  # fmt: skip
def test_what_is_written_well(text: str, parts: tuple[object, ...]) -> None:
    assert parse(text) == (AllOf(parts), [])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ('"sand bird', (Phrase("sand bird"),)),
        ("(sand (bird", (AllOf((Word("sand"), AllOf((Word("bird"),)))),)),
        ("sand) bird)", (Word("sand"), Word("bird"))),
        ("OR sand OR", (Word("sand"),)),
        ("sand OR OR bird", (AnyOf((Word("sand"), Word("bird"))),)),
        ("- sand", (Word("-"), Word("sand"))),
    ],
)
def test_what_is_not_closed_ends_at_the_end(text: str, parts: tuple[object, ...]) -> None:
    assert parse(text)[0] == AllOf(parts)  # type: ignore[arg-type]


def test_a_field_that_is_none_is_text() -> None:
    tree, notes = parse("colour:red")
    assert tree == AllOf((Word("colour:red"),))
    assert "no field 'colour'" in notes[0]


def test_limits_are_told() -> None:
    tree, notes = parse("bird " * 200)
    assert len(tree.parts) == MOST_WORDS
    assert f"first {MOST_WORDS} words" in notes[0]
    tree, notes = parse("b" * 10_000)
    assert tree == AllOf((Word("b" * LONGEST),))
    assert "characters" in notes[0]


def depth(node: object) -> int:
    inner = node.parts if isinstance(node, AllOf | AnyOf) else (node.part,) if isinstance(node, Not) else ()
    return 1 + max(map(depth, inner), default=0)


def test_no_depth_ends_it() -> None:
    assert depth(parse("(" * 3000 + "a" + ")" * 3000)[0]) <= DEEPEST + 2
    assert depth(parse("-(" * 1500)[0]) <= 2 * DEEPEST + 3


@settings(max_examples=300)
@given(st.text(alphabet='ab "():-*~|ORND1\\/+[]{}^.?\n漢é', max_size=60))
def test_everything_has_a_meaning(text: str) -> None:
    tree, _ = parse(text)
    assert isinstance(tree, AllOf)
