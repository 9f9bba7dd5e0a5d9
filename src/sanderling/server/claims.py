"""Pages that say they are only another name of a page: by `rel=canonical`, or by moving for good.

The word of a page is a claim. Nothing is hidden because of it: the page is kept, what it stands for is visited too,
and they are one page only when that one exists and says the same.
"""

from collections.abc import Iterable, Mapping

from sanderling.model import PageFacts, State

NEAR_BITS = 3

_MASK = (1 << 64) - 1


def settled(claims: Iterable[tuple[int, int]], facts: Mapping[int, PageFacts]) -> list[tuple[int, int]]:
    """Of claims (page, the page it stands for) those that hold, each page under the name that stands for all."""
    alias: dict[int, int] = {}
    for page, target in claims:
        mine, theirs = facts.get(page), facts.get(target)
        if mine is None or theirs is None or not _same(mine, theirs):
            continue
        name = alias.get(target, theirs.alias) or target
        if name != page and alias.get(page, mine.alias) != name:
            alias[page] = name
    return list(alias.items())


def _same(page: PageFacts, target: PageFacts) -> bool:
    if target.state != State.FETCHED or not 200 <= target.status < 300:
        return False
    if 300 <= page.status < 400:
        return True
    if not page.simhash or not target.simhash:  # without text there is nothing to compare
        return False
    return page.text_digest == target.text_digest or ((page.simhash ^ target.simhash) & _MASK).bit_count() <= NEAR_BITS
