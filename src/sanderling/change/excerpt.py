"""The change itself in a few hundred characters, before → after: "79.00 → 75.00"."""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import Final

from sanderling.documents.tree import Document

from .blocks import align
from .explain import exchanged_images, exchanged_links, exchanged_looks, exchanged_scripts, paragraphs
from .noise import noisy_paragraphs
from .page import paragraph_hash
from .pairing import by_words
from .wording import steps

# About as much as a subject and two lines of a message hold.
MOST_LETTERS: Final = 300
_OF_A_PART: Final = 140
# Where more places of a paragraph differ, both versions are shown instead of the places.
_MOST_PLACES: Final = 3
_MOST_WORDS: Final = 600
_AROUND: Final = 3
_MOST_PARTS: Final = 40


def excerpt(old: Document, new: Document, volatile: Container[int] = ()) -> str:
    """What was replaced by what, the first few hundred characters. Changes of text come first.

    Text in `volatile` places (`noise.volatile_places`) is left out. Empty if nothing can be shown,
    as when only the nesting of elements differs.
    """
    return _joined([*_text(paragraphs(old), paragraphs(new), volatile)] or [*_besides(old, new)])


def _text(before: list[str], after: list[str], volatile: Container[int]) -> Iterator[str]:
    hashes = [*map(paragraph_hash, before)], [*map(paragraph_hash, after)]
    alignment = align(*hashes, by_words(before, after))
    noisy_old, noisy_new = noisy_paragraphs(*hashes, alignment, volatile)
    for one, other in alignment.edited:
        if one not in noisy_old:
            yield from _replaced(before[one], after[other])
    yield from (f"+ {_short(after[at])}" for at in alignment.added if at not in noisy_new)
    yield from (f"− {_short(before[at])}" for at in alignment.removed if at not in noisy_old)
    yield from (f"moved: {_short(after[at])}" for _, at in alignment.moved if at not in noisy_new)


def _replaced(before: str, after: str) -> list[str]:
    """The words of a paragraph that were replaced, with the words before them."""
    old, new = before.split(), after.split()
    places = [step for step in steps(old, new) if not step.same] if len(old) + len(new) <= _MOST_WORDS else []
    kept = len(old) - sum(len(old[step.old]) for step in places)
    if not 0 < len(places) <= _MOST_PLACES or not kept:
        return [f"{_short(before)} → {_short(after)}"]
    return [_place(old, new, step.old, step.new) for step in places]


def _place(old: list[str], new: list[str], left: slice, came: slice) -> str:
    around = old[max(0, left.start - _AROUND) : left.start]
    gone, fresh = (_short(" ".join(words)) for words in (old[left], new[came]))
    if gone and fresh:
        return " ".join([*around, gone, "→", fresh])
    return " ".join([*around, *(["−", gone] if gone else ["+", fresh])])


def _besides(old: Document, new: Document) -> Iterator[str]:
    """What differs beside the text: links, pictures, the look, scripts."""
    named = (
        ("link", exchanged_links(old, new)),
        ("image", exchanged_images(old, new)),
        ("look", exchanged_looks(old, new)),
        ("script", exchanged_scripts(old, new)),
    )
    yield from (f"{what}: {exchange}" for what, exchange in named if exchange)


def _joined(parts: list[str]) -> str:
    """The first parts that fit, and how many more there are. Equal ones are shown once."""
    shown: list[str] = []
    different = [*dict.fromkeys(parts)]
    for part in different[:_MOST_PARTS]:
        if shown and sum(map(len, shown)) + len(part) > MOST_LETTERS:
            break
        shown.append(part)
    left = len(different) - len(shown)
    return "; ".join(shown) + (f" … and {left:,} more" if left else "")


def _short(text: str) -> str:
    return text if len(text) <= _OF_A_PART else text[: _OF_A_PART - 1] + "…"
