"""Ranks hits by their words and the importance of the page, and folds hits with the same text.

The first score of a document is BM25 over its fields (`schema.WEIGHTS`). The best few hundred get a
final score:

    score = BM25 * (1 + sqrt(importance)) * (1 + relevance)

Importance goes from 0 (not known) to 1. So the most important page gets the score of an unknown
page whose BM25 is twice as high. Importance is PageRank divided by the highest PageRank. Most pages
are far below 1; the square root makes the differences between them count. Relevance for the topic
of the crawl goes from 0 to 1, and is 0 without a topic. A search reads both from the store, not
from the index, so they are never stale.
"""

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

import tantivy

from sanderling.model import NEAR_BITS, HitFacts

Facts = Callable[[list[int]], Mapping[int, HitFacts]]


class Candidate(NamedTuple):
    """One of the best documents."""

    score: float
    place: tantivy.DocAddress
    page: int
    number: int
    digest: int  # of the text; 0 for none
    simhash: int  # 0 for a text of a few words
    exact: int  # of the title, the data and the digits
    facts: HitFacts


class Folded(NamedTuple):
    """A hit and its near-duplicates."""

    best: Candidate
    others: list[Candidate]


def blended(bm25: float, importance: float, relevance: float = 0.0) -> float:
    return bm25 * (1.0 + math.sqrt(min(max(importance, 0.0), 1.0))) * (1.0 + relevance)


def rank(searcher: tantivy.Searcher, found: list[tuple[float, tantivy.DocAddress]], facts: Facts) -> list[Candidate]:
    """Puts the best documents in their final order. Drops those that ask not to be shown
    (noindex), and those that left the collection."""
    places = [place for _, place in found]
    columns = [searcher.fast_field_values(name, places) for name in ("page", "number", "digest", "simhash", "exact")]
    known = facts([int(page or 0) for page in columns[0]])
    nothing = HitFacts(0.0, 0.0, False, False)
    scored = [
        Candidate(blended(score, about.importance, about.relevance), place, page, number, digest, simhash, exact, about)
        for (score, place), page, number, digest, simhash, exact in zip(found, *columns, strict=True)
        for about in [known.get(page, nothing)]
        if not about.noindex and not about.left_collection
    ]
    # With equal scores, aliases come after the page itself, then the page that was found first
    # comes first, and the newer version of a page comes before older ones.
    return sorted(scored, key=lambda each: (-each.score, each.facts.alias, each.page, -each.number))


def fold(candidates: list[Candidate]) -> list[Folded]:
    """Folds near-duplicates into the best of them: hits with the same text, or with a similar text
    and the same title, data and digits."""
    hits: list[Folded] = []
    by_digest: dict[int, Folded] = {}
    by_exact: dict[int, list[Folded]] = {}
    for each in candidates:
        same = by_digest.get(each.digest) if each.digest else None
        if same is None and each.simhash:
            alike = by_exact.get(each.exact, [])
            same = next((hit for hit in alike if (hit.best.simhash ^ each.simhash).bit_count() <= NEAR_BITS), None)
        if same is not None:
            same.others.append(each)
            continue
        hit = Folded(each, [])
        hits.append(hit)
        if each.digest:
            by_digest[each.digest] = hit
        if each.simhash:
            by_exact.setdefault(each.exact, []).append(hit)
    return hits
