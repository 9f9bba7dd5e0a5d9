"""Learns noise: what changes on every visit and means nothing. It learns for each page, and for all
pages of a template.

A place on a page is identified by the paragraph before it. So a counter below "Visitors today" is
recognised whatever it shows, on every page that has that line. A place that changed on most visits
since it was first seen is volatile. The state has a fixed greatest size. Noise only decides that a
change is not news; the change is still stored and shown.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Set
from typing import Final

import msgspec

from .aspects import Aspect, differing
from .blocks import Alignment, align
from .page import PageFingerprint

MAX_PLACES: Final = 64
MAX_VERSIONS: Final = 8
MAX_LEFT: Final = 32
# Fewer changes could be the work of an author.
_MIN_CHANGES: Final = 3
# The same for pages that changed for the first time. Nobody edits so many pages at one place in one
# round, each in another way, and leaves most others as they are.
MIN_FIRST: Final = 8
_START: Final = 0
# The place of all paragraphs that moved. Where they stand says little: a list in another order at
# each visit has other places each time.
_ORDER: Final = 1


class Place(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """How often the text after a paragraph changed, in how many visits. A template also stores the
    last text's hash."""

    changes: int
    visits: int
    last: int = 0

    @property
    def volatile(self) -> bool:
        return self.changes >= _MIN_CHANGES and 2 * self.changes > self.visits


UNSEEN: Final = Place(0, 0)


class Noise(msgspec.Struct, frozen=True, array_like=True):
    """The known noise of a page or a template. At most 1.5 KB as msgpack."""

    places: dict[int, Place] = {}
    # Hashes of the last versions, the newest last, and how often the page returned to one of them.
    versions: tuple[bytes, ...] = ()
    returns: int = 0
    # How often outline, links, look, images and behaviour changed, in how many visits.
    aspects: dict[Aspect, Place] = {}
    # Paragraphs that left lately, as hashes, the latest last, and how often each came back.
    left: dict[int, int] = {}
    # Of a template: places of pages that changed for the first time, and how many pages did not.
    first: dict[int, Place] = {}
    steady: int = 0
    # How often a file without text differed, in its bytes and in its size, in how many visits. Of a
    # template: how many files of a MIME type did at their first revisit (`textless`).
    files: dict[str, Place] = {}


def learn_template(known: Noise, old: PageFingerprint, new: PageFingerprint) -> Noise:
    """The noise of a template after another visit to one of its pages.

    If a text is replaced once on all pages, that is an edit and news. It counts as one change,
    however many pages show it. A place becomes volatile only if it shows another text each time.
    """
    if old.processing != new.processing:
        return known
    came: dict[int, int] = {}
    hashes = new.paragraph_hashes()
    if old.text != new.text:
        alignment = align(old.paragraph_hashes(), hashes)
        before_old, before_new = _anchors(old.paragraph_hashes(), hashes, alignment)
        came = {before_old[one]: 0 for one in alignment.removed}
        came |= {before_new[other]: hashes[other] for other in alignment.added}
        came |= {before_old[one]: hashes[other] for one, other in alignment.edited}
    return msgspec.structs.replace(known, places=_counted(known.places, came, {_START, *hashes}))


def learn_first(known: Noise, old: PageFingerprint, new: PageFingerprint) -> Noise:
    """The noise of a template after the first change of one of its pages.

    What it counts is kept apart, since pages that never changed are counted without their places.
    A paragraph that was added, as below "Comments", is no noise.
    """
    if old.processing != new.processing or old.text == new.text:
        return steady(known)
    hashes = new.paragraph_hashes()
    alignment = align(old.paragraph_hashes(), hashes)
    before, _ = _anchors(old.paragraph_hashes(), hashes, alignment)
    came = {before[one]: hashes[other] for one, other in alignment.edited}
    return msgspec.structs.replace(known, first=_counted(known.first, came, {_START, *hashes}))


