"""Which word to ask for next: the one with the most expected new records for its cost.

How many records a word has is not known before it is asked for. It is estimated from the records
that were read, and those are no fair sample: they are what earlier words found, and words keep
company. So for each word the query that it is most common with is left out; a word that is common
with that one query only was harvested with it. In simulations 90 % of the records take half as many
queries as with the most frequent word first (`sanderling lab forms`).
"""

import math
from collections import Counter
from collections.abc import Collection, Iterable

import msgspec

# Words that are remembered. Beyond that the rarest are forgotten.
MOST = 30_000
# A word on nearly every record is a part of the layout, or one that search engines leave out.
EVERYWHERE = 0.8
# Records that have to be read before their words are preferred to those of other pages.
FEW = 5
# What a query costs beside its requests, in requests: it is one of the few that a day allows.
QUERY = 3.0
# How many standard errors are taken from a guess. Of 0, 0.5 and 1, the queries for 90 % in the lab,
# against an oracle's: 1.66, 1.44 and 1.50 with 100 results a query, 2.11, 1.66 and 1.89 with 50.
DOUBT = 0.5


class Vocabulary(msgspec.Struct):
    """The words of the records that were read, by the query that found each record."""

    words: dict[str, dict[int, int]] = {}
    read: dict[int, int] = {}  # records by query
    other: dict[str, int] = {}  # words of other pages, and of answers
    pages: int = 0

    def add_record(self, words: Iterable[str], query: int) -> None:
        self.read[query] = self.read.get(query, 0) + 1
        for word in words:
            counts = self.words.setdefault(word, {})
            counts[query] = counts.get(query, 0) + 1
        if len(self.words) > MOST:
            self._forget()

    def add_page(self, words: Iterable[str]) -> None:
        """A page that is no record, or an answer."""
        self.pages += 1
        for word in words:
            self.other[word] = self.other.get(word, 0) + 1
        if len(self.other) > MOST:
            self.other = dict(Counter(self.other).most_common(MOST // 2))

    def best(self, tried: Collection[str], records: float, shown: int, per_page: int) -> str:
        """The next word; empty if there is none. `records` are expected in all, and a query shows
        at most `shown`."""
        read = sum(self.read.values())
        if read >= FEW:
            unseen = max(records - read, 0.02 * read)
            most = EVERYWHERE * read if read > 2 * FEW else math.inf
            scored = (
                (expected(counts, self.read, read, unseen, shown, per_page), word)
                for word, counts in self.words.items()
                if word not in tried and sum(counts.values()) <= most
            )
            score, word = max(scored, default=(0.0, ""))
            if score > 0:
                return word
        # The rarer half of frequent words first: what stands on every page is a menu.
        few = [word for word, count in self.other.items() if word not in tried and count <= EVERYWHERE * self.pages]
        left = few or [word for word in self.other if word not in tried]
        return max(left, key=lambda word: (self.other[word], word), default="")

    def _forget(self) -> None:
        kept = sorted(self.words.items(), key=lambda item: -sum(item[1].values()))[: MOST // 2]
        self.words = dict(kept)


def expected(
    counts: dict[int, int], sizes: dict[int, int], read: int, unseen: float, shown: int, per_page: int
) -> float:
    """New records for each request, of a word that was found so often with each query."""
    known = sum(counts.values())
    company, most = max(counts.items(), key=lambda item: item[1] / sizes[item[0]])
    others = read - sizes[company]
    rate = (known - most) / others if others else known / read
    # The best of thousands of guesses is one that is too high, so a guess from few records counts
    # for less.
    new = (rate - DOUBT * math.sqrt(rate / (others or read))) * unseen
    if new <= 0:
        return 0.0
    all_of_it = new + known
    seen = min(float(shown), all_of_it)
    # Of a list that is cut off, the first ones are those that other words show as well.
    cut = shown / all_of_it if all_of_it > shown else 1.0
    return seen * (new / all_of_it) * cut / (QUERY + math.ceil(seen / max(1, per_page)))
