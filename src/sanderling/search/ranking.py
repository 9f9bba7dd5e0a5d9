"""The order of hits: how well the words fit, times how important the page is; and what says the same is folded.

The score of a document is BM25 over its fields (`schema.WEIGHTS`). The best few hundred are weighed again:

    score = BM25 * (1 + sqrt(importance))

with an importance from 0 (not known) to 1, so that the most important page counts as much as an unknown one that fits
twice as well. Importance is a share of the highest PageRank, which few pages come near: the root lets others count, too.
It is read from the store when somebody asks, not from the index: it is never stale.
"""

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

import tantivy

from sanderling.model import NEAR_BITS, HitFacts

Facts = Callable[[list[int]], Mapping[int, HitFacts]]


class Candidate(NamedTuple):
    """A document among the best."""

    score: float
    place: tantivy.DocAddress
    page: int
    number: int
    digest: int  # of the text; 0 for none
    simhash: int
    name: int  # of the title
    facts: HitFacts


class Folded(NamedTuple):
    """A hit, and the others that say the same."""

    best: Candidate
    others: list[Candidate]


def blended(bm25: float, importance: float) -> float:
    return bm25 * (1.0 + math.sqrt(min(max(importance, 0.0), 1.0)))


def weigh(searcher: tantivy.Searcher, found: list[tuple[float, tantivy.DocAddress]], facts: Facts) -> list[Candidate]:
    """The best documents in their final order, without those that ask not to be shown."""
    places = [place for _, place in found]
    columns = [searcher.fast_field_values(name, places) for name in ("page", "number", "digest", "simhash", "name")]
    known = facts([int(page or 0) for page in columns[0]])
    nothing = HitFacts(0.0, 0.0, False, False)
    weighed = [
        Candidate(blended(score, about.importance), place, page, number, digest, simhash, name, about)
        for (score, place), page, number, digest, simhash, name in zip(found, *columns, strict=True)
        for about in [known.get(page, nothing)]
        if not about.noindex
    ]
    # Of equals, what is only another name of a page comes after the page itself, then what was found first, and of one
    # page the newer version.
    return sorted(weighed, key=lambda each: (-each.score, each.facts.alias, each.page, -each.number))


def fold(candidates: list[Candidate]) -> list[Folded]:
    """Hits with the same text, or the same title and nearly the same text, as one in the place of the best of them."""
    hits: list[Folded] = []
    by_digest: dict[int, Folded] = {}
    by_name: dict[int, list[Folded]] = {}
    for each in candidates:
        same = by_digest.get(each.digest) if each.digest else None
        if same is None and each.simhash:
            alike = by_name.get(each.name, [])
            same = next((hit for hit in alike if (hit.best.simhash ^ each.simhash).bit_count() <= NEAR_BITS), None)
        if same is not None:
            same.others.append(each)
            continue
        hit = Folded(each, [])
        hits.append(hit)
        if each.digest:
            by_digest[each.digest] = hit
        if each.simhash:
            by_name.setdefault(each.name, []).append(hit)
    return hits
