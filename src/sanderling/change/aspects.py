"""Finds the aspects in which two versions of a page differ, by their strong hashes."""

from __future__ import annotations

from enum import StrEnum

from .page import PageFingerprint


class Aspect(StrEnum):
    OUTLINE = "outline"
    LINKS = "links"
    LOOK = "look"
    IMAGES = "images"
    TEXT = "text"
    BEHAVIOUR = "behaviour"


def differing(old: PageFingerprint, new: PageFingerprint) -> set[Aspect]:
    outline = old.structure != new.structure
    found = {
        Aspect.OUTLINE: outline,
        Aspect.LINKS: relinked(old, new),
        # The hash of the look includes all tags, so it can be compared only if the outline is the
        # same.
        Aspect.LOOK: not outline and old.presentation != new.presentation,
        Aspect.TEXT: old.text != new.text,
        Aspect.IMAGES: old.images != new.images,
        # Fingerprints of earlier releases do not have it.
        Aspect.BEHAVIOUR: bool(old.behaviour and new.behaviour) and old.behaviour != new.behaviour,
    }
    return {aspect for aspect, differs in found.items() if differs}


def relinked(old: PageFingerprint, new: PageFingerprint) -> bool:
    """Whether links have other targets. False if the links of one version are not known."""
    return bool(old.links and new.links) and old.links != new.links
