import msgspec
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from turbohtml import parse

from sanderling.change import (
    AspectKind,
    ChangeRules,
    Degree,
    PageFingerprint,
    compare,
    explain,
    fingerprint,
    focus,
    processing,
)
from sanderling.change.explain import hrefs
from sanderling.change.structure import LevelChange

PAGE = """<!doctype html><title>Shop</title><h1>Blue kettle</h1>
<p>It boils a litre of water in two minutes.</p><p>Price: 19.99 EUR</p>
<ul><li>steel</li><li>blue</li></ul><img src="kettle.png"><a href="/cart">Buy</a>"""


def of(html: str) -> PageFingerprint:
    document = parse(html)
    return fingerprint(document, links=hrefs(document))


def kinds(before: str, after: str) -> list[str]:
    return [*compare(of(before), of(after)).kinds]


words = st.text(st.characters(codec="utf-8", exclude_characters="\x00\r"), min_size=1, max_size=30)
paragraphs = st.lists(words, min_size=1, max_size=6)


def escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")


def page(blocks: list[str]) -> str:
    return "<title>t</title>" + "".join(f"<p>{escaped(block)}</p>" for block in blocks)


def test_fingerprints_stay_what_they_are() -> None:
    """Fingerprints are stored in crawl folders. If they change, so must `current_processing`."""
    found = of(
        '<title>Tide tables</title><h1>Tide tables</h1><p class="note">High water at 06:41.</p><p>Price: 12,50 €</p>'
        '<img src="/moon.png"><a href="/b">Näheres</a>'
    )
    assert found.text.hex() == "55a5e2e00558e52e667c155d365c3010"
    assert found.structure.hex() == "1bce01f2773863d0b9fba7c3e7c0f2ac"
    assert found.presentation.hex() == "7b96970e6917daf98b3e8063bd5e6483"
    assert found.images.hex() == "249b6d658d77a2c29702d2a1426e055b"
    assert found.hashes.hex() == "8219ef5031ee489f8219ef5031ee489fb11a38dc35010b43408a6eb56b7b3c2dcf8a103cf4d016ee"
    assert (found.lengths.hex(), found.weights.hex()) == ("0a000a00110011000700", "2820101010")
    assert (found.elements, found.image_count, found.weighted) == (9, 1, 238144)
    assert (msgspec.structs.astuple(found.codes), found.prices) == ((13859, 70497213, 29, 67), ("12,50 €",))


@given(paragraphs)
def test_a_page_equals_itself(blocks: list[str]) -> None:
    assert not compare(of(page(blocks)), of(page(blocks))).changed


@settings(max_examples=300)
@given(paragraphs, st.data())
def test_every_single_character_edit_of_the_text_is_found(blocks: list[str], data: st.DataObject) -> None:
    which = data.draw(st.integers(0, len(blocks) - 1))
    at = data.draw(st.integers(0, len(blocks[which]) - 1))
    letter = data.draw(st.sampled_from([*"abc9.é日"]))
    assume(blocks[which][at] != letter)
    edited = [*blocks]
    edited[which] = blocks[which][:at] + letter + blocks[which][at + 1 :]
    assert AspectKind.TEXT in compare(of(page(blocks)), of(page(edited))).kinds


@given(paragraphs, st.sampled_from([" ", "\n", "\t", "  \n ", "\u00a0", "\u2003"]))
def test_whitespace_is_no_change_of_the_text(blocks: list[str], space: str) -> None:
    spaced = [space.join(["", *block.split(), ""]) for block in blocks]
    collapsed = [" ".join(block.split()) for block in blocks]
    assert not compare(of(page(collapsed)), of(page(spaced))).changed


@given(paragraphs, paragraphs)
@example(["a b"], ["ab"])
@example(["ab", "c"], ["a", "bc"])
def test_the_text_changed_exactly_when_it_reads_differently(before: list[str], after: list[str]) -> None:
    reads_differently = " ".join(" ".join(before).split()) != " ".join(" ".join(after).split())
    assert (AspectKind.TEXT in compare(of(page(before)), of(page(after))).kinds) == reads_differently


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("steel", "steal", ["text"]),
        ("<li>steel</li><li>blue</li>", "<li>blue</li><li>steel</li>", ["text"]),
        ("two minutes", "two <b>minutes</b>", ["presentation"]),
        ("<h1>", "<h1 class=big>", ["presentation"]),
        ("<h1>", "<h1 style='color: red'>", ["presentation"]),
        ("<h1>", "<h1 align=center>", ["presentation"]),
        ("<title>", "<style>h1 {color: red}</style><title>", ["structure"]),
        ("ul>", "ol>", ["structure"]),
        ("<p>It", "<hr><p>It", ["structure"]),
        ("kettle.png", "pot.png", ["image"]),
        ("/cart", "/basket", ["structure"]),
        ("<p>It", "<!-- a comment --><p  >It", []),
        ("<p>It", "<p id=first data-x=y>It", []),
        ("<title>Shop", "<title>Store", ["text"]),
        ("Blue kettle</h1>", "<em>Blue</em> pot</h1>", ["presentation", "text"]),
    ],
)
def test_kinds(before: str, after: str, expected: list[str]) -> None:
    assert before in PAGE
    assert kinds(PAGE, PAGE.replace(before, after)) == expected


