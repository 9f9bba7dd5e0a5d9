"""Compares two fingerprints: the kinds of change, the place, how much changed, and a summary in one
line.

The strong hashes decide whether there is a change of structure, presentation, text, images or
behaviour. There is no threshold: one changed character is a change of the text. What changes on
most visits (a counter, an advertisement), and pages that alternate between versions, are still
recorded, but are not news. Behaviour alone is not news either.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from . import aspects, noise, weight
from .aspects import Aspect
from .blocks import Alignment, align
from .page import PageFingerprint
from .pairing import by_words
from .structure import LevelChange

# Reads the paragraphs of both versions. None if one of them cannot be read.
Texts = Callable[[], tuple[list[str], list[str]] | None]


class AspectKind(StrEnum):
    STRUCTURE = "structure"
    PRESENTATION = "presentation"
    TEXT = "text"
    IMAGE = "image"
    BEHAVIOUR = "behaviour"


class Degree(StrEnum):
    """How much of the text changed, in the classes of the literature."""

    NONE = "no change"
    NO_TEXT = "no text change"
    SMALL = "small"
    MEDIUM = "medium"
    LARGE = "large"
    COMPLETE = "complete"


class TextEdit(msgspec.Struct, frozen=True):
    """One replaced piece of text, with a name such as "price"."""

    what: str
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.what} {self.before or '(nothing)'} -> {self.after or '(nothing)'}".strip()


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What changed. If `comparable` is false, the fingerprints were made with other rules, and both
    must be made again."""

    comparable: bool = True
    kinds: tuple[AspectKind, ...] = ()
    significance: float = 0.0
    degree: Degree = Degree.NONE
    # Where it changed: the roles of changed paragraphs in the new version.
    place: str = ""
    edited: int = 0
    added: int = 0
    removed: int = 0
    moved: int = 0
    of: int = 0
    # Titles and headings among these: ("changed", "added", "removed" or "moved"; "title" or
    # "heading"; how many).
    named: tuple[tuple[str, str, int], ...] = ()
    edits: tuple[TextEdit, ...] = ()
    # `volatile`: only noise changed. `alternating`: the page alternates between versions, and this
    # is one of them.
    volatile: bool = False
    alternating: bool = False
    # Only `explain` finds these, which has both pages.
    levels: tuple[LevelChange, ...] = ()
    inserted: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    summary: str = "no visible change"

    @property
    def changed(self) -> bool:
        return bool(self.kinds)

    @property
    def news(self) -> bool:
        """Whether the change is worth reporting."""
        return any(kind != AspectKind.BEHAVIOUR for kind in self.kinds) and not self.volatile and not self.alternating


def compare(
    old: PageFingerprint,
    new: PageFingerprint,
    *,
    known: noise.Noise | None = None,
    template: noise.Noise | None = None,
    texts: Texts | None = None,
) -> Verdict:
    """What changed since the old version. `known` is the noise of this page, `template` that of
    similar pages.

    With `texts`, which are read only for news, unrelated paragraphs do not count as one that was
    edited.
    """
    if old.processing != new.processing:
        return Verdict(comparable=False, summary="not comparable: the two versions were processed differently")
    differing = aspects.differing(old, new)
    # Who asks for changes of behaviour does not want those of every visit.
    if noise.are_volatile({Aspect.BEHAVIOUR}, known):
        differing.discard(Aspect.BEHAVIOUR)
    if not differing:
        return Verdict(of=new.paragraphs)
    seen = differing - {Aspect.BEHAVIOUR}
    kinds = tuple(dict.fromkeys(kind for aspect, kind in _KIND_OF.items() if aspect in differing))
    if AspectKind.TEXT not in kinds:
        return _without_text(old, new, kinds, bool(seen) and noise.are_volatile(seen, known))
    whole = align(old.paragraph_hashes(), new.paragraph_hashes())
    hashes = old.paragraph_hashes(), new.paragraph_hashes()
    places = noise.volatile_places([known, template])
    steady = noise.without_variants(*hashes, whole, known)
    # Variants of a page come with their own elements, links and images.
    besides = set() if steady is not whole else seen - {Aspect.TEXT}
    volatile = (
        whole.changes
        and not noise.without(*hashes, steady, places).changes
        and noise.in_place(besides, steady)
        and noise.are_volatile(besides, known)
    )
    alternating = known is not None and noise.alternates(known, new)
    if texts and whole.edited and not volatile and not alternating:
        whole = _by_words(old, new, texts) or whole
    alignment = noise.without(*hashes, noise.without_variants(*hashes, whole, known), places)
    if not alignment.changes:
        alignment = whole
    if alignment is not whole:
        # An edit beside an advertisement is not a change of the advertisement's kind.
        quiet = {aspect for aspect in seen - {Aspect.TEXT} if noise.are_volatile({aspect}, known)}
        kinds = tuple(dict.fromkeys(kind for aspect, kind in _KIND_OF.items() if aspect in differing - quiet))
    significance, kept = _how_much(old, new, alignment)
    verdict = Verdict(
        kinds=kinds,
        significance=significance,
        degree=degree(kept),
        edits=_price_edits(old, new),
        volatile=volatile,
        alternating=alternating,
    )
    verdict = counted(verdict, old, new, alignment)
    return msgspec.structs.replace(verdict, summary=summary(verdict))


