"""What extractors receive, and what happens to their results."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

import msgspec
import pydantic
import pytest
import tantivy
import turbohtml
from hypothesis import given
from hypothesis import strategies as st

from sanderling.documents import extracting
from sanderling.documents.extracting import Extractor, ReadPage, extract, extractor
from sanderling.documents.items import DEEPEST, LARGEST
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
    data, failed, _ = extract(returning({"a": 1}, None, {}, {"b": ("ä", None)}), PAGE)
    assert json.loads(data) == {"f0": {"a": 1}, "f2": {}, "f3": {"b": ["ä", None]}} and not failed
    assert extract(returning(None), PAGE) == (b"", {}, [])


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("text", "str instead of an item"),
        ({"a": b"bytes"}, "bytes, which JSON cannot hold"),
        ({("a", "b"): 1}, "keys must be texts"),
        ({"a": float("inf")}, "inf, which JSON cannot hold"),
        ({"a": 2**64}, "more than 64 bits"),
        ({"a": "x" * LARGEST}, "more than 256 KiB"),
    ],
)
def test_what_is_not_stored(value: object, says: str) -> None:
    data, failed, _ = extract(returning(value, {"fine": 1}), PAGE)
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
    data, failed, _ = extract(returning(value), PAGE)
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


class Book(msgspec.Struct):
    title: str
    price: float


@dataclass
class Note:
    day: date
    price: Decimal


class Shelf(pydantic.BaseModel):
    size: int


def made(*items: object, **rules: Any) -> Any:
    """What an extractor is said to make of a page, by these rules."""

    @extractor(**rules)
    def found(page: ReadPage) -> Iterator[object]:
        yield from items

    data, failed, followed = extract([Extractor("found", "x:found", found)], PAGE)
    return json.loads(data)["found"] if data else None, failed.get("x:found", ""), followed


def test_items_of_every_type() -> None:
    items = (Book("a", 1.5), Note(date(2026, 1, 2), Decimal("51.77")), Shelf(size=3), {"b": (1, None)})
    plain = [{"title": "a", "price": 1.5}, {"day": "2026-01-02", "price": 51.77}, {"size": 3}, {"b": [1, None]}]
    assert made(*items) == (plain, "", [])
    assert made(*plain[:1], item=Book) == (plain[:1], "", [])
    assert made({"size": 3}, item=Shelf)[0] == [{"size": 3}]
    assert made() == (None, "", [])


def test_an_item_that_is_wrong_costs_itself() -> None:
    wrong = (Book("a", "dear"), {"title": "b"}, {"title": "c", "price": 2.0})  # type: ignore[arg-type]
    found, error, _ = made(*wrong, item=Book)
    assert found == [{"title": "c", "price": 2.0}] and "`$.price`" in error
    found, error, _ = made({"size": "x"}, {"size": 4}, item=Shelf)
    assert found == [{"size": 4}] and "size" in error


def test_items_of_one_key_are_one() -> None:
    assert made({"id": 1, "n": 1}, {"id": 1, "n": 2}, {"id": 2}, key="id")[0] == [{"id": 1, "n": 1}, {"id": 2}]
    found, error, _ = made({"id": 1, "b": 2}, {"id": 1}, key=("id", "b"))
    assert found == [{"id": 1, "b": 2}] and "no 'b', which is its key" in error


def test_what_is_followed() -> None:
    get, form = PAGE.follow("../b?x=1#top"), PAGE.follow("/find", data={"q": "a b"})
    api = PAGE.follow("https://api.example.org/v1", json={"page": 2})
    assert get.url == "http://example.org/b?x=1"
    assert form.url == "http://example.org/find#*application/x-www-form-urlencoded:q%3Da%2Bb"
    assert made({"a": 1}, get, api, get) == ([{"a": 1}], "", [get.url, api.url])
    for wrong in (
        {"url": "mailto:a@example.org"},
        {"url": "/", "data": {}, "json": 1},
        {"url": "/", "json": "x" * 9000},
    ):
        with pytest.raises(ValueError, match=r"followed|not both|longer than"):
            PAGE.follow(**wrong)  # type: ignore[arg-type]


def test_pages_that_an_extractor_is_for() -> None:
    @extractor(r"/b/", r"\?page=")
    def some(page: ReadPage) -> dict[str, str]:
        return {"url": page.url}

    @extractor
    def every(page: ReadPage) -> dict[str, str]:
        return {}

    both = [Extractor("some", "x:some", some), Extractor("every", "x:every", every)]
    assert json.loads(extract(both, PAGE).data) == {"every": {}}
    assert json.loads(extract(both, ReadPage(url="http://e.org/b/1")).data).keys() == {"some", "every"}


def test_an_extractor_that_loops_or_yields_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    def loops(page: ReadPage) -> None:
        while True:
            pass

    def floods(page: ReadPage) -> Iterator[dict[str, str]]:
        while True:
            yield {"a": "b" * 1000}

    def vast(page: ReadPage) -> dict[str, str]:
        return {"a": "b" * 10**7}

    for function in (floods, vast):
        assert "256 KiB" in extract([Extractor("f", "x:f", function)], PAGE).failed["x:f"]
    monkeypatch.setattr(extracting, "LONGEST_RUN", 0.1)
    assert "more than 0.1 seconds" in extract([Extractor("f", "x:f", loops)], PAGE).failed["x:f"]
