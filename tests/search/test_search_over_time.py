"""Search in older versions and in pages that are gone."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from sanderling.cli import main
from sanderling.repository.address import located
from tests.search_library import NOW, Library

DAY = 86_400.0


@pytest.fixture(params=["sqlite", "postgresql"])
def library(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Library]:
    store = ""
    if request.param == "postgresql":
        store = located(request.getfixturevalue("postgres").dsn, tmp_path / "crawl") or ""
    with contextlib.closing(Library(tmp_path / "crawl", store=store)) as made:
        yield made


def history(library: Library) -> None:
    library.page("http://a.org/1", "the price is ten", title="Shop")
    library.find()  # so that the index has to change its documents
    library.page("http://a.org/1", "the price is twenty", title="Shop", at=NOW + DAY)
    library.page("http://a.org/1", "the price is thirty", title="Shop", at=NOW + 2 * DAY)
    library.page("http://a.org/2", "the price of tea", title="Tea")
    library.find()
    library.gone("http://a.org/2", NOW + 3 * DAY)


def test_older_versions_are_found_when_asked_for(library: Library) -> None:
    history(library)
    assert library.urls("price") == ["1"]
    assert library.urls("twenty") == []
    hit = library.find("twenty", versions=True).hits[0]
    assert (hit.version, hit.current, hit.gone, hit.at, hit.until) == (2, False, False, NOW + DAY, NOW + 2 * DAY)
    assert "<mark>twenty</mark>" in hit.snippet_html
    assert {hit.version for hit in library.find("price host:a.org title:shop", versions=True).hits} == {1, 2, 3}


def test_what_pages_said_at_a_time(library: Library) -> None:
    history(library)
    words = {
        at: {hit.snippet_text for hit in library.find("price", at=NOW + at * DAY).hits}
        for at in (-1, 0, 0.5, 1, 2, 3, 9)
    }
    assert words == {
        -1: set(),
        0: {"the price is ten", "the price of tea"},
        0.5: {"the price is ten", "the price of tea"},
        1: {"the price is twenty", "the price of tea"},
        2: {"the price is thirty", "the price of tea"},
        3: {"the price is thirty"},
        9: {"the price is thirty"},
    }  # fmt: skip


def test_what_pages_said_in_a_span_of_time(library: Library) -> None:
    history(library)

    def said(first: float, last: float) -> set[str]:
        return {hit.snippet_text for hit in library.find("price", at=NOW + first * DAY, until=NOW + last * DAY).hits}

    assert said(-2, 0) == set()
    assert said(-2, 0.5) == {"the price is ten", "the price of tea"}
    assert said(0.5, 1.5) == {"the price is ten", "the price is twenty", "the price of tea"}
    assert said(1, 2) == {"the price is twenty", "the price of tea"}
    assert said(3, 9) == {"the price is thirty"}


def test_pages_that_left_and_came_back(library: Library) -> None:
    history(library)
    assert library.urls("tea") == []
    hit = library.find("tea", gone=True).hits[0]
    assert (hit.gone, hit.current, hit.until) == (True, False, NOW + 3 * DAY)
    assert library.urls("tea", versions=True) == ["2"]
    library.page("http://a.org/2", "tea is back", title="Tea", at=NOW + 4 * DAY)
    assert library.find("tea", gone=True).hits == []
    assert [hit.version for hit in library.find("tea").hits] == [3]
    assert sorted((hit.version, hit.current) for hit in library.find("tea", versions=True).hits) == [
        (1, False),
        (3, True),
    ]


def test_it_is_the_same_however_it_was_indexed(library: Library) -> None:
    """Step by step, and again from the archive."""
    history(library)
    library.page("http://a.org/2", "tea is back", title="Tea", at=NOW + 4 * DAY)
    library.find()

    def everything() -> list[tuple[object, ...]]:
        found = library.find(versions=True, limit=100).hits
        return sorted(
            (h.url, h.version, h.at, h.until, h.current, h.gone, tuple(h.kinds), h.snippet_text) for h in found
        )

    before = everything()
    assert len(before) == 5
    assert main(["reindex", str(library.folder.path)]) == 0
    assert everything() == before
