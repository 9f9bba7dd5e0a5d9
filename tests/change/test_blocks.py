from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from sanderling.change.blocks import align

sequences = st.lists(st.integers(0, 8), max_size=20)


@given(sequences)
def test_a_sequence_equals_itself(blocks: list[int]) -> None:
    assert align(blocks, blocks).kept(len(blocks), len(blocks)) == [(at, at) for at in range(len(blocks))]


@given(sequences, sequences)
def test_every_block_has_exactly_one_fate(old: list[int], new: list[int]) -> None:
    found = align(old, new)
    kept = found.kept(len(old), len(new))
    pairs = [*kept, *found.moved, *found.edited]
    assert Counter([*(one for one, _ in pairs), *found.removed]) == Counter(range(len(old)))
    assert Counter([*(other for _, other in pairs), *found.added]) == Counter(range(len(new)))
    assert all(old[one] == new[other] for one, other in [*kept, *found.moved])
    assert kept == sorted(kept)
    assert (len(kept) == len(old) == len(new)) == (old == new)


def test_a_moved_paragraph_is_neither_removed_nor_added() -> None:
    found = align("abcdef", "abdefc")
    assert (found.moved, found.removed, found.added) == ([(2, 5)], [], [])


def test_an_edit_in_place_is_one_edit() -> None:
    assert align("abc", "axc").edited == [(1, 1)]


def test_ten_thousand_reversed_paragraphs_are_aligned_at_once() -> None:
    blocks = [*range(10_000)]
    assert len(align(blocks, blocks[::-1]).moved) == 9_999
