"""Which word to ask for next: the one with the most expected new records for its cost.

How many records a word has is not known before it is asked for. It is estimated from the records
that were read. Those are no fair sample of the rest: they are what earlier words found. Records
that two queries have found say what is found easily. Records that only one query has found are most
like those that none has found (as in the estimate of Good and Turing), so only they are counted.
Words also keep company: a word that is common in the records of one query was harvested with it. So
for each word the query that it is most common with is left out.
"""

import math
from collections import Counter
from collections.abc import Collection, Iterable
from typing import NamedTuple

import msgspec

# Words that are remembered. Beyond that the rarest are forgotten.
MOST = 30_000
# Records whose words are kept because one query only has found them. Beyond that, half of them are
# left out, by their identities, which are as good as random. With 1,000, 83 % of 5,000 records are
# reached after 100 queries, with 2,000 85 %.
MOST_TEXTS = 2000
# A word on nearly every record is a part of the layout, or one that search engines leave out.
EVERYWHERE = 0.8
# Records that have to be read before their words are preferred to those of other pages.
FEW = 5
# What a query costs beside its requests, in requests: it is one of the few that a day allows. Of 6,
# 10 and 20, the queries for 90 % against an oracle's with ten pages of ten: 1.46, 1.46 and 1.41.
QUERY = 20.0
# For how many records the share of all records that have a word counts. Of 1, 3 and 10, the queries
# for 90 % in the lab, against an oracle's: 1.43, 1.42 and 1.42 with 100 results a query.
PRIOR = 3.0


class FoundText(NamedTuple):
    """The words of a record, and the only query that has found it."""

    query: int
    words: list[str]


class Choice(NamedTuple):
    """A word to ask for, and how many new records it is expected to bring."""

    word: str
    new: float


class Vocabulary(msgspec.Struct):
    """The words of the records that were read."""

    known: dict[str, int] = {}  # records that have a word
    records: int = 0
    texts: dict[int, FoundText] = {}  # of records that were found once
    words: dict[str, dict[int, int]] = {}  # the same, by word and query
    once: dict[int, int] = {}  # how many they are, by query
    below: int = 1 << 32  # identities from here on are left out
    other: dict[str, int] = {}  # words of other pages, and of answers
    pages: int = 0

    def add_record(self, id: int, words: Iterable[str], query: int) -> None:
        """`query` is the only one that has found the record, or 0."""
        text = FoundText(query, list(words))
        self.records += 1
        for word in text.words:
            self.known[word] = self.known.get(word, 0) + 1
        if query and id not in self.texts and _place(id) < self.below:
            self.texts[id] = text
            self._count(text, 1)
            if len(self.texts) > MOST_TEXTS:
                self._leave_out()
        if len(self.known) > MOST:
            self._forget()

    def found_again(self, id: int) -> None:
        """Another query has found a record."""
        if (text := self.texts.pop(id, None)) is not None:
            self._count(text, -1)

    def add_page(self, words: Iterable[str]) -> None:
        """A page that is no record, or an answer."""
        self.pages += 1
        for word in words:
            self.other[word] = self.other.get(word, 0) + 1
        if len(self.other) > MOST:
            self.other = dict(Counter(self.other).most_common(MOST // 2))

    def best(
        self, tried: Collection[str], unseen: float, shown: int, per_page: int, whole: bool = False
    ) -> Choice:  # fmt: skip
        """The next word; empty if there is none. `unseen` records are expected beside those that
        were found, and a query shows at most `shown`. With `whole`, words come first whose records
        are probably all shown."""
        if self.records >= FEW:
            most = EVERYWHERE * self.records if self.records > 2 * FEW else math.inf
            once = sum(self.once.values())
            scored = (
                (not whole or new + known <= shown, worth(new, known, shown, per_page), word, new)
                for word, known in self.known.items()
                if known <= most and word not in tried and (new := unseen * self._rate(word, known, once)) > 0
            )
            _, _, word, new = max(scored, default=(True, 0.0, "", 0.0))
            if word:
                return Choice(word, min(new, shown))
        # The rarer half of frequent words first: what stands on every page is a menu.
        few = [word for word, count in self.other.items() if word not in tried and count <= EVERYWHERE * self.pages]
        left = few or [word for word in self.other if word not in tried]
        return Choice(max(left, key=lambda word: (self.other[word], word), default=""), 0.0)

    def _rate(self, word: str, known: int, once: int) -> float:
        """The share of the records that were not found yet that have a word."""
        counts = self.words.get(word)
        usual = PRIOR * known / self.records
        if not counts:
            return usual / (once + PRIOR)
        company = max(counts, key=lambda query: counts[query] / (self.once[query] or 1))
        others = once - self.once[company]
        return (sum(counts.values()) - counts[company] + usual) / (others + PRIOR)

    def _count(self, text: FoundText, by: int) -> None:
        self.once[text.query] = self.once.get(text.query, 0) + by
        for word in text.words:
            counts = self.words.setdefault(word, {})
            counts[text.query] = max(0, counts.get(text.query, 0) + by)

    def _leave_out(self) -> None:
        self.below = sorted(map(_place, self.texts))[len(self.texts) // 2]
        for id in [id for id in self.texts if _place(id) >= self.below]:
            self.found_again(id)

    def _forget(self) -> None:
        self.known = dict(Counter(self.known).most_common(MOST // 2))
        self.words = {word: counts for word, counts in self.words.items() if word in self.known}


def worth(new: float, known: int, shown: int, per_page: int) -> float:
    """New records for each request, of a word that `new` unknown and `known` known records have."""
    every = new + known
    seen = min(float(shown), every)
    # Of a list that is cut off, the first ones are those that other words show as well.
    cut = shown / every if every > shown else 1.0
    return seen * (new / every) * cut / (QUERY + math.ceil(seen / max(1, per_page)))


def _place(id: int) -> int:
    return id & 0xFFFFFFFF
