"""Pages that say they are only another name of a page: by `rel=canonical`, or by moving for good.

The word of a page is a claim. Nothing is hidden because of it: the page is kept, what it stands for
is visited too, and they are one page only when that one exists and says the same.
"""

from collections.abc import Iterable, Mapping

from sanderling.model import NEAR_BITS, PageFacts, State

# Of names that stand for names; a longer one is a joke.
LONGEST_CHAIN = 20

_MASK = (1 << 64) - 1


def settled(claims: Iterable[tuple[int, int]], facts: Mapping[int, PageFacts]) -> list[tuple[int, int]]:
    """Of claims (page, the page it stands for) those that hold, each page under the name that
    stands for all."""
    made, alias = list(claims), dict[int, int]()
    for _ in range(LONGEST_CHAIN):
        before = len(alias)
        for page, target in made:
            name = _end(target, alias, facts)
            mine = facts.get(page)
            if mine is None or not any(_same(mine, facts[each]) for each in (target, name) if each in facts):
                continue
            if name != page and alias.get(page, mine.alias) != name:
                alias[page] = name
        if len(alias) == before:  # else what moved to a page that moved may be settled now
            break
    return list(alias.items())


def _end(name: int, alias: Mapping[int, int], facts: Mapping[int, PageFacts]) -> int:
    """The page at the end of a chain of names."""
    for _ in range(LONGEST_CHAIN):
        further = alias.get(name) or (facts[name].alias if name in facts else 0)
        if not further:
            break
        name = further
    return name


def _same(page: PageFacts, target: PageFacts) -> bool:
    if target.state != State.FETCHED or not 200 <= target.status < 300:
        return False
    if 300 <= page.status < 400:
        return True
    if not page.simhash or not target.simhash:  # without text there is nothing to compare
        return False
    return page.text_digest == target.text_digest or ((page.simhash ^ target.simhash) & _MASK).bit_count() <= NEAR_BITS
