"""Hits, their order and their snippets."""

import pytest
from tantivy import DocAddress

from sanderling.errors import UsageError
from sanderling.model import ChangeKind, HitFacts
from sanderling.search.ranking import Candidate, blended, fold
from tests.search_library import NOW, Library

DAY = 86_400.0


def test_words_phrases_fields_and_exclusion(library: Library) -> None:
    library.page("http://a.org/1", "the quick brown fox jumps over the lazy dog", title="Animals")
    library.page("http://a.org/2", "a brown quick thing that is no animal", title="Things")
    library.page("http://b.org/3", "nothing at all", title="Brown paper")
    assert set(library.urls("brown")) == {"1", "2", "3"}
    assert set(library.urls("quick brown")) == {"1", "2"}
    assert library.urls('"quick brown"') == ["1"]
    assert library.urls("title:brown") == ["3"]
    assert library.urls("brown -quick") == ["3"]
    assert set(library.urls("fox OR paper")) == {"1", "3"}
    assert library.urls("(fox OR paper) host:b.org") == ["3"]
    assert library.urls("url:2") == ["2"]
    assert library.urls("brow* -title:brown -thing") == ["1"]
    assert library.urls("jumsp~") == ["1"]
    assert library.urls("bwronn~") == []
    assert set(library.urls("bwronn~2")) == {"1", "2", "3"}
    assert library.urls("the of at quick") == []
    assert library.urls("the") == ["1"]
    assert set(library.urls("")) == {"1", "2", "3"}
    assert set(library.urls("-fox")) == {"2", "3"}


def test_within_the_results_of_earlier_searches(library: Library) -> None:
    """Earlier queries are read on their own. They decide what is found, but neither its order nor
    what is marked."""
    library.page("http://a.org/1", "heron heron heron and a gull", title="Fish")
    library.page("http://a.org/2", "gull gull gull gull with a heron", title="Sand")
    library.page("http://a.org/3", "a gull and a stint", title="Salt")
    library.page("http://a.org/4", "a heron", title="Herons")
    assert library.urls("gull", within=("heron",)) == library.urls("gull -stint") == ["2", "1"]
    assert set(library.urls("gull OR heron", within=("stint OR fish",))) == {"1", "3"}
    assert library.urls("gull", within=("heron OR stint", "-title:sand", "salt")) == ["3"]
    assert set(library.urls("", within=("heron",))) == {"1", "2", "4"}
    assert set(library.urls("heron", within=("*",))) == {"1", "2", "4"}
    (hit,) = library.find("gull", within=("fish heron",)).hits
    assert [hit.snippet_text[start:end] for start, end in hit.marks] == ["gull"]
    nothing = library.find("gull", within=("(",))
    assert nothing.total == 0 and "no words to search for in '('" in nothing.notes[0]
    with pytest.raises(UsageError, match="at most 10 earlier"):
        library.find("gull", within=("heron",) * 11)


def test_a_title_counts_more_than_text(library: Library) -> None:
    library.page("http://a.org/text", "some words and a heron among other birds of the shore", title="Birds")
    library.page("http://a.org/title", "some words and other birds of the shore and of the land", title="Heron")
    library.page(
        "http://a.org/heading",
        "<html lang=en><title>Shore</title><h2>The heron</h2>some words and other birds of the land",
    )
    assert library.urls("heron") == ["title", "heading", "text"]


def test_importance_moves_what_fits_alike(library: Library) -> None:
    for name in ("plain", "famous"):
        library.page(f"http://a.org/{name}", f"a heron stands in the {name} water", title=f"Page {name}")
    library.page("http://a.org/twice", "heron heron heron heron", title="Heron heron")
    library.importance("http://a.org/famous", 1.0)
    hits = library.find("heron").hits
    assert [hit.url.rpartition("/")[2] for hit in hits] == ["twice", "famous", "plain"]
    assert hits[1].score == pytest.approx(2 * hits[2].score, rel=0.05)
    assert hits[1].importance == 1.0


def test_the_blend() -> None:
    assert blended(10.0, 0.0) == 10.0
    assert blended(10.0, 0.25) == 15.0
    assert blended(10.0, 1.0) == blended(10.0, 7.0) == 20.0
    assert blended(10.0, -1.0) == 10.0


