"""The server keeps search indexes open, and notices changes of them."""

import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
import tantivy

from sanderling.cli import main
from sanderling.repository.opening import open_store
from sanderling.search import location
from sanderling.search.searching import Query
from sanderling.web.indexes import Indexes
from tests.search_library import Library
from tests.waiting import until


@pytest.fixture
def indexes() -> Indexes:
    return Indexes()


def found(indexes: Indexes, library: Library) -> list[str]:
    with closing(open_store(library.folder, readonly=True)) as store:
        return sorted(hit.url[-1] for hit in indexes.searcher(library.folder, store).find(Query(text="heron")).hits)


def mapped(library: Library) -> bool:
    return str(library.folder.index) in Path("/proc/self/maps").read_text()


def test_it_is_opened_once(indexes: Indexes, library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Path] = []

    def open_index(folder: Path, open_index: Callable[[Path], tantivy.Index] = location.open_index) -> tantivy.Index:
        opened.append(folder)
        return open_index(folder)

    library.page("http://a.org/1", "a heron", title="one")
    library.find()
    monkeypatch.setattr(location, "open_index", open_index)
    assert found(indexes, library) == found(indexes, library) == ["1"]
    assert len(opened) == 1


def test_it_follows_what_is_written_replaced_and_deleted(indexes: Indexes, library: Library) -> None:
    library.page("http://a.org/1", "a heron", title="one")
    library.find()
    assert found(indexes, library) == ["1"]
    library.page("http://a.org/2", "a heron by the sea", title="two")
    library.find()
    assert found(indexes, library) == ["1", "2"]
    library.page("http://a.org/3", "the third heron", title="three")
    assert main(["reindex", str(library.folder.path)]) == 0
    assert found(indexes, library) == ["1", "2", "3"]
    shutil.rmtree(library.folder.index)
    assert found(indexes, library) == []
    library.find()
    assert found(indexes, library) == ["1", "2", "3"]


def test_what_nobody_searches_is_let_go(indexes: Indexes, library: Library) -> None:
    library.page("http://a.org/1", "a heron", title="one")
    library.find()
    assert found(indexes, library) == ["1"]
    assert mapped(library)
    indexes.close_idle(0)
    until(lambda: not mapped(library))  # the process that wrote the index may be closing it too