def test_the_explanation_names_heading_paragraphs_and_price() -> None:
    many = PAGE + "".join(f"<p>Customer number {number} likes it.</p>" for number in range(26))
    edited = many.replace("Blue kettle", "Red kettle").replace("19.99", "24.99").replace("number 7 likes", "7 loves")
    verdict = explain(parse(many), parse(edited))
    assert verdict.summary.startswith("heading and 2 of 33 paragraphs changed; price 19.99 -> 24.99")
    assert (verdict.kinds, verdict.place, verdict.degree) == ((AspectKind.TEXT,), "heading, paragraph", Degree.SMALL)


@pytest.mark.parametrize(
    "page",
    [
        "<table><caption>old</caption><tr><td>a</table>",
        "<ul>old<li>a</ul>",
        "<ul><div><li>old</div></ul>",
        "<menu><button>old</button></menu>",
    ],
)
def test_text_beside_rows_and_items_is_text(page: str) -> None:
    assert kinds(page, page.replace("old", "new")) == ["text"]


def test_a_letter_beyond_latin_leaves_the_other_paragraphs_as_they_were() -> None:
    before = [f"caf\u00e9 number {number}" for number in range(5)]
    verdict = compare(of(page(before)), of(page([*before[:4], "\u65e5\u672c \U0001f600"])))
    assert (verdict.edited, verdict.added, verdict.removed) == (1, 0, 0)


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("<title>T</title><h1>H</h1><p>a<p>b<p>c", "", "title, heading and 3 of 5 paragraphs removed"),
        ("", "<title>T</title><h1>H</h1><p>a<p>b", "title, heading and 2 of 4 paragraphs added"),
        ("<p>a<p>b<p>c<p>d", "<p>a<p>d", "2 of 4 paragraphs removed"),
        ("<p>a<p>d", "<p>a<p>b<p>c<p>d", "2 of 4 paragraphs added"),
        ("<h2>a</h2><p>x<h2>b</h2><p>y", "<h2>c</h2><p>x<h2>d</h2><p>y", "2 headings changed"),
        ("<p>a<p>b<p>c", "<p>A<p>b<p>c<h2>H</h2><p>d", "1 of 5 paragraphs changed, heading and 1 paragraph added"),
        ("<p>a<p>b<p>c<p>d", "<p>A<p>b<p>c", "1 of 3 paragraphs changed, 1 removed"),
        ("<h2>a</h2><p>b<p>c<p>d", "<p>b<p>c<p>d<h2>a</h2>", "heading moved"),
    ],
)
def test_what_became_of_which_paragraphs(before: str, after: str, told: str) -> None:
    assert compare(of(before), of(after)).summary.partition(";")[0] == told


def test_a_heading_wrapped_in_the_source_weighs_as_one() -> None:
    assert of("<title>t</title><h1>one\n  two</h1><p>three").weights == bytes([40, 32, 16])


def test_prices_are_named_without_the_old_page() -> None:
    verdict = compare(of("<p>Only $19.99 today"), of("<p>Only $24.99 today"))
    assert verdict.summary == "1 of 1 paragraph changed; price $19.99 -> $24.99"


def test_inserted_and_deleted_nodes_are_named() -> None:
    verdict = explain(parse(PAGE), parse(PAGE.replace("<p>It", "<hr id=rule><p>It")))
    assert (verdict.inserted, verdict.deleted, verdict.levels) == (("hr#rule",), (), (LevelChange(3, 1, 0),))
    assert verdict.summary == "the page's structure changed (hr#rule inserted, level 3)"


def test_a_moved_closing_tag_is_seen_with_both_bodies_only() -> None:
    before, after = "<div>a</div><section>b</section>", "<div>a<section>b</section></div>"
    assert explain(parse(before), parse(after)).kinds == (AspectKind.STRUCTURE,)
    assert kinds(before, after) == []
    assert not explain(parse("<p>a <b>b</b>"), parse("<p><b>a b</b>")).inserted