@pytest.mark.parametrize(
    ("language", "indexed", "asked"),
    [
        ("en", "running studies of happy crawlers", ["run", "study", "studying", "crawler"]),
        ("de", "Die Häuser der Städte", ["Haus", "häuser", "Stadt"]),
        ("fr", "les cafés français", ["café", "cafe", "françaises"]),
        ("es", "las canciones", ["canción", "cancion"]),
        ("ru", "новые книги", ["книга", "новая"]),
    ],
)
def test_forms_of_a_word_by_language(library: Library, language: str, indexed: str, asked: list[str]) -> None:
    library.page("http://a.org/1", f"<html lang={language}><body>{indexed}")
    for word in asked:
        assert library.urls(word) == ["1"], word
        assert library.urls(word, language=language) == ["1"], word
    assert library.urls(f'"{asked[0]}x"') == []


def test_the_language_of_a_page(library: Library) -> None:
    library.page("http://a.org/said", "<html lang=de-CH><body>ein Vogel am Strand")
    library.page("http://a.org/unsaid", "<body>" + "Der Vogel läuft am Strand entlang und sucht nach Würmern. " * 5)
    library.page("http://a.org/english", "<body>" + "The bird runs along the beach and looks for worms. " * 5)
    assert set(library.urls("", language="de")) == {"said", "unsaid"}
    assert library.urls("lang:en") == ["english"]


def test_scripts_without_spaces(library: Library) -> None:
    library.page(
        "http://a.org/ja", "<html lang=ja><title>鳥の本</title><body>海岸でミユビシギを見ました。 Sanderling です"
    )
    library.page("http://a.org/zh", "<html lang=zh><body>三趾滨鹬在沙滩上奔跑")
    library.page("http://a.org/th", "<html lang=th><body>นกชายเลนวิ่งบนชายหาด")
    assert library.urls("ミユビシギ") == ["ja"]
    assert library.urls("title:鳥") == ["ja"]
    assert library.urls("sanderling") == ["ja"]
    assert library.urls("沙滩") == ["zh"]
    assert library.urls("滩沙") == []
    assert library.urls("ชายหาด") == ["th"]
    hit = library.find("沙滩").hits[0]
    assert [hit.snippet_text[start:end] for start, end in hit.marks] == ["沙", "滩"]


def test_signs_are_found_in_headings_and_addresses(library: Library) -> None:
    library.page(
        "http://a.org/%E6%B5%B7%E5%B2%B8", "<title>a shore</title><h2>鳥の本 and news</h2><p>a long text in English"
    )
    assert library.urls("headings:の本") == library.urls("headings:news") == ["%E6%B5%B7%E5%B2%B8"]
    assert library.urls("url:海岸") == ["%E6%B5%B7%E5%B2%B8"]


def test_words_that_are_split_are_found_as_they_are_written(library: Library) -> None:
    library.page("http://a.org/code", "<title>snake_case names</title><p>call read_file here")
    library.page("http://a.org/hi", "<html lang=hi><title>समाचार</title><p>हिन्दी में समाचार")
    assert library.urls("read_file") == library.urls("snake_case") == ["code"]
    assert library.urls("file_read") == []
    assert library.urls("हिन्दी") == ["hi"]


def test_snippets_are_marked_and_harmless(library: Library) -> None:
    text = "filler " * 300 + "here is a &lt;script&gt; and the   <b>Sanderlings</b>\n run" + " filler" * 300
    library.page("http://a.org/1", text, title="A <b> & co")
    hit = library.find("sanderling").hits[0]
    assert [hit.snippet_text[start:end] for start, end in hit.marks] == ["Sanderlings"]
    assert "<script>" in hit.snippet_text
    assert "the <mark>Sanderlings</mark> run" in hit.snippet_html
    assert "&lt;script&gt;" in hit.snippet_html
    assert "<script" not in hit.snippet_html
    assert len(hit.snippet_text) < 300
    for modified in ("sanderl*", "sandrelings~", "zeppelin OR sanderling"):
        assert "<mark>Sanderlings</mark>" in library.find(modified).hits[0].snippet_html, modified
    assert library.find("url:1").hits[0].snippet_text.startswith("filler filler")


def test_what_says_the_same_is_folded(library: Library) -> None:
    for name in ("one", "two", "three"):
        library.page(f"http://a.org/{name}", "a heron stands in the water", title="Heron")
    library.page("http://a.org/other", "a heron of another kind", title="Other")
    results = library.find("heron")
    assert results.total == 4
    assert sorted((hit.title, hit.folded) for hit in results.hits) == [("Heron", 2), ("Other", 0)]
    folded = next(hit for hit in results.hits if hit.folded)
    assert (folded.url, sorted(folded.also)) == ("http://a.org/one", ["http://a.org/three", "http://a.org/two"])


