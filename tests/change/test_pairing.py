"""Unrelated paragraphs are not taken for one that was edited."""

import pytest
from turbohtml import parse

from sanderling.change.comparison import pieces
from sanderling.change.excerpt import excerpt
from sanderling.change.explain import explain, plainly
from sanderling.change.pairing import by_words


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("79.00", "75.00"),
        ("Sold out", "In stock, ships within three days"),
        ("The museum opens at nine on Mondays", "The museum opens at ten on Mondays"),
        ("Wir öffnen am Montag um neun Uhr", "Wir öffnen am Dienstag um zehn Uhr"),
    ],
)
def test_versions_of_one_paragraph(before: str, after: str) -> None:
    assert by_words([before], [after])([0], [0]) == [(0, 0)]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Storm hits the northern coast tonight", "Council votes on a new bridge across the river"),
        ("The museum opens at nine on Mondays", "Visitors of the cafe find the bakery on the left"),
    ],
)
def test_unrelated_paragraphs(before: str, after: str) -> None:
    assert by_words([before], [after])([0], [0]) == []


OLD = ["Top", "Storm hits the northern coast tonight", "The museum opens at nine on Mondays", "End"]
NEW = ["Top", "Council votes on a new bridge", "The museum opens at ten on Mondays", "A third one came here", "End"]


def test_a_paragraph_is_paired_with_its_own_version() -> None:
    found = [(piece.kind, piece.old[:5], piece.new[:5]) for piece in pieces(OLD, NEW) if piece.kind != "same"]
    assert sorted(found) == [
        ("added", "", "A thi"), ("added", "", "Counc"), ("edited", "The m", "The m"), ("removed", "Storm", ""),
    ]  # fmt: skip


def test_all_ways_to_tell_a_change_count_alike() -> None:
    old, new = (parse("".join(f"<p>{text}" for text in page)) for page in (OLD, NEW))
    for verdict in (plainly(old, new), explain(old, new)):
        assert (verdict.edited, verdict.added, verdict.removed) == (1, 2, 1)
        assert verdict.summary.startswith("1 of 5 paragraphs changed, 2 added, 1 removed")
    assert excerpt(old, new).startswith("museum opens at nine → ten; + Council votes")


def test_very_many_paragraphs_are_paired_in_order() -> None:
    old, new = ([f"paragraph number {at} of version {word} here" for at in range(3000)] for word in ("one", "two"))
    assert all(piece.kind == "edited" for piece in pieces(old, new))
