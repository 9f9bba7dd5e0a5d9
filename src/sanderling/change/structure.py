"""The outline of a page, by the two methods of the original paper: fingerprint strings and the
document tree.

The fingerprint strings are short, but cannot distinguish tags with the same first and last letters.
The tree is exact and larger. A crawl stores neither; it stores a strong hash of the tag sequence
(`page`). Trees are built only to explain where two versions differ.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from sanderling.documents.tree import Document, Element, Text, collapse

from .blocks import align
from .presentation import STYLE_TAGS

# Walking and matching trees in Python costs about 5 us for each node. Trees are cut at this many
# nodes.
MAX_NODES: Final = 20_000
MAX_NAMES: Final = 50


def fingerprints(tags: Iterable[str]) -> tuple[str, str]:
    """Structure I: the first letters of all tags in page order, and the last letters."""
    names = [tag for tag in tags if tag]
    return "".join([tag[0] for tag in names]), "".join([tag[-1] for tag in names])


def nesting(document: Document) -> tuple[tuple[int, str], ...]:
    """The outline with depths: every tag that is not only for style, and how many such tags are
    around it.

    Unlike the tag sequence, it shows a closing tag that moved. It is too slow for every page of a
    crawl.
    """
    found: list[tuple[int, str]] = []
    waiting: list[tuple[Element, int]] = [(document.root, 0)] if document.root is not None else []
    while waiting and len(found) < MAX_NODES:
        element, depth = waiting.pop()
        tag = element.tag
        if tag not in STYLE_TAGS:
            found.append((depth, tag))
            depth += 1
        waiting += [(child, depth) for child in reversed(element.children) if isinstance(child, Element)]
    return tuple(found)


class Node(msgspec.Struct, frozen=True, gc=False):
    """Structure II: a node of the document tree. Ids are counted in level order."""

    id: int
    tag: str
    level: int
    children: tuple[int, ...]
    # The root mean square of the text directly in it, as the paper defines it.
    value: float
    # The name of the node for people: "div#menu", "p.note".
    name: str


def tree(document: Document) -> tuple[Node, ...]:
    """The elements of a page in level order, at most MAX_NODES."""
    root = document.root
    if root is None:
        return ()
    queue: list[tuple[Element, int]] = [(root, 1)]
    nodes: list[Node] = []
    for element, level in queue:
        inside = [child for child in element.children if isinstance(child, Element)]
        room = max(0, min(len(inside), MAX_NODES - len(queue)))
        first = len(queue)
        queue.extend((child, level + 1) for child in inside[:room])
        children = tuple(range(first, first + room))
        nodes.append(Node(len(nodes), element.tag, level, children, _value(element), _name(element)))
    return tuple(nodes)


def _value(element: Element) -> float:
    words = collapse(" ".join([child.data for child in element.children if isinstance(child, Text)]))
    return (sum(ord(letter) ** 2 for letter in words) ** 0.5) / len(words) if words else 0.0


def _name(element: Element) -> str:
    identifier = element.attr("id")
    if identifier:
        return f"{element.tag}#{identifier[:40]}"
    first_class = (element.attr("class") or "").split(maxsplit=1)
    return f"{element.tag}.{first_class[0][:40]}" if first_class else element.tag


def levels(nodes: Sequence[Node]) -> tuple[int, ...]:
    """The number of nodes on each level of a tree, from the root down."""
    counts: list[int] = []
    for node in nodes:
        if node.level > len(counts):
            counts.append(0)
        counts[node.level - 1] += 1
    return tuple(counts)


class LevelChange(msgspec.Struct, frozen=True):
    """How many nodes were inserted and deleted on a level of a tree, which is counted from 1."""

    level: int
    inserted: int
    deleted: int


class TreeDifference(msgspec.Struct, frozen=True):
    """Where two trees differ: the levels, and the inserted and deleted nodes. A subtree is given by
    its topmost node, and counted with all of its nodes."""

    levels: tuple[LevelChange, ...]
    inserted: tuple[Node, ...]
    deleted: tuple[Node, ...]


def difference(before: Sequence[Node], after: Sequence[Node]) -> TreeDifference:
    """Walks both trees from the roots. Pairs children with equal subtrees, then children with equal
    tags."""
    inserted: list[Node] = []
    deleted: list[Node] = []
    if before and after:
        shapes: dict[tuple[object, ...], int] = {}
        old_shapes, new_shapes = _shapes(before, shapes), _shapes(after, shapes)
        pairs = [(0, 0)]
        if before[0].tag != after[0].tag:
            pairs, deleted, inserted = [], [before[0]], [after[0]]
        for one, other in pairs:
            if old_shapes[one] == new_shapes[other]:
                continue
            matched, left, came = _match(before, after, one, other, old_shapes, new_shapes)
            pairs += matched
            deleted += left
            inserted += came
    else:
        inserted, deleted = list(after[:1]), list(before[:1])
    more, fewer = _by_level(after, inserted), _by_level(before, deleted)
    changed = tuple(LevelChange(level, more[level], fewer[level]) for level in sorted({*more, *fewer}))
    return TreeDifference(changed, tuple(inserted), tuple(deleted))


def _by_level(nodes: Sequence[Node], tops: Sequence[Node]) -> Counter[int]:
    """How many nodes some subtrees have on each level."""
    counts = Counter[int]()
    waiting = [*tops]
    while waiting:
        node = waiting.pop()
        counts[node.level] += 1
        waiting += [nodes[child] for child in node.children]
    return counts


def _shapes(nodes: Sequence[Node], shapes: dict[tuple[object, ...], int]) -> list[int]:
    """A number for every subtree. Equal subtrees have equal numbers, in both trees."""
    numbers = [0] * len(nodes)
    for node in reversed(nodes):
        shape = (node.tag, *[numbers[child] for child in node.children])
        numbers[node.id] = shapes.setdefault(shape, len(shapes))
    return numbers


def _match(
    before: Sequence[Node], after: Sequence[Node], one: int, other: int, old_shapes: list[int], new_shapes: list[int]
) -> tuple[list[tuple[int, int]], list[Node], list[Node]]:
    left, came = before[one].children, after[other].children
    alignment = align([old_shapes[child] for child in left], [new_shapes[child] for child in came])
    gone = [left[at] for at in sorted([*alignment.removed, *(at for at, _ in alignment.edited)])]
    fresh = [came[at] for at in sorted([*alignment.added, *(at for _, at in alignment.edited)])]
    by_tag = align([before[child].tag for child in gone], [after[child].tag for child in fresh])
    same_tag = [*by_tag.kept(len(gone), len(fresh)), *by_tag.moved]
    matched = [(gone[old], fresh[new]) for old, new in same_tag]
    kept_old, kept_new = {old for old, _ in same_tag}, {new for _, new in same_tag}
    return (
        matched,
        [before[child] for at, child in enumerate(gone) if at not in kept_old],
        [after[child] for at, child in enumerate(fresh) if at not in kept_new],
    )
