"""The published functions, with values computed by hand."""

import pytest

from sanderling_announce.published_rank import bands, level, normalized
from sanderling_announce.ranking import Ranking


@pytest.mark.parametrize(
    ("frequency", "least", "most", "expected"),
    [(0, 0, 0, 0.0), (3, 3, 3, 0.0), (0, 0, 10, 0.0), (5, 0, 10, 0.25), (10, 0, 10, 0.5), (4, 2, 10, 0.125)],
)
def test_frequencies_are_normalized_to_one_half(frequency: int, least: int, most: int, expected: float) -> None:
    assert normalized(frequency, least, most) == expected


def test_the_number_of_bands_follows_the_length_of_the_tree() -> None:
    # sqrt((length - 1) / 2): 0, 0.71, 1, 1.22, 1.41, 1.58, ..., 2.12, ..., 2.55, ..., 3.54, ...
    assert {length: bands(length) for length in (0, 1, 2, 3, 5, 6, 10, 14, 26, 33, 1000)} == {
        0: 1, 1: 1, 2: 1, 3: 1, 5: 1, 6: 2, 10: 2, 14: 3, 26: 4, 33: 4, 1000: 4,
    }  # fmt: skip


def test_levels_fall_with_the_distance_from_the_main_page() -> None:
    assert [level(depth, 3) for depth in (1, 2, 3)] == [0.4, 0.4, 0.4]
    # Nine depths in two bands of 4.5.
    assert [level(depth, 10) for depth in range(2, 11)] == [0.4] * 5 + [0.3] * 4
    # 32 depths in four bands of eight.
    assert [level(depth, 33) for depth in (2, 9, 10, 17, 18, 25, 26, 33, 99)] == [
        0.4,
        0.4,
        0.3,
        0.3,
        0.2,
        0.2,
        0.1,
        0.1,
        0.1,
    ]


def test_the_rank_is_the_sum_of_both() -> None:
    ranking = Ranking(
        least=2, most=10, length=10, linked=frozenset(["https://example.org/", "https://example.org/news"])
    )
    assert ranking.rank("https://example.org/", 0, 10) == 1.0
    assert ranking.rank("https://example.org/news", 1, 2) == 0.5
    assert ranking.rank("https://example.org/a", 1, 6) == 0.65
    assert ranking.rank("https://example.org/a/b/c/d/e/f/g/h", 8, 2) == 0.3
