"""Search in the results of extractors."""

import pytest

from tests.search_library import NOW, Library

DATA = """{"shop": {"name": "Rote Schühe für alle", "price": 12.5, "count": 3, "ean": 4006381333931, "sold": true,
    "on": "2026-11-01", "at": "2026-11-01T10:00:00Z", "tags": ["red", "two words"], "a.b": {"c-d": "deep"},
    "中": "红色的鞋", "Case": -7}}"""


@pytest.mark.parametrize(
    "text",
    [
        "data.shop.name:schuhe", 'data.shop.name:"rote schühe"', "data.shop.price:12.5", "data.shop.count:3",
        "data.shop.count:3.0", "data.shop.ean:4006381333931", "data.shop.sold:true", "data.shop.on:2026-11-01",
        "data.shop.at:2026-11-01T10:00:00Z", "data.shop.tags:red", 'data.shop.tags:"two words"',
        "data.shop.a.b.c-d:deep", "data.shop.中:红色", "data.shop.Case:-7", "shoes data.shop.count:(2 OR 3)",
        "shoes -data.shop.count:4",
    ],
)  # fmt: skip
def test_values_of_every_kind_are_found(library: Library, text: str) -> None:
    library.page("http://e.org/yes", "shoes", title="Shoes", extracted=DATA.encode())
    library.page(
        "http://e.org/no", "count 4 red deep", title="Other", extracted=b'{"shop": {"count": 4, "sold": false}}'
    )
    library.page("http://e.org/none", "three red", title="None")
    found = library.find(text)
    assert [hit.url for hit in found.hits] == ["http://e.org/yes"] and not found.notes


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("data.shop.name:sch*", "whole words"),
        ("data.shop.name:schue~", "whole words"),
        ("data.shop.name:!", "no letters or digits"),
        ("data.shop.name:*", "no letters or digits"),
        ("data:red", "no field 'data'"),
        ("data.shop.price:>dear", "only numbers and dates"),
    ],
)
def test_what_cannot_be_looked_for_is_said(library: Library, text: str, says: str) -> None:
    library.page("http://e.org/yes", "shoes", title="Shoes", extracted=DATA.encode())
    found = library.find(text)
    assert not found.hits and any(says in note for note in found.notes), found.notes


def test_the_data_of_each_version_is_found(library: Library) -> None:
    for at, price in enumerate((10, 11)):
        library.page("http://e.org/a", f"price {price}", at=NOW + at, extracted=b'{"p": {"price": %d}}' % price)
    assert library.urls("data.p.price:11") == ["a"] and not library.urls("data.p.price:10")
    assert library.urls("data.p.price:10", versions=True) == ["a"]
    assert library.urls("data.p.price:10", at=NOW + 0.5) == ["a"]


@pytest.mark.parametrize("value", ["9" * 30, "9999-12-31T23:59:59Z", "nan", "1e999", "-", "9" * 5000])
def test_values_that_no_index_can_hold(library: Library, value: str) -> None:
    library.page("http://e.org/yes", "shoes", title="Shoes", extracted=DATA.encode())
    assert not library.find(f"data.shop.price:{value}").hits


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("data.shop.price:>12", "ac"), ("data.shop.price:>=12.5", "ac"), ("data.shop.price:>12.5", "c"),
        ("data.shop.price:<12.5", "bd"), ("data.shop.price:-10..12.5", "abd"), ("data.shop.price:10..", "ac"),
        ("data.shop.price:..0", "bd"), ("data.shop.at:>2026-11-01", "b"), ("data.shop.at:>=2026-11-01", "ab"),
        ("data.shop.at:2026-10-01..2026-11-30", "ab"), ("data.shop.at:<2026-11-02T12:00:00Z", "a"),
        ("data.shop.nothing:>1", ""), ("data.a-b.c.d:>1", "d"), ("data.shop.price:>1e300", ""),
        ("data.shop.price:>11 -data.shop.price:>100", "a"), ("data.shop.name:>1", ""),
    ],
)  # fmt: skip
def test_numbers_and_dates_are_compared(library: Library, text: str, found: str) -> None:
    given = {
        "a": '{"shop": {"price": 12.5, "at": "2026-11-01", "name": "x"}}',
        "b": '{"shop": [{"price": 7, "at": "2026-11-03T10:00:00+01:00"}, {"price": -1}]}',
        "c": '{"shop": {"price": 1000000, "at": 5, "name": ["1.5", 2]}}' if text != "data.shop.name:>1" else "{}",
        "d": '{"shop": {"price": -3}, "a-b": {"c": {"d": 1.5}}}',
    }
    for name, data in given.items():
        library.page(f"http://e.org/{name}", f"words of {name}", title=name, extracted=data.encode())
    assert sorted(library.urls(text)) == [*found]
