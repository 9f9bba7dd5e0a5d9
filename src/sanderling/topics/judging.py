"""How well texts fit a topic: runs for every page and every new link of a crawl that has one."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import msgspec

from sanderling.model import Found
from sanderling.topics import words
from sanderling.topics.model import Weights

if TYPE_CHECKING:
    from sanderling.documents.visible import Span

# 1 + log(n) for the number of times a word stands in a text.
_OFTEN = [0.0, *(1.0 + math.log(n) for n in range(1, words.LENGTH + words.LINKED_LENGTH + 1))]
_SQUARES = [often * often for often in _OFTEN]
_NONE: dict[str, int] = {}
# A word that says nothing adds so little to the square of a text's length.
_COMMON = (0.01, 0.0)
# A text of so few words says too little for a judgement of its own, so it counts as if it had as
# many.
SHORTEST, SHORTEST_WITH_LINKS = 6, 24
# Texts repeat about half of their words. A page that repeats nearly all of them was made for search
# engines.
FEWEST_TOLD, LEAST_VARIETY = 100, 0.12
# A word that stands only in the links of a page counts as this share of one outside, however often
# it stands there: whoever makes a page for search engines fills it with links. The second share is
# for a page with fewer words outside links than BARE, and for those words, too: mostly they are its
# title.
LINKED, LINKED_BARE, BARE = 0.5, 0.25, 20
# In 400 pages of documentation the twelve words that speak most for a topic were up to 14 % of the
# words of a page, except on two pages. A page with a larger share of them was made for search
# engines.
NAMING, MOST_NAMED = 12, 0.15
# A page about a list of words that the user typed names more of them: this share for each word.
NAMED_A_WORD, MOST_LISTED = 0.05, 0.3
# Below this relevance a closer look is of no use.
WORTH_A_LOOK = 0.2
# A word of the anchor counts as much as this many words around it; the same for words of the URL.
ANCHOR, ADDRESS = 3, 2


class Judge:
    """Tells the relevance of texts, from 0 to 1."""

    def __init__(self, weights: Weights) -> None:
        # What each word adds to the square of a text's length, and to its score.
        self._words = dict.fromkeys(words.COMMON, _COMMON)
        self._words |= {word: (rare * rare, rare * weight) for word, (rare, weight) in weights.words.items()}
        self._unknown = weights.rarest * weights.rarest
        self._least, self._least_linked = SHORTEST * self._unknown, SHORTEST_WITH_LINKS * self._unknown
        strength = {word: rare * weight for word, (rare, weight) in weights.words.items() if word not in words.COMMON}
        self._naming = sorted(strength, key=strength.__getitem__, reverse=True)[:NAMING]
        typed = len(strength) <= NAMING  # examples have more words
        self._most_named = max(MOST_NAMED, min(NAMED_A_WORD * len(strength), MOST_LISTED)) if typed else MOST_NAMED
        self._bias, self._slope, self._offset = weights.bias, weights.slope, weights.offset

    def page(self, title: str, text: str, links: "Sequence[Span]" = ()) -> float:
        """The relevance of a page, mostly by its text outside links."""
        linked = _NONE
        if links:
            text, told = words.apart(text, links)
            linked = words.tallied(words.listed(told))
        found = words.counted(f"{title}\n{text}" if title else text)
        relevance = self._relevance(found, linked)
        return relevance if relevance < WORTH_A_LOOK else relevance * self._honesty(found, linked)

    def each(self, title: str, text: str, links: "Sequence[Span]" = ()) -> dict[str, float]:
        """The relevance of a page for each of several topics; empty with one."""
        return {}

    def _honesty(self, found: Counter[str], linked: dict[str, int]) -> float:
        """Less than 1 for a page that repeats the same few words, or those of the topic, more than
        people do."""
        told = found.total()
        total = told + sum(linked.values())
        if total < FEWEST_TOLD:
            return 1.0
        varied = len(found.keys() | linked.keys()) / (LEAST_VARIETY * total)
        named = sum(map(found.__getitem__, self._naming)) / (self._most_named * max(told, FEWEST_TOLD))
        return float(min(1.0, varied, 1.0 / max(named, 1.0)) ** 2)

    def link(self, anchor: str, around: str, url: str) -> float:
        """What the words of a link say about the page that it leads to, which was not seen
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

    def _relevance(self, found: dict[str, int], linked: dict[str, int] = _NONE) -> float:
        score, find, unknown = 0.0, self._words.get, self._unknown
        length, others, squares, often = 0.0, 0.0, _SQUARES, _OFTEN
        for times, entry in zip(found.values(), map(find, found), strict=True):
            if entry is None:
                others += squares[times]
            else:
                length += entry[0] * squares[times]
                score += entry[1] * often[times]
        length += unknown * others
        bare = bool(linked) and len(found) < BARE
        if bare:
            score *= LINKED_BARE
        for word, times in linked.items():
            outside = found.get(word, 0)
            square, weight = find(word) or (unknown, 0.0)
            length += square * (_SQUARES[outside + times] - _SQUARES[outside])
            if weight and not outside:
                score += weight * (LINKED_BARE if bare else LINKED)
            elif weight and not bare:
                score += weight * (_OFTEN[outside + 1] - _OFTEN[outside])
        value = score / math.sqrt(max(length, self._least_linked if linked else self._least)) + self._bias
        return 1.0 / (1.0 + math.exp(-max(-60.0, min(60.0, self._slope * value + self._offset))))


class TopicsJudge(Judge):
    """The same for several topics: what fits one of them is relevant."""

    def __init__(self, weights: Iterable[tuple[str, Weights]]) -> None:
        self._judges = {name: Judge(each) for name, each in weights}

    def each(self, title: str, text: str, links: "Sequence[Span]" = ()) -> dict[str, float]:
        return {name: round(judge.page(title, text, links), 4) for name, judge in self._judges.items()}

    def page(self, title: str, text: str, links: "Sequence[Span]" = ()) -> float:
        return max(self.each(title, text, links).values())

    def link(self, anchor: str, around: str, url: str) -> float:
        return max(judge.link(anchor, around, url) for judge in self._judges.values())


def judge_by(encoded: bytes) -> Judge:
    """What judges by `model.for_clients`."""
    if encoded.startswith(b"["):
        return TopicsJudge(msgspec.json.decode(encoded, type=list[tuple[str, Weights]]))
    return Judge(msgspec.json.decode(encoded, type=Weights))


# The name under which the data of a version has its relevance for each topic, beside what
# extractors say.
EACH = "topics"


def with_topics(data: bytes, by_topic: dict[str, float]) -> bytes:
    """The data of a version with its relevance for each of several topics, and without older
    ones."""
    if not by_topic and not data:
        return data
    known = msgspec.json.decode(data or b"{}", type=dict[str, msgspec.Raw])
    known.pop(EACH, None)
    if by_topic:
        known[EACH] = msgspec.Raw(msgspec.json.encode(by_topic))
    return msgspec.json.encode(known) if known else b""