def counted(verdict: Verdict, old: PageFingerprint, new: PageFingerprint, alignment: Alignment) -> Verdict:
    """The verdict with the numbers and places of the paragraphs that changed."""
    return msgspec.structs.replace(
        verdict,
        place=_place(old, new, alignment),
        edited=len(alignment.edited),
        added=len(alignment.added),
        removed=len(alignment.removed),
        moved=len(alignment.moved),
        of=new.paragraphs,
        named=_named(old, new, alignment),
    )


def _by_words(old: PageFingerprint, new: PageFingerprint, texts: Texts) -> Alignment | None:
    both = texts()
    # Those of a very long page end with another paragraph than its fingerprint.
    if both is None or (len(both[0]), len(both[1])) != (old.paragraphs, new.paragraphs):
        return None
    return align(old.paragraph_hashes(), new.paragraph_hashes(), by_words(*both))


_KIND_OF: Final = {
    Aspect.OUTLINE: AspectKind.STRUCTURE,
    Aspect.LINKS: AspectKind.STRUCTURE,
    Aspect.LOOK: AspectKind.PRESENTATION,
    Aspect.TEXT: AspectKind.TEXT,
    Aspect.IMAGES: AspectKind.IMAGE,
    Aspect.BEHAVIOUR: AspectKind.BEHAVIOUR,
}


def _without_text(old: PageFingerprint, new: PageFingerprint, kinds: tuple[AspectKind, ...], volatile: bool) -> Verdict:
    """A verdict without a change of text. Fingerprints do not show how much of the outline, look or
    images changed, so the significance is a rough value."""
    share = 0.0
    if AspectKind.STRUCTURE in kinds:
        share = abs(new.elements - old.elements) / max(new.elements, old.elements, 1)
    if AspectKind.IMAGE in kinds:
        share = max(share, 1 / (1 + max(new.paragraphs, 1)))
    verdict = Verdict(
        kinds=kinds,
        significance=min(1.0, max(share, 0.01)),
        degree=Degree.NO_TEXT,
        place="page",
        of=new.paragraphs,
        volatile=volatile,
    )
    details = {
        AspectKind.STRUCTURE: _counted(new.elements - old.elements, "element")
        or ("links lead elsewhere" if old.structure == new.structure else ""),
        AspectKind.IMAGE: _counted(new.image_count - old.image_count, "image"),
    }
    return msgspec.structs.replace(verdict, summary=summary(verdict, details))


def _counted(difference: int, name: str) -> str:
    if not difference:
        return ""
    return f"{abs(difference)} {name}{'s' * (abs(difference) > 1)} {'more' if difference > 0 else 'fewer'}"


def _how_much(old: PageFingerprint, new: PageFingerprint, alignment: Alignment) -> tuple[float, float]:
    """The weighted share of changed text, and the share of unchanged text.

    Hashes do not show how much of an edited paragraph is unchanged, so half of it counts as
    unchanged. `explain` knows.
    """
    before, after = old.mass(), new.mass()
    whole = int(before.sum() + after.sum())
    if not whole:
        return 1.0, 0.0
    changed = int(before[alignment.removed].sum() + after[alignment.added].sum())
    edited = _pair_mass(before, after, alignment.edited)
    moved = _pair_mass(before, after, alignment.moved)
    significance = (changed + edited + moved / 4) / whole
    return min(1.0, max(significance, 1 / whole)), 1 - (changed + edited / 2) / whole


