"""In which respects two versions of a page differ, by their strong hashes."""

from __future__ import annotations

from enum import StrEnum

from .page import PageFingerprint


class Aspect(StrEnum):
    OUTLINE = "outline"
    LINKS = "links"
    LOOK = "look"
    IMAGES = "images"
    TEXT = "text"


def differing(old: PageFingerprint, new: PageFingerprint) -> set[Aspect]:
    outline = old.structure != new.structure
    found = {
        Aspect.OUTLINE: outline,
        Aspect.LINKS: relinked(old, new),
        # The look is told from the outline only while the outline stays.
        Aspect.LOOK: not outline and old.presentation != new.presentation,
        Aspect.TEXT: old.text != new.text,
        Aspect.IMAGES: old.images != new.images,
    }
    return {aspect for aspect, differs in found.items() if differs}


def relinked(old: PageFingerprint, new: PageFingerprint) -> bool:
    """Whether links lead elsewhere, where both versions know."""
    return bool(old.links and new.links) and old.links != new.links
