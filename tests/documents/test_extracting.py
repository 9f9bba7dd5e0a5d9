"""What extractors receive, and what happens to their results."""

import json

import pytest
import tantivy
import turbohtml
from hypothesis import given
from hypothesis import strategies as st

from sanderling.documents.extracting import DEEPEST, LARGEST, Extractor, ReadPage, extract
from sanderling.search.schema import SCHEMA, register

PAGE = ReadPage(url="http://example.org/a/")
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def returning(*values: object) -> list[Extractor]:
    return [Extractor(f"f{at}", f"x:f{at}", lambda page, value=value: value) for at, value in enumerate(values)]  # type: ignore[misc]


def test_each_has_its_own_place() -> None:
    data, failed = extract(returning({"a": 1}, None, {}, {"b": ("ä", None)}), PAGE)
    assert json.loads(data) == {"f0": {"a": 1}, "f2": {}, "f3": {"b": ["ä", None]}} and not failed
    assert extract(returning(None), PAGE) == (b"", {})


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("text", "str instead of a dict"),
        ({"a": b"bytes"}, "not JSON serializable"),
        ({("a", "b"): 1}, "keys must be"),
        ({"a": float("inf")}, "not JSON compliant"),
        ({"a": 2**64}, "more than 64 bits"),
        ({"a": "x" * LARGEST}, "more than 64 KiB"),
    ],
)
def test_what_is_not_stored(value: object, says: str) -> None:
    data, failed = extract(returning(value, {"fine": 1}), PAGE)
    assert json.loads(data) == {"f1": {"fine": 1}}
    assert failed.keys() == {"x:f0"} and says in failed["x:f0"]


def test_data_that_is_nested_too_deeply_or_in_itself() -> None:
    nested: dict[str, object] = {}
    for _ in range(DEEPEST):
        nested = {"a": nested}
    endless: dict[str, object] = {}
    endless["a"] = endless
    for value in (nested, endless):
        assert "levels deep" in extract(returning(value), PAGE).failed["x:f0"]


@given(st.dictionaries(st.text(), VALUES))
def test_whatever_is_stored_can_be_read_and_indexed(value: dict[str, object]) -> None:
    data, failed = extract(returning(value), PAGE)
    if failed:
        assert not data
        return
    assert json.loads(data.decode()).keys() == {"f0"}
    document = tantivy.Document()
    document.add_json("data", data.decode())
    INDEX.add_document(document)


INDEX = register(tantivy.Index(SCHEMA)).writer(15_000_000, 1)


def test_links_of_a_page_and_of_a_feed() -> None:
    tree = turbohtml.parse(
        '<base href="/b/"><a href=c>c</a><a href="c#d">d</a><a rel=nofollow href=//e.org>e</a><a href="">'
    )
    page = ReadPage(url="http://example.org/a/", tree=tree)
    assert page.links() == ["http://example.org/b/c", "http://e.org/"]
    feed = b"<?xml version='1.0'?><rss><channel><item><link>http://e.org/1</link></item></channel></rss>"
    assert ReadPage(url="http://e.org/feed", mime="application/rss+xml", body=feed).links() == ["http://e.org/1"]
    assert ReadPage(url="http://e.org/x.png", mime="image/png", body=b"\x89PNG").links() == []


def test_the_page_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        PAGE.title = "another"  # type: ignore[misc]
