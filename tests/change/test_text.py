import pytest
from hypothesis import given
from hypothesis import strategies as st
from turbohtml import parse

from sanderling.change import text, visible_text

# The example of the original paper.
NEWSWEEK = (
    'March 26, 2007 issue - The stereotype of the "dumb jock" has never sounded right to Charles Hillman. A jock '
    "himself, he plays hockey four times a week, but when he isn't body-checking his opponents on the ice, he's giving "
    "his mind a comparable workout in his neuroscience and kinesiology lab at the University of Illinois. Nearly every "
    "semester in his classroom, he says, students on the women's cross-country team set the curve on his exams. So "
    "recently he started wondering if there was a vital and overlooked link between brawn and brains—if long hours at "
    "the gym could somehow build up not just muscles, but minds."
)
NEWSWEEK_EDITED = NEWSWEEK.replace("he plays hockey four", "he used to play hockey five").replace("Illinois", "Florida")


def as_printed(words: str) -> text.Codes:
    """Codes as the C program behind the paper counted them: it read bytes as signed characters,
    summed and counted the end-of-file value -1, and left negative values out of the distinct
    symbols."""
    points = [byte - 256 if byte > 127 else byte for byte in words.encode("cp1252")] + [-1]
    distinct = len({point for point in points if point >= 0})
    return text.Codes(sum(points), sum(point * point for point in points), distinct, len(points))


def test_the_papers_checksums_come_out_as_its_program_counted() -> None:
    before, after = as_printed(NEWSWEEK), as_printed(NEWSWEEK_EDITED)
    assert (before.total, before.length, before.distinct) == (56652, 619, 43)
    assert before.checksum == pytest.approx(1317.488403, abs=1e-4)
    assert (after.total, after.length, after.distinct) == (57113, 625, 43)
    assert after.checksum == pytest.approx(1328.209351, abs=1e-4)


def test_code_points_give_another_figure_for_the_same_text() -> None:
    codes = text.codes(NEWSWEEK.replace("—", "-"))
    assert (codes.total, codes.distinct, codes.checksum) == (56803, 43, 1321.0)


def test_the_papers_root_mean_squares() -> None:
    # The paper's sums do not match its own text. Its formula, applied to its sums, gives its
    # figures.
    assert text.Codes(0, 2830106, 0, 296).root_mean_square == pytest.approx(5.683418, abs=1e-6)
    assert text.Codes(0, 2876660, 0, 300).root_mean_square == pytest.approx(5.653573, abs=1e-6)


@given(st.text())
def test_codes_are_what_their_formulas_say(words: str) -> None:
    points = [*map(ord, words)]
    expected = text.Codes(sum(points), sum(point * point for point in points), len(set(points)), len(points))
    assert text.codes(words) == expected


def test_a_text_without_characters_has_codes_of_zero() -> None:
    assert text.codes("").checksum == text.codes("").root_mean_square == 0.0


@given(st.permutations(["the", "quick", "brown", "fox"]))
def test_both_codes_are_blind_to_reordered_words(words: list[str]) -> None:
    assert text.codes(" ".join(words)) == text.codes("the quick brown fox")


@pytest.mark.parametrize(
    ("html", "lines"),
    [
        ("<p>one<p>two", ["one", "two"]),
        ("<p>a <b>b</b>c  d\n e", ["a bc d e"]),
        ("<ol><li>first<li>second</ol>", ["first", "second"]),
        ("<ul><li>first<li>second</ul>", ["first", "second"]),
        ("<ol start=7><li>2. two</ol>", ["2. two"]),
        ("<table><tr><td>a<td>b<tr><td>longer<td>c</table>", ["a", "b", "longer", "c"]),
        ("<ul>before<li>first<a>link</a></ul>", ["before", "firstlink"]),
        ("<ul><div><li>first</div><a><li>second</a></ul>", ["first", "second"]),
        ("<menu>a <b>b</b></menu><ol><p>c</p></ol>", ["a b", "c"]),
        ("<table><caption>A <b>table</b></caption><tr><td>a<td>b</table>c", ["A table", "a", "b", "c"]),
        ("<pre> x\n   y</pre>", ["x", "y"]),
        ("<p>a&nbsp;&nbsp;b\u2003c", ["a b c"]),
        ("<script>var x</script><style>p{}</style><!-- c --><template>t</template>", []),
        ("<textarea>t</textarea> <button>b</button> <noscript>n</noscript>", ["t b n"]),
    ],
)
def test_visible_text_is_what_a_reader_sees(html: str, lines: list[str]) -> None:
    assert text.paragraphs(visible_text(parse(html))) == lines


def test_taking_the_text_leaves_the_tree_as_it_was() -> None:
    document = parse("<ol><li>one<ul><li>two</ul></ol><menu>m</menu><table><caption>c<tr><th>h<td>d</table>")
    before = document.html
    visible_text(document)
    assert document.html == before


def test_every_paragraph_has_its_codes() -> None:
    first, second = text.paragraph_codes(["ab", "b"])
    assert (first.total, second.total, first.distinct) == (195, 98, 2)


@given(st.text())
def test_collapsing_is_what_split_and_join_do(words: str) -> None:
    assert text.collapse(words) == " ".join(words.split())
