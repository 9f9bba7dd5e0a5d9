"""Compares two versions of a page paragraph by paragraph, and finds the origin of each
paragraph."""

from collections import deque
from collections.abc import Container, Iterable, Sequence
from typing import Literal, NamedTuple

from msgspec.structs import replace

from sanderling.change.blocks import Alignment, align
from sanderling.change.noise import noisy_paragraphs
from sanderling.change.page import block, paragraph_hash
from sanderling.change.pairing import by_words
from sanderling.change.wording import steps

PieceKind = Literal["same", "edited", "added", "removed", "moved"]
Words = list[tuple[bool, str]]  # (whether it changed, the text), in order

# Longer paragraphs are shown as replaced as a whole. A diff of so many words is of no use to a
# reader.
MOST_WORDS = 2000
# In all paragraphs of a page together. What was edited behind that is shown as removed and added.
MOST_WORDS_OF_A_PAGE = 100_000


class Piece(NamedTuple):
    """One paragraph of the old version, the new version or both. `noise`: a change that is not
    news."""

    kind: PieceKind
    old: str
    new: str
    noise: bool = False


class Origin(NamedTuple):
    """The version in which a paragraph first appeared, and the one that changed it last."""

    first: int
    edited: int


def pieces(
    old: Sequence[str], new: Sequence[str], *, places: bool = False, volatile: Container[int] = ()
) -> list[Piece]:
    """Both versions in the order of the new one. Removed paragraphs are shown at their old places.

    A moved paragraph is shown at its new place. With `places`, its old text is also shown at its
    old place, as a piece of its own. Changes in `volatile` places (`noise.volatile_places`) are
    noise.
    """
    hashes = [*map(paragraph_hash, old)], [*map(paragraph_hash, new)]
    alignment = _followed(align(*hashes, by_words(old, new)), old, new)
    noisy_old, noisy_new = noisy_paragraphs(*hashes, alignment, volatile)
    came_from: dict[int, tuple[PieceKind, int]] = {}
    for kind, pairs in (
        ("same", alignment.kept(len(old), len(new))),
        ("edited", alignment.edited),
        ("moved", alignment.moved),
    ):
        came_from |= {after: (kind, before) for before, after in pairs}  # type: ignore[misc]
    moved = {before for before, _ in alignment.moved} if places else set()
    left = deque(sorted([*alignment.removed, *moved]))
    shown: list[Piece] = []

    def leave(at: int) -> None:
        shown.append(Piece("moved" if at in moved else "removed", old[at], "", at in noisy_old))

    for at, text in enumerate(new):
        kind, before = came_from.get(at, ("added", -1))
        if kind in ("same", "edited"):
            while left and left[0] < before:
                leave(left.popleft())
        shown.append(Piece(kind, old[before] if before >= 0 and before not in moved else "", text, at in noisy_new))
    for at in left:
        leave(at)
    return shown


def _followed(alignment: Alignment, old: Sequence[str], new: Sequence[str]) -> Alignment:
    """The same alignment with no more edited paragraphs than are compared word by word."""
    room, count = MOST_WORDS_OF_A_PAGE, 0
    for before, after in alignment.edited:
        room -= old[before].count(" ") + new[after].count(" ") + 2
        if room < 0:
            break
        count += 1
    edited, others = alignment.edited[:count], alignment.edited[count:]
    return replace(
        alignment,
        edited=edited,
        removed=alignment.removed + [before for before, _ in others],
        added=alignment.added + [after for _, after in others],
    )


def words(old: str, new: str) -> tuple[Words, Words]:
    """The words of an edited paragraph in both versions, with a mark on those that differ."""
    before, after = old.split(), new.split()
    if len(before) + len(after) > MOST_WORDS:
        return [(True, old)], [(True, new)]
    older: Words = []
    newer: Words = []
    for step in steps(before, after):
        for side, text in ((older, before[step.old]), (newer, after[step.new])):
            if text:
                side.append((not step.same, " ".join(text)))
    return older, newer


def blame(versions: Iterable[Sequence[str]]) -> list[Origin]:
    """The origin of every paragraph of the last version. `versions` begin with the oldest."""
    origins: list[Origin] = []
    previous: list[bytes] = []
    texts: Sequence[str] = ()
    for number, paragraphs in enumerate(versions):
        current = [*map(block, paragraphs)]
        alignment = align(previous, current, by_words(texts, paragraphs))
        following = [Origin(number, number)] * len(current)
        for before, after in [*alignment.kept(len(previous), len(current)), *alignment.moved]:
            following[after] = origins[before]
        for before, after in alignment.edited:
            following[after] = Origin(origins[before].first, number)
        origins, previous, texts = following, current, paragraphs
    return origins