def steady(known: Noise) -> Noise:
    """The noise of a template after a visit to a page that never changed."""
    return msgspec.structs.replace(known, steady=known.steady + 1)


def _counted(known: dict[int, Place], came: dict[int, int], there: Set[int]) -> dict[int, Place]:
    """The places of a template after a visit that brought other texts at some of them."""
    counted = dict(known)
    for place, text in came.items():
        count = counted.get(place, UNSEEN)
        if count is UNSEEN or count.last != text:
            counted[place] = Place(count.changes + 1, count.visits + 1, text)
    for place in (counted.keys() & there) - came.keys():
        count = counted[place]
        counted[place] = Place(count.changes, count.visits + 1, count.last)
    return _most_telling(counted)


def learn(known: Noise, old: PageFingerprint, new: PageFingerprint) -> Noise:
    """The noise of a page after another visit, whether anything changed or not."""
    if old.processing != new.processing:
        return Noise()
    versions, returns = _versions(known, old, new)
    if returns > known.returns:
        # An alternating page changes in the same places every time, but these places may still
        # contain news.
        return Noise(known.places, versions, returns, known.aspects, _left(known.left, old, new))
    changed = set() if old.text == new.text else places(old, new, align(old.paragraph_hashes(), new.paragraph_hashes()))
    counted = {
        place: Place(count.changes + (place in changed), count.visits + 1) for place, count in known.places.items()
    }
    for place in changed - counted.keys():
        counted[place] = Place(1, 1)
    aspects = _aspects(known.aspects, differing(old, new))
    return Noise(_most_telling(counted), versions, returns, aspects, _left(known.left, old, new))


def _left(known: dict[int, int], old: PageFingerprint, new: PageFingerprint) -> dict[int, int]:
    """Adds the paragraphs that left, and counts those that came back."""
    if old.hashes == new.hashes:
        return known
    before, after = old.paragraph_hashes(), new.paragraph_hashes()
    there, now = set(before), set(after)
    found = {hash: times + (hash in now and hash not in there) for hash, times in known.items()}
    for hash in before:
        if hash not in now:
            found[hash] = found.pop(hash, 0)
    return dict([*found.items()][-MAX_LEFT:])


def _aspects(known: dict[Aspect, Place], changed: set[Aspect]) -> dict[Aspect, Place]:
    """Counts changes of all aspects except the text, which is counted by place."""
    seen = known.keys() | changed - {Aspect.TEXT}
    counts = {aspect: known.get(aspect, UNSEEN) for aspect in seen}
    return {aspect: Place(count.changes + (aspect in changed), count.visits + 1) for aspect, count in counts.items()}


def learn_image(known: Noise, changed: bool) -> Noise:
    """The noise of an image file after another visit."""
    return Noise(aspects=_aspects(known.aspects, {Aspect.IMAGES} if changed else set()))


def _most_telling(counted: dict[int, Place]) -> dict[int, Place]:
    """Keeps the places that changed most often. Places that changed once come from an edit or a
    redesign."""
    if len(counted) <= MAX_PLACES:
        return counted
    best = sorted(counted, key=lambda place: (counted[place].changes, -counted[place].visits), reverse=True)
    return {place: counted[place] for place in best[:MAX_PLACES]}


def _versions(known: Noise, old: PageFingerprint, new: PageFingerprint) -> tuple[tuple[bytes, ...], int]:
    """Adds the new version to the last versions. If it is one of them, that counts as a return."""
    seen = known.versions or (old.text[:8],)
    latest = new.text[:8]
    if latest == seen[-1]:
        return seen, known.returns
    returned = latest in seen
    kept = [version for version in seen if version != latest]
    return (*kept, latest)[-MAX_VERSIONS:], known.returns + 1 if returned else max(0, known.returns - 1)


def alternates(known: Noise, new: PageFingerprint) -> bool:
    """Whether the page alternates between versions and this is one of them. A single return is a
    revert, and news."""
    return known.returns >= 1 and new.text[:8] in known.versions