def test_moved_paragraphs_are_told_from_new_ones() -> None:
    before = [f"paragraph {number}" for number in range(9)]
    verdict = compare(of(page(before)), of(page([*before[1:], before[0]])))
    assert (verdict.moved, verdict.added, verdict.removed, verdict.edited) == (1, 0, 0, 0)
    assert verdict.summary == "1 of 10 paragraphs moved"


def test_spacing_alone_is_a_change_of_the_text_and_says_so() -> None:
    assert compare(of("<p>no where"), of("<p>nowhere")).summary == "the spacing between words changed"


def test_a_changed_heading_is_more_significant_than_a_changed_footnote() -> None:
    page = "<h1>Heading one</h1><p>Paragraph 1</p><p>Something else entirely</p>"
    heading = compare(of(page), of(page.replace("one", "two")))
    footnote = compare(of(page), of(page.replace("1", "2")))
    assert 0 < footnote.significance < heading.significance <= 1


@pytest.mark.parametrize(
    ("after", "degree"),
    [
        ("<p>" + " ".join(f"w{n}" for n in range(100)), Degree.NO_TEXT),
        ("<div><p>" + " ".join(f"w{n}" for n in range(99)) + " x", Degree.SMALL),
        ("<p>" + " ".join(f"w{n}" for n in range(60)), Degree.MEDIUM),
        ("<p>" + " ".join(f"w{n}" for n in range(20)), Degree.LARGE),
        ("<p>another page", Degree.COMPLETE),
    ],
)
def test_degrees_of_the_literature(after: str, degree: Degree) -> None:
    before = "<div><p>" + " ".join(f"w{n}" for n in range(100)) + "</p></div>"
    assert explain(parse(before), parse(after)).degree == degree


def test_another_processing_is_not_comparable() -> None:
    old = msgspec.structs.replace(of(PAGE), processing=1)
    verdict = compare(old, of(PAGE))
    assert not verdict.comparable
    assert "not comparable" in verdict.summary


@given(st.binary(max_size=2000))
def test_any_bytes_have_a_fingerprint_and_a_verdict(body: bytes) -> None:
    document = parse(body)
    assert not explain(document, document).changed
    compare(fingerprint(document), of(PAGE))


@pytest.mark.timeout(120)
@pytest.mark.parametrize(
    "body",
    [
        b"",
        bytes(range(256)) * 4000,
        b"<div>" * 100_000 + b"x",
        b"<ol><li>" * 20_000 + b"x",
        b"<table><tr><td>" * 10_000,
        b"<table>" + b"<tr><td>a<td>b" * 20_000 + b"<tr><td>" + b"word " * 100_000 + b"</table>",
        b"<p>x" * 4_000 + b"".join(b"<big>%d</big>" % number for number in range(60_000)),
        b"<p>hello world" * 100_000,
        b"<p>" + b"word " * 500_000,
        b"<a href='" + b"x" * 1_000_000,
        b"\x89PNG\r\n\x1a\n" + bytes(100_000),
    ],
)
def test_monstrous_pages_are_judged_within_bounds(body: bytes) -> None:
    old, new = fingerprint(parse(body)), fingerprint(parse(body + b"<p>new text"))
    assert len(msgspec.msgpack.encode(new)) <= 600 + 12 * new.paragraphs
    assert new.paragraphs <= 4096
    assert compare(old, new).comparable
    assert AspectKind.TEXT in explain(parse(body), parse(b"<p>new text")).kinds


@given(paragraphs)
def test_fingerprints_survive_the_wire_and_stay_small(blocks: list[str]) -> None:
    found = of(page(blocks))
    packed = msgspec.msgpack.encode(found)
    assert msgspec.msgpack.decode(packed, type=PageFingerprint) == found
    assert len(packed) <= 600 + 12 * found.paragraphs


def test_sizes_weigh_characters() -> None:
    assert of("<p>ab").weighted == 16 * (97 + 98)
    assert of("<p>a<big>b</big>").weighted == 16 * 97 + 19 * 98
    assert of("<p>a<font size=7>b</font>").weighted == 16 * 97 + 48 * 98
    assert of("<p>a<font size=+1>b</font>").weighted == 16 * 97 + 18 * 98
    assert of("<p>a<span style='font-size: 32px'>b</span>").weighted == 16 * 97 + 32 * 98
    assert of("<h1>b</h1>").weighted == 32 * 98


def test_rules_ignore_and_watch_parts_of_a_page() -> None:
    page = "<div id=ad>{}</div><div id=main><p>{}</p><p class=date>{}</p></div>"
    rules = ChangeRules(ignore=(".date",), watch=("#main",))
    seen = [fingerprint(focus(parse(page.format(*texts)), rules)) for texts in ("abc", "xby", "abz", "aqc")]
    assert [compare(seen[0], other).changed for other in seen[1:]] == [False, False, True]
    assert processing(rules) != processing(ChangeRules())
