"""The words of texts: the fast ways find what a pattern finds."""

import re
from collections import Counter
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sanderling.topics import words
from sanderling.topics.judging import Judge
from sanderling.topics.model import Weights

_LETTERS = "aZ9_ -.,'’–“”…é ßµ²ªКж字の鳥ไทย→×÷½"


def by_pattern(text: str) -> Counter[str]:
    """Letters, digits and underscores in a row that begin with a letter; in some scripts pairs of
    characters."""
    text = text[: words.LENGTH].lower()
    pairs = [run[n : n + 2] for run in words._UNSPACED.findall(text) for n in range(max(1, len(run) - 1))]
    return Counter(re.findall(r"[^\W\d_]\w+", words._UNSPACED.sub(" ", text)) + pairs)


@given(
    st.one_of(
        st.text(st.sampled_from(_LETTERS), max_size=60), st.text(max_size=60), st.text(st.characters(max_codepoint=127))
    )
)
def test_counting_finds_what_the_pattern_finds(text: str) -> None:
    assert words.counted(text) == by_pattern(text)
    assert Counter(words.listed(text)) == by_pattern(text)


@given(st.text(st.sampled_from("aBcD1_-/.?=&%20é字 "), max_size=60))
def test_the_words_of_a_url_are_those_of_its_path(path: str) -> None:
    whole = unquote(path, errors="ignore") if "%" in path else path
    expected = by_pattern(re.sub(r"[_\W\d]+|(?<=[a-z])(?=[A-Z])", " ", whole))
    assert Counter(words.of_url(f"http://host.test/{path}")) == expected


@pytest.mark.parametrize("word", ["ab", "字字", "éé"])
def test_a_link_that_repeats_a_word_without_end_is_judged(word: str) -> None:
    judge = Judge(Weights(words={word: (1.0, 1.0)}, rarest=2.0))
    text = f"{word} " * 20_000
    assert 0 <= judge.link(text[:200], text[:400], f"http://host.test/{text.replace(' ', '/')}") <= 1
    assert 0 <= judge.page(text[:500], text) <= 1