def places(old: PageFingerprint, new: PageFingerprint, alignment: Alignment) -> set[int]:
    """The places where text was edited, added, removed or moved. A place is the unchanged paragraph
    before it."""
    before_old, before_new = _anchors(old.paragraph_hashes(), new.paragraph_hashes(), alignment)
    return {
        *(before_old[one] for one, _ in alignment.edited),
        *([_ORDER] if alignment.moved else []),
        *(before_old[one] for one in alignment.removed),
        *(before_new[other] for other in alignment.added),
    }


def _anchors(old: list[int], new: list[int], alignment: Alignment) -> tuple[list[int], list[int]]:
    """For every paragraph of both versions, the unchanged paragraph before it."""
    kept = alignment.kept(len(old), len(new))
    return (
        _before({one: new[other] for one, other in kept}, len(old)),
        _before({other: new[other] for _, other in kept}, len(new)),
    )


def _before(kept: dict[int, int], count: int) -> list[int]:
    anchors: list[int] = []
    last = _START
    for at in range(count):
        anchors.append(last)
        last = kept.get(at, last)
    return anchors


def volatile_places(known: Iterable[Noise | None]) -> set[int]:
    """The places that changed on most visits."""
    found = {place for noise in known if noise for place, count in noise.places.items() if count.volatile}
    return found.union(
        place
        for noise in known
        if noise
        for place, count in noise.first.items()
        if count.changes >= MIN_FIRST and 2 * count.changes > count.visits + noise.steady
    )


def noisy_paragraphs(
    old: list[int], new: list[int], alignment: Alignment, volatile: Container[int]
) -> tuple[set[int], set[int]]:
    """The positions, in both versions, of the changed paragraphs in volatile places. Paragraphs are
    given as hashes."""
    before_old, before_new = _anchors(old, new, alignment)
    pairs = [(one, other) for one, other in alignment.edited if before_old[one] in volatile]
    pairs += alignment.moved if _ORDER in volatile else []
    return (
        {one for one, _ in pairs} | {one for one in alignment.removed if before_old[one] in volatile},
        {other for _, other in pairs} | {other for other in alignment.added if before_new[other] in volatile},
    )


def without(old: list[int], new: list[int], alignment: Alignment, volatile: Set[int]) -> Alignment:
    """The alignment without the paragraphs in volatile places. Paragraphs are given as hashes."""
    return alignment.without(*noisy_paragraphs(old, new, alignment, volatile)) if volatile else alignment


def without_variants(old: list[int], new: list[int], alignment: Alignment, known: Noise | None) -> Alignment:
    """The alignment without the paragraphs that alternate: each was there before, and some of them
    have returned before. That a paragraph returns once is a revert, and news."""
    left = known.left if known is not None else {}
    gone = {at for at in [*alignment.removed, *(one for one, _ in alignment.edited)] if old[at] in left}
    came = {at for at in [*alignment.added, *(other for _, other in alignment.edited)] if new[at] in left}
    if not any(left[hash] for hash in [*(old[at] for at in gone), *(new[at] for at in came)]):
        return alignment
    pairs = [(one, other) for one, other in alignment.edited if (one in gone) != (other in came)]
    # Half of an edit is the other paragraph, which is new.
    return alignment.without(gone - {one for one, _ in pairs}, came - {other for _, other in pairs})


def in_place(changed: set[Aspect], alignment: Alignment) -> bool:
    """Whether the other changes can belong to the changed text, as with an advertisement and its
    link.

    A list that gets a new entry at every visit is news each time.
    """
    if Aspect.OUTLINE in changed:
        return False
    return Aspect.LINKS not in changed or not (alignment.added or alignment.removed)


def are_volatile(changed: set[Aspect], known: Noise | None) -> bool:
    """Whether all changed aspects except the text are volatile."""
    counts = known.aspects if known is not None else {}
    return all(counts.get(aspect, UNSEEN).volatile for aspect in changed - {Aspect.TEXT})
