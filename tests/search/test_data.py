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
