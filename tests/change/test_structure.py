from collections.abc import Sequence

import pytest
from turbohtml import Document, parse

from sanderling.change import structure

# The examples of the original paper.
EXAMPLE_TAGS = ["html", "head", "title", "body", "h1", "p", "p", "p"]
LEVELS_BEFORE = (1, 1, 2, 2, 1, 2, 1, 4, 1)
LEVELS_AFTER = (1, 1, 2, 2, 1, 2, 2, 5, 3)


def test_the_papers_fingerprints() -> None:
    assert structure.fingerprints(EXAMPLE_TAGS) == ("hhtbhppp", "ldey1ppp")


def test_fingerprints_miss_tags_with_the_same_first_and_last_letter() -> None:
    assert structure.fingerprints(["tt"]) == structure.fingerprints(["tat"])
    assert structure.fingerprints(["ul"]) != structure.fingerprints(["ol"])


def page_with_levels(counts: Sequence[int]) -> Document:
    """A page whose tree has these level counts. One node of each level contains the next level."""
    assert counts[0] == 1
    inner = ""
    for level in range(len(counts) - 1, 1, -1):
        inner = f"<div>{inner}</div>" + "<div></div>" * (counts[level] - 1)
    document = parse("<body>" + inner)
    head = document.find("head")
    assert head is not None
    head.decompose()
    return document


def test_the_papers_trees_are_told_apart_at_levels_seven_to_nine() -> None:
    # Level 2 of the paper has one node, because its page has no head.
    before = structure.tree(page_with_levels(LEVELS_BEFORE))
    after = structure.tree(page_with_levels(LEVELS_AFTER))
    assert structure.levels(before) == LEVELS_BEFORE
    assert structure.levels(after) == LEVELS_AFTER
    changes = structure.difference(before, after).levels
    assert [(each.level, each.inserted, each.deleted) for each in changes] == [(7, 1, 0), (8, 1, 0), (9, 2, 0)]
    back = structure.difference(after, before).levels
    assert [(each.level, each.inserted, each.deleted) for each in back] == [(7, 0, 1), (8, 0, 1), (9, 0, 2)]


def test_subtrees_are_counted_with_all_of_their_nodes() -> None:
    before, after = parse("<p>a</p><ul><li>b<li>c</ul>"), parse("<p>a</p><table><tr><td>b</table>")
    changes = structure.difference(structure.tree(before), structure.tree(after)).levels
    assert [(each.level, each.inserted, each.deleted) for each in changes] == [
        (3, 1, 1), (4, 1, 2), (5, 1, 0), (6, 1, 0),
    ]  # fmt: skip


def test_nodes_know_their_place() -> None:
    nodes = structure.tree(parse("<div id=menu><p class='note x'>ab</p></div>"))
    div = next(node for node in nodes if node.tag == "div")
    paragraph = nodes[div.children[0]]
    assert (div.name, div.level, paragraph.name, paragraph.level) == ("div#menu", 3, "p.note", 4)
    assert paragraph.value == pytest.approx((97**2 + 98**2) ** 0.5 / 2)
    assert [node.id for node in nodes] == [*range(len(nodes))]


@pytest.mark.parametrize(
    ("before", "after", "inserted", "deleted"),
    [
        ("<p>a<p>b", "<p>a<p>b", [], []),
        ("<p>a<p>b", "<p>a<h2>h</h2><p>b", ["h2"], []),
        ("<ul><li>a<li>b</ul>", "<ol><li>a<li>b</ol>", ["ol"], ["ul"]),
        ("<div><p>a<p>b</div>", "<div><p>a</div>", [], ["p"]),
        ("<div id=a><i>x</i></div><div id=b></div>", "<div id=a><i>x</i><b>y</b></div><div id=b></div>", ["b"], []),
        # The closing tag moved: the same tags in the same order, another tree.
        ("<div>a</div><section>b</section>", "<div>a<section>b</section></div>", ["section"], ["section"]),
    ],
)
def test_inserted_and_deleted_nodes_are_named(before: str, after: str, inserted: list[str], deleted: list[str]) -> None:
    found = structure.difference(structure.tree(parse(before)), structure.tree(parse(after)))
    assert [node.name for node in found.inserted] == inserted
    assert [node.name for node in found.deleted] == deleted


def test_a_hundred_thousand_nested_elements_are_cut_off() -> None:
    deep = structure.tree(parse("<div>" * 100_000))
    assert len(deep) == structure.MAX_NODES
    assert structure.difference(deep, deep) == structure.TreeDifference((), (), ())
