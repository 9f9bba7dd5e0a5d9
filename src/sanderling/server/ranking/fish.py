"""Fish search and Shark search: what a link is worth by the pages on the way to it, as published in
1994 and 1998. Nothing here imports numpy, because the server ranks links as they are found."""

from typing import NamedTuple

# Shark search: how much of a page's score its children inherit, how much the anchor counts against
# the words around it, and how much the inherited part counts against both.
DECAY, ANCHOR, INHERITED = 0.5, 0.8, 0.5
# From this likeness on a page counts as relevant.
RELEVANT = 0.5
# Fish search: a relevant page's links may lead so many steps through others.
DEPTH = 3


def inherited(relevance: float, own_inherited: float) -> float:
    """What the links of a page inherit: from the page if it is relevant, else from the pages before
    it."""
    return DECAY * (relevance if relevance >= RELEVANT else own_inherited)


def neighbourhood(anchor: float, around: float) -> float:
    """What the words of a link say. If the anchor says anything, the words around it count as fully
    alike."""
    return ANCHOR * anchor + (1 - ANCHOR) * (1.0 if anchor > 0 else around)


def shark(inherits: float, anchor: float, around: float) -> float:
    """The score of a link in Shark search."""
    return INHERITED * inherits + (1 - INHERITED) * neighbourhood(anchor, around)


class Fish(NamedTuple):
    """A link in Fish search: where it stands in the queue, and how far one may go on from it."""

    place: int  # 2: in front, 1: behind those, 0: at the end
    depth: int


def fish(relevance: float, depth: int) -> Fish | None:
    """The links of a page: those of a relevant page come first, and those at the end of their depth
    are dropped."""
    if relevance >= RELEVANT:
        return Fish(2, DEPTH)
    return Fish(1 if depth == DEPTH else 0, depth - 1) if depth > 0 else None


def shark_link(link: float, parent: float) -> float:
    """The score of a link when it is found, by its words and the page that it stands on. What that
    page has inherited is counted when the queue is scored."""
    return shark(inherited(parent, 0.0), link, link)


def fish_link(link: float, parent: float) -> float:
    """The same for Fish search, which does not look at words."""
    found = fish(parent, DEPTH)
    return float(found.place) if found else -1.0


AT_ONCE = {"shark-search": shark_link, "fish-search": fish_link}
