"""Which pages show an image, for both stores: what a commit changes of it.

An image on more pages than `MOST_PAGES` belongs to the site: a logo, a banner, a button. Only one
page more than that is kept for it, so a logo on a million pages costs no more than one on twenty.
Those rows stay when the pages change, because it is unknown which other pages show it.
"""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from sanderling.model import Commit, Outcome, Visit

MOST_PAGES = 20

Pair = tuple[int, int]  # image, page


class ImagePageChanges(NamedTuple):
    """Rows to remove and to add."""

    removed: list[Pair]
    added: list[Pair]


def looked_at(commit: Commit) -> list[Visit]:
    """The visits that say which images a page shows."""
    return [visit for visit in commit.visits if visit.images is not None and visit.outcome is Outcome.PAGE]


def images_of(visits: Iterable[Visit]) -> set[int]:
    return {image for visit in visits for image in unpacked(visit.images)}


def unpacked(images: bytes | None) -> list[int]:
    return memoryview(images or b"").cast("q").tolist()


def image_page_changes(kept: Iterable[Pair], by_image: Iterable[Pair], now: Iterable[Pair]) -> ImagePageChanges:
    """`kept` are the rows of the pages that were visited, `by_image` those of all images in `kept`
    and `now`."""
    counts = Counter(image for image, _ in set(by_image))
    old, new = set(kept), dict.fromkeys(now)
    removed = [pair for pair in old if pair not in new and counts[pair[0]] <= MOST_PAGES]
    added = []
    for pair in new:
        if pair not in old and counts[pair[0]] <= MOST_PAGES:
            counts[pair[0]] += 1
            added.append(pair)
    return ImagePageChanges(sorted(removed), sorted(added))
