from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sanderling.documents.markup import plain_markup

PARTS = st.sampled_from(
    [b"<!--", b"-->", b"<![CDATA[", b"]]>", b"<?", b"?>", b"<a>", b"&", b"-", b"]", b"<", b"!", b"x"]
)


def plain(*pieces: bytes) -> bytes:
    return b"".join(plain_markup(pieces))


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        (b"<a>x</a>", b"<a>x</a>"),
        (b"a<!-- <b> -->c", b"ac"),
        (b"a<!---->c<!--", b"ac"),
        (b"<?xml version='1.0'?><a/>", b"<a/>"),
        (b"<![CDATA[<b> & ]]>", b"&lt;b&gt; &amp; "),
        (b"<![CDATA[<!-- ]]>a<!-- <![CDATA[ -->b", b"&lt;!-- ab"),
        (b"<!DOCTYPE a><a/>", b"<!DOCTYPE a><a/>"),
        (b"<![CDATA[open <", b"open &lt;"),
        (b"", b""),
    ],
)
def test_markup_that_is_none_is_gone(markup: bytes, expected: bytes) -> None:
    assert plain(markup) == expected


@given(st.lists(PARTS).map(b"".join), st.lists(st.integers(0, 60), max_size=5))
def test_it_does_not_matter_where_pieces_are_cut(markup: bytes, cuts: list[int]) -> None:
    places = [0, *sorted(cuts), len(markup)]
    pieces = [markup[start:end] for start, end in pairwise(places)]
    if b"".join(pieces) == markup:
        assert plain(*pieces) == plain(markup)
    assert plain(*(markup[at : at + 1] for at in range(len(markup)))) == plain(markup)
