"""Search by meaning: passages that say it in other words."""

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from sanderling.cli import main
from sanderling.errors import IndexInUse, UsageError
from sanderling.search import embedding, semantic, vectors
from sanderling.search.embedding import embedder
from sanderling.search.passages import MOST, passages
from sanderling.search.query import Query, Results
from tests.conftest import Run
from tests.search_library import NOW, Library

PAGES = {
    "birds": "Red knots fly from the Wadden Sea to Siberia without a stop and feed on shells along the shore.",
    "cars": "The engine of an old truck has to be repaired by a mechanic before the winter.",
    "bread": "Mix flour, water, salt and yeast, knead the dough and bake it in a hot oven.",
    "money": "The bank raised the interest rate of loans, so that mortgages cost more.",
}


@pytest.fixture
def filled(library: Library) -> Library:
    for name, text in PAGES.items():
        library.page(f"http://e.org/{name}", text, title=name)
    return library


def find(library: Library, text: str, **filters: object) -> Results:
    with library.open() as search:
        search.catch_up()
        search.catch_up_meaning()
        return search.find(Query(text=text, semantic=True, **filters))  # type: ignore[arg-type]


def first(library: Library, text: str, **filters: object) -> str:
    return find(library, text, **filters).hits[0].url.rpartition("/")[2]


@pytest.mark.parametrize(
    ("question", "page"),
    [
        ("how far do shorebirds migrate?", "birds"),
        ("fixing a broken vehicle", "cars"),
        ("recipe for a loaf", "bread"),
        ("borrowing became expensive", "money"),
        ("knots shells", "birds"),  # words are searched for, too
    ],
)
def test_a_question_finds_what_says_it_in_other_words(filled: Library, question: str, page: str) -> None:
    hit = find(filled, question).hits[0]
    assert hit.url.endswith(page) and hit.snippet_text.replace("\n", " ")[:12] in PAGES[page]


def test_only_what_the_filters_leave_is_found(filled: Library) -> None:
    filled.page("http://other.org/x", "Trucks and their engines.", title="Trucks")
    assert first(filled, "fixing a broken vehicle", host="other.org") == "x"
    assert not find(filled, "fixing a broken vehicle", host="nobody.org").hits


def test_vectors_follow_the_versions(filled: Library) -> None:
    assert first(filled, "fixing a broken vehicle") == "cars"
    filled.page("http://e.org/cars", "A garden of roses and tulips in bloom.", at=NOW + 60, title="cars")
    assert first(filled, "flowers") == "cars"
    now = find(filled, "fixing a broken vehicle").hits
    assert now[0].version != 2 or now[0].snippet_text.startswith("A garden")
    assert first(filled, "fixing a broken vehicle", at=NOW) == "cars"
    filled.gone("http://e.org/bread", NOW + 120)
    assert "http://e.org/bread" not in [hit.url for hit in find(filled, "recipe for a loaf").hits]


def test_only_new_versions_are_read(filled: Library) -> None:
    find(filled, "x")
    filled.page("http://e.org/more", "Another page about the weather.", title="more")
    with filled.open() as search:
        search.catch_up()
        assert search.catch_up_meaning() == 1 and search.catch_up_meaning() == 0


def test_what_a_killed_process_left_is_cut_off(filled: Library) -> None:
    find(filled, "x")
    root = semantic.folder_of(filled.folder)
    for name in ("owners", "bits", "codes"):
        with (root / name).open("ab") as file:
            file.write(b"half a row")
    filled.page("http://e.org/more", "Storms and rain will come tomorrow.", title="more")
    assert first(filled, "weather forecast") == "more"


def test_without_vectors_the_words_are_searched_and_it_is_said(filled: Library) -> None:
    with filled.open() as search:
        search.catch_up()
        results = search.find(Query(text="flour", semantic=True))
    assert [hit.url for hit in results.hits] == ["http://e.org/bread"] and "not been read" in results.notes[0]


def test_menus_say_nothing_of_a_page(library: Library) -> None:
    menu = "Insurance, loans, credit cards, savings accounts and everything else about your money. " * 9
    for number in range(20):
        library.page(f"http://e.org/{number}", f"{menu}</p><p>Text about bird number {number}.", title=f"Page {number}")
    find(library, "x")
    assert vectors.note_of(semantic.folder_of(library.folder)).passages < 20 + 20


def test_only_one_process_writes(filled: Library) -> None:
    with filled.open() as search, vectors.writing(semantic.folder_of(filled.folder)), pytest.raises(IndexInUse):
        search.catch_up()
        search.catch_up_meaning()


@pytest.fixture
def no_model(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    embedder.cache_clear()
    yield
    embedder.cache_clear()


@pytest.mark.usefixtures("no_model")
def test_without_the_model_one_sentence_says_what_to_install(filled: Library) -> None:
    with filled.open() as search, pytest.raises(UsageError, match=r"pip install 'sanderling\[semantic\]'"):
        search.catch_up()
        search.catch_up_meaning()


def test_the_command_says_what_it_finds(filled: Library, sanderling: Run, tmp_path: Path) -> None:
    ran = sanderling("search", filled.folder.path, "fixing a broken vehicle", "--semantic", "--json")
    assert ran.code == 0 and ran.lines[0]["url"] == "http://e.org/cars"


def test_passages_are_short_and_few() -> None:
    text = "\n".join(f"Line {number} of some words that say a little." for number in range(5000))
    found = passages(text)
    assert len(found) == MOST and all(len(each.text.split()) <= 81 for each in found)
    assert "".join(each.text for each in passages("鸟" * 5000)) == "鸟" * 5000
    assert [each.text for each in passages("\n\n one \n two\n")] == ["one\ntwo"] and not passages("\n")


def test_texts_without_words_have_no_direction() -> None:
    found = embedder().embed(["", "shore", "shore"])
    assert not found[0].any() and np.allclose(found[1], found[2]) and abs(found[1] @ found[2] - 1) < 1e-5
    assert found.shape == (3, embedding.DIMENSIONS)


@pytest.mark.parametrize(
    ("question", "asked"),
    [("what is it?", "what OR is OR it"), ('"a b" -c', '"a b" -c'), ("title:x", "title:x"), ("a OR b", "a OR b")],
)
def test_a_question_asks_for_any_of_its_words(question: str, asked: str) -> None:
    assert semantic.any_word(question) == asked


def test_versions_that_are_not_kept_leave_no_vectors(library: Library) -> None:
    for n in range(4):
        library.page("http://e.org/birds", f"{PAGES['birds']} Turn {n}.", at=NOW + n, title="birds")
    assert len(find(library, "how far do shorebirds migrate?", versions=True).hits) >= 1
    root = semantic.folder_of(library.folder)
    before = vectors.note_of(root).passages
    library.close()
    assert main(["prune", str(library.folder.path), "--keep", "1 version"]) == 0
    (hit,) = find(library, "how far do shorebirds migrate?", versions=True).hits
    assert "Turn 3" in hit.snippet_text
    assert vectors.note_of(root).passages == before // 4
