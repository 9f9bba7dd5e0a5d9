"""How well texts fit a topic: runs for every page and every new link of a crawl that has one."""

import math
from collections.abc import Iterable

from sanderling.model import Found
from sanderling.topics import words
from sanderling.topics.model import Weights

# 1 + log(n) for the number of times a word stands in a text.
_OFTEN = [0.0, *(1.0 + math.log(n) for n in range(1, words.LENGTH))]
_SQUARES = [often * often for often in _OFTEN]
# A word that says nothing adds so little to the square of a text's length.
_COMMON = (0.01, 0.0)
# A text of so few words says too little for a judgement of its own, so it counts as if it had as
# many.
SHORTEST = 6
# Texts repeat about half of their words. A page that repeats nearly all of them was made for search
# engines.
FEWEST_TOLD, LEAST_VARIETY = 100, 0.12
# A word of the anchor counts as much as this many words around it; the same for words of the URL.
ANCHOR, ADDRESS = 3, 2


class Judge:
    """Tells the relevance of texts, from 0 to 1."""

    def __init__(self, weights: Weights) -> None:
        # What each word adds to the square of a text's length, and to its score.
        self._words = dict.fromkeys(words.COMMON, _COMMON)
        self._words |= {word: (rare * rare, rare * weight) for word, (rare, weight) in weights.words.items()}
        self._unknown = weights.rarest * weights.rarest
        self._least = SHORTEST * self._unknown
        self._bias, self._slope, self._offset = weights.bias, weights.slope, weights.offset

    def page(self, title: str, text: str) -> float:
        """The relevance of a page."""
        found = words.counted(f"{title}\n{text}" if title else text)
        relevance = self._relevance(found)
        total = found.total()
        if total >= FEWEST_TOLD and len(found) < LEAST_VARIETY * total:
            relevance *= (len(found) / (LEAST_VARIETY * total)) ** 2
        return relevance

    def link(self, anchor: str, around: str, url: str) -> float:
        """What the words of a link say about the page that it leads to, which nobody has seen
        yet."""
        found: dict[str, int] = {}
        said = words.listed(anchor)
        for word in said:
            found[word] = found.get(word, 0) + ANCHOR
        for word in said if around == anchor else words.listed(around):
            found[word] = found.get(word, 0) + 1
        for word in words.of_url(url):
            found[word] = found.get(word, 0) + ADDRESS
        return self._relevance(found)

    def links(self, found: Iterable[Found]) -> list[Found]:
        """Links of which only anchor and URL are known, with their relevance, unless they have
        one."""
        return [
            each if each.relevance else each._replace(relevance=self.link(each.anchor, "", each.url)) for each in found
        ]

    def _relevance(self, found: dict[str, int]) -> float:
        length, score, find, unknown = 0.0, 0.0, self._words.get, self._unknown
        for word, times in found.items():
            entry = find(word)
            if entry is None:
                length += unknown * _SQUARES[times]
            else:
                length += entry[0] * _SQUARES[times]
                score += entry[1] * _OFTEN[times]
        value = score / math.sqrt(max(length, self._least)) + self._bias
        return 1.0 / (1.0 + math.exp(-max(-60.0, min(60.0, self._slope * value + self._offset))))