def _pair_mass(before: NDArray[np.int64], after: NDArray[np.int64], pairs: list[tuple[int, int]]) -> int:
    if not pairs:
        return 0
    one, other = np.array(pairs).T
    return int(before[one].sum() + after[other].sum())


def degree(kept: float) -> Degree:
    """The class of a change of the text, by the share of unchanged text."""
    if kept <= 0:
        return Degree.COMPLETE
    if kept < 0.3:
        return Degree.LARGE
    return Degree.MEDIUM if kept < 0.7 else Degree.SMALL


def _place(old: PageFingerprint, new: PageFingerprint, alignment: Alignment) -> str:
    """The parts of a page that changed, the largest font first: "title", "heading", "paragraph"."""
    weights = [
        *(new.weights[at] for at in alignment.added),
        *(new.weights[at] for _, at in alignment.edited),
        *(old.weights[at] for at in alignment.removed),
        *(new.weights[at] for _, at in alignment.moved),
    ]
    return ", ".join(dict.fromkeys([weight.role(size) for size in sorted(set(weights), reverse=True)]))


def _named(old: PageFingerprint, new: PageFingerprint, alignment: Alignment) -> tuple[tuple[str, str, int], ...]:
    weights = {
        "changed": [new.weights[at] for _, at in alignment.edited],
        "added": [new.weights[at] for at in alignment.added],
        "removed": [old.weights[at] for at in alignment.removed],
        "moved": [new.weights[at] for _, at in alignment.moved],
    }
    roles = {verb: [*map(weight.role, sizes)] for verb, sizes in weights.items()}
    counted = [(verb, role, found.count(role)) for verb, found in roles.items() for role in ("title", "heading")]
    return tuple(each for each in counted if each[2])


def _price_edits(old: PageFingerprint, new: PageFingerprint) -> tuple[TextEdit, ...]:
    """Prices that changed, if the page has as many prices as before."""
    if len(old.prices) != len(new.prices):
        return ()
    pairs = zip(old.prices, new.prices, strict=True)
    return tuple(TextEdit("price", before, after) for before, after in pairs if before != after)


def summary(verdict: Verdict, details: dict[AspectKind, str] | None = None) -> str:
    """A summary in one line."""
    parts = []
    if AspectKind.TEXT in verdict.kinds:
        parts.append(_text_summary(verdict))
    for kind, label in _LABELS.items():
        if kind in verdict.kinds:
            detail = (details or {}).get(kind, "")
            parts.append(f"{label} changed" + (f" ({detail})" if detail else ""))
    parts += map(str, verdict.edits[:3])
    if verdict.alternating:
        parts.append("an earlier version again: the page alternates")
    elif verdict.volatile:
        parts.append("only parts that change on most visits")
    return "; ".join(parts)


def _text_summary(verdict: Verdict) -> str:
    counts = {"changed": verdict.edited, "added": verdict.added, "removed": verdict.removed, "moved": verdict.moved}
    found = [(verb, number) for verb, number in counts.items() if number]
    if not found:
        return "the spacing between words changed"
    return ", ".join([_clause(verdict, verb, number, verb == found[0][0]) for verb, number in found])


def _clause(verdict: Verdict, verb: str, number: int, first: bool) -> str:
    """Describes paragraphs with the same fate: titles and headings by name, all others as a
    count."""
    named = {role: count for became, role, count in verdict.named if became == verb}
    rest = number - sum(named.values())
    subjects = [role if count == 1 else f"{count} {role}s" for role, count in named.items()]
    if rest and first:
        # Removed paragraphs are counted among those of the old version.
        whole = verdict.of + (verdict.removed - verdict.added if verb == "removed" else 0)
        subjects.append(f"{rest} of {whole} paragraph{'s' * (whole != 1)}")
    elif rest:
        subjects.append(f"{rest} paragraph{'s' * (rest != 1)}" if named else str(rest))
    *others, last = subjects
    return f"{', '.join(others)} and {last} {verb}" if others else f"{last} {verb}"


_LABELS: Final = {
    AspectKind.STRUCTURE: "the page's structure",
    AspectKind.PRESENTATION: "the page's look",
    AspectKind.IMAGE: "images",
    AspectKind.BEHAVIOUR: "the page's scripts",
}
