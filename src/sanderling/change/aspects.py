"""In which respects two versions of a page differ, by their strong hashes."""

from __future__ import annotations

from enum import StrEnum

from . import image
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
        Aspect.IMAGES: images_differ(old, new),
    }
    return {aspect for aspect, differs in found.items() if differs}


def relinked(old: PageFingerprint, new: PageFingerprint) -> bool:
    """Whether links lead elsewhere, where both versions know."""
    return bool(old.links and new.links) and old.links != new.links


def images_differ(old: PageFingerprint, new: PageFingerprint) -> bool:
    """By what the pictures look like, where both versions know; else by what the page embeds."""
    if old.looks and len(old.looks) == len(new.looks) == new.image_count == old.image_count:
        return any(image.unlikeness(before, after) for before, after in zip(old.looks, new.looks, strict=True))
    return old.images != new.images