def test_what_nearly_says_the_same_is_folded_where_the_rest_is_equal() -> None:
    place = DocAddress(0, 0)
    facts = HitFacts(0.0, 0.0, False, False)

    def candidate(digest: int, simhash: int, exact: int) -> Candidate:
        return Candidate(1.0, place, digest, digest, digest, simhash, exact, facts)

    near = [candidate(1, 0b1111, 7), candidate(2, 0b1000, 7), candidate(3, 0b0000, 7), candidate(4, 0b1111, 8)]
    assert [len(hit.others) for hit in fold(near)] == [1, 0, 0]
    assert [len(hit.others) for hit in fold([candidate(0, 0, 7), candidate(0, 0, 7)])] == [0, 0]


@pytest.mark.parametrize(
    ("words", "one", "other", "hits"),
    [
        (200, "", "once", 1),
        (200, "costs 12", "costs 13", 2),
        (200, '{"shop": {"price": 12}}', '{"shop": {"price": 13}}', 2),
        (12, "", "once", 2),
        (12, "costs 12", "costs 13", 2),
        (12, "costs 12", "costs 12", 1),
    ],
)
def test_similar_pages_with_other_numbers_are_different(
    library: Library, words: int, one: str, other: str, hits: int
) -> None:
    text = " ".join(f"heron {chr(97 + each % 26)}{chr(97 + each % 23)}lake" for each in range(words // 2))
    for name, said in (("one", one), ("other", other)):
        data, more = (said.encode(), "") if said.startswith("{") else (b"", said)
        # Without the name, the data would make the texts equal.
        body = f"{text} {more}" if not data else f"{text} {'or' * (name == 'other')}"
        library.page(f"http://a.org/{name}", body, title="Heron", extracted=data)
    assert len(library.find("heron").hits) == hits


def test_pages_that_ask_not_to_be_shown(library: Library) -> None:
    library.page("http://a.org/secret", "<meta name=robots content=noindex><body>a hidden heron", noindex=True)
    library.page("http://a.org/seen", "a heron", title="x")
    library.page("http://a.org/later", "a heron before", title="y")
    library.page(
        "http://a.org/header", "a heron by header", title="z", noindex=True, header="X-Robots-Tag: noindex\r\n"
    )
    library.page("http://a.org/header", "now it may be seen", title="z", at=NOW + DAY)
    library.page("http://a.org/later", "<meta name=robots content=noindex><body>heron", noindex=True, at=NOW + DAY)
    assert library.urls("heron") == ["seen"]
    assert library.urls("heron", versions=True) == ["seen"]


def test_pages_of_hits(library: Library) -> None:
    for number in range(25):
        library.page(f"http://a.org/{number}", f"heron number{number} " + "x" * number, title=f"Title {number}")
    seen: list[str] = []
    for page in (1, 2, 3):
        results = library.find("heron", limit=10, page=page)
        assert results.total == 25
        assert results.more is (page < 3)
        seen += [hit.url for hit in results.hits]
    assert len(seen) == len(set(seen)) == 25
    assert library.find("heron", page=4).hits == []


def test_filters(library: Library) -> None:
    library.page("http://docs.a.org/old", "heron", title="old")
    library.page("http://a.org:8080/new", "heron", title="new", at=NOW + 10 * DAY)
    library.page("http://b.org/changed", "heron first", title="changed")
    library.page(
        "http://b.org/changed",
        "heron second",
        title="changed",
        at=NOW + 5 * DAY,
        kinds=ChangeKind.TEXT | ChangeKind.IMAGE,
    )
    assert set(library.urls("heron", host="a.org")) == {"old", "new"}
    assert library.urls("heron", host="a.org:8080") == ["new"]
    assert library.urls("heron", host="org.") != []
    assert set(library.urls("heron", since=NOW + DAY)) == {"new", "changed"}
    assert library.urls("heron", changed=NOW + DAY) == ["changed"]
    assert library.urls("heron", changed=NOW + 6 * DAY) == []
    assert library.urls("heron", kinds=ChangeKind.IMAGE) == ["changed"]
    assert set(library.urls("heron", kinds=ChangeKind.NEW)) == {"old", "new"}


def test_snippets_are_cut_from_sentences_rather_than_menus(library: Library) -> None:
    menu = "".join(f"<li><a href=/{n}>Plover {n}</a>" for n in range(40))
    said = "The plover runs along the line of the waves, stops, looks, and picks what the water has left in the sand."
    library.page("http://a.org/1", f"<ul>{menu}<li>Contact</ul><p>{said}<p>Short.")
    assert library.find("plover").hits[0].snippet_text.startswith("The plover runs")
    assert library.find("").hits[0].snippet_text.startswith("The plover runs")
    assert library.find("contact").hits[0].snippet_html.count("<mark>Contact</mark>") == 1
