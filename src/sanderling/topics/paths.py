"""What kinds of links have led to the topic: learned while crawling, so that pages off the topic
get credit for what lies behind them.

A link has several *kinds*: its text, the words of its text and of its URL, the shape of its URL,
and the kind of page that it stands on. A visited page is worth what it is itself, or a share of the
best page behind it, less for each step: with the share as the discount, this is the distance to the
nearest page of the topic. The worth of a link is the sum of what its kinds add. If the topic is
found behind "Faculty list → Publications", links of these kinds come first wherever they stand.
"""

import re
from array import array
from collections.abc import Iterator
from itertools import islice
from zlib import crc32

from msgspec import Struct

from sanderling.topics import words

# Each step to the next page on the topic leaves this share of its worth, for so many steps. With
# 0.5 a chain of three pages is found too late (`lab focus`).
DISCOUNT, STEPS = 0.7, 6
# Kinds are hashed into so many places, however large a crawl is.
PLACES = 1 << 18
# How many words of a text or of a URL count, and how much of the text of a link is one kind.
WORDS, LONGEST = 8, 60
# What a visit teaches at once, and how many earlier ones are learned again with it: what they are
# worth may have risen since.
RATE, REPLAYS = 0.5, 6
# Of the last so many pages it is known over which links they were found, and of so many links that
# wait what kinds they have: about 250 bytes each.
TRAIL, MOST = 50_000, 200_000
# What the expected gain of a link adds to its rank; less, the more of all pages are on the topic.
WEIGHT = 0.5
# While less than this share of all pages is on the topic, links with a text that several have
# and that was hardly tried are worth a try; with a text of their own, those on a kind of page that
# was hardly tried.
CURIOSITY, ENOUGH = 0.2, 0.2
_DIGITS = re.compile(r"\d+")

Kinds = tuple[int, ...]


class Passed(Struct, gc=False):
    """A page that was visited, and what it was worth."""

    via: int
    kinds: Kinds
    worth: float


class PathModel:
    """Learns from each visit, and says what a link probably leads to: a linear model of kinds."""

    most = TRAIL  # pages that it remembers

    def __init__(self, relatedness: float) -> None:
        """A page of at least this relevance is on the topic."""
        self._relatedness = relatedness
        self._adds = array("d", bytes(8 * PLACES))  # what a kind adds to the expected worth
        self._seen, self._waiting = array("l", bytes(8 * PLACES)), array("l", bytes(8 * PLACES))
        self._pages, self._total, self._relevant = 0, 0.0, 0.0
        self._passed: dict[int, Passed] = {}
        self._trail: list[int] = []  # the identities of `_passed`; the oldest is overwritten
        self._links: dict[int, tuple[int, Kinds]] = {}  # that wait: the page they stand on, and their kinds
        self._turn: Iterator[int] = iter(())

    def met(self, id: int, via: int, url: str, anchor: str) -> None:
        """A link was found on a page, and waits."""
        if len(self._links) >= MOST or id in self._passed:
            return
        page = self._passed.get(via)
        kinds = kinds_of(url, anchor, page.kinds if page is not None else ())
        self._links[id] = via, kinds
        for kind in kinds:
            self._waiting[kind] += 1

    def forget(self, id: int) -> None:
        """It waits no longer."""
        if known := self._links.pop(id, None):
            for kind in known[1]:
                self._waiting[kind] -= 1

    def visited(self, id: int, relevance: float) -> None:
        """A page has turned out to be so relevant: it and the pages on the way to it get credit."""
        via, kinds = self._links.get(id, (0, ()))
        self.forget(id)
        if id in self._passed:
            return
        if relevance < self._relatedness:
            relevance = 0.0  # most models leave a little to pages that have nothing to do with it
        self._passed[id] = page = Passed(via, kinds, relevance)
        if len(self._trail) < TRAIL:
            self._trail.append(id)
        else:
            del self._passed[self._trail[self._pages % TRAIL]]
            self._trail[self._pages % TRAIL] = id
        self._pages += 1
        self._total += relevance
        self._relevant += relevance
        for kind in kinds:
            self._seen[kind] += 1
        self._learn(page)
        for _ in range(STEPS):
            relevance *= DISCOUNT
            before = self._passed.get(via)
            if before is None or before.worth >= relevance:
                break
            self._total += relevance - before.worth
            before.worth = relevance
            self._learn(before)
            via = before.via
        for n in range(REPLAYS):
            self._learn(self._passed[self._trail[(REPLAYS * self._pages + n) % len(self._trail)]])

    def ranked(self, id: int, rank: float) -> float:
        """The rank of a link with what its kinds say."""
        if (known := self._links.get(id)) is None or not self._pages:
            return rank
        kinds, mean, found = known[1], self._total / self._pages, self._relevant / self._pages
        gain = sum([self._adds[kind] for kind in kinds]) * (1.0 - found)
        if gain >= 0.0:
            rank += WEIGHT * gain
        elif mean > 0.0:
            rank *= max(0.0, 1.0 + gain / mean)
        if found < ENOUGH:
            text, _, page = kinds[:3]
            seen = self._seen[text if self._waiting[text] > 1 else page]
            rank += CURIOSITY * (1.0 - found / ENOUGH) / (1 + seen)
        return rank

    def next(self, most: int) -> list[int]:
        """Some of the links that wait, in turn: what is known of them may have changed."""
        found = [*islice(self._turn, most)]
        if len(found) < most:
            self._turn = iter([*self._links])
            found += islice(self._turn, most - len(found))
        return found

    def _learn(self, page: Passed) -> None:
        adds = self._adds
        wrong = page.worth - self._total / self._pages - sum([adds[kind] for kind in page.kinds])
        step = RATE * wrong / (len(page.kinds) + 1)
        for kind in page.kinds:
            adds[kind] += step


def kinds_of(url: str, anchor: str, page: Kinds) -> Kinds:
    """The kinds of a link that stands on a page of some kinds. First come its text, the shape of
    its URL, and the text of the link to its page."""
    text = " ".join(anchor.lower().split())
    found = [_place("=", _DIGITS.sub("0", text[:LONGEST])), _place("/", shape(url))]
    found += [_place("<", str(kind)) for kind in page[:2] or (0, 0)]
    found += [_place("a", word) for word in words.listed(text)[:WORDS] if word not in words.COMMON]
    found += [_place("u", word) for word in words.of_url(url)[-WORDS:]]
    return (*found[:3], *dict.fromkeys(found[3:]))


def shape(url: str) -> str:
    """The pattern of a URL without its host: every number as 0, and only the ending of its last
    name."""
    path = url.partition("://")[2].partition("/")[2].partition("?")
    folder, _, name = path[0].rpartition("/")
    _, dot, ending = name.rpartition(".")
    return f"{_DIGITS.sub('0', folder)}/{dot and ending}{path[1]}"


def _place(sort: str, text: str) -> int:
    return crc32(f"{sort}{text}".encode()) % PLACES
