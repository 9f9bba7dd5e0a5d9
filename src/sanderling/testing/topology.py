"""The links of a synthetic web: a tree on each host, and random links."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from sanderling.testing.chance import MASK, draw, fraction, longs, scramble

ELSEWHERE = 0.1
"""The share of random links that lead to another host."""

_LINKS = 0x6C696E6B73
_TOPIC, _KEPT = 31, 32
# This many random pages are looked at for one with the same topic.
TRIES = 40
NO_TOPIC = -1


class PlannedPage(NamedTuple):
    host: int
    number: int


@dataclass(frozen=True)
class Topology:
    hosts: int
    pages: int
    seed: int
    links: int
    appear: float
    skew: float
    topics: int = 0
    locality: float = 0.0

    @cached_property
    def initial(self) -> list[int]:
        """How many pages each host has at time 0."""
        return [self.pages // self.hosts + (host < self.pages % self.hosts) for host in range(self.hosts)]

    @cached_property
    def total(self) -> list[int]:
        """How many pages each host has at the end. Newcomers have the highest numbers, so they are
        leaves."""
        return [count + round(self.appear * count) for count in self.initial]

    @cached_property
    def branching(self) -> int:
        return max(2, self.links // 2)

    @cached_property
    def _host_keys(self) -> list[int]:
        return [scramble((scramble(self.seed & MASK) + host) & MASK) for host in range(self.hosts)]

    def key(self, page: PlannedPage) -> int:
        """The key from which all random numbers of the page are computed."""
        return scramble((self._host_keys[page.host] + page.number) & MASK)

    def topic(self, page: PlannedPage) -> int:
        """What a page is about: often the same as the page above it in the tree. Front pages have
        no topic."""
        if not self.topics or not page.number:
            return NO_TOPIC
        key = self.key(page)
        above = self.parent(page)
        if above.number and fraction(key, _KEPT) < self.locality:
            return self.topic(above)
        return draw(key, _TOPIC) % self.topics

    def children(self, page: PlannedPage) -> range:
        """The numbers of the child pages in the tree."""
        first = page.number * self.branching + 1
        return range(first, min(first + self.branching, self.total[page.host]))

    def parent(self, page: PlannedPage) -> PlannedPage:
        return PlannedPage(page.host, (page.number - 1) // self.branching)

    def neighbours(self, page: PlannedPage) -> list[PlannedPage]:
        """Front pages link to others, in a ring that reaches all hosts and a binary tree that makes
        paths short."""
        if page.number:
            return []
        hosts = {(page.host + 1) % self.hosts, 2 * page.host + 1, 2 * page.host + 2}
        return [PlannedPage(host, 0) for host in sorted(hosts) if host < self.hosts]

    def chance_targets(self, page: PlannedPage, key: int) -> list[PlannedPage]:
        """Random links to pages of time 0, up to `links` in all. With `skew`, low numbers get most
        of them."""
        count = self.links - 1 - len(self.children(page))
        if count <= 0:
            return []
        targets = [self._target(page, number) for number in longs(key ^ _LINKS, count)]
        if not self.topics or not self.locality or not page.number:
            return targets
        return [self._alike(page, target, number) for target, number in zip(targets, longs(key, count), strict=True)]

    def _target(self, page: PlannedPage, number: int) -> PlannedPage:
        host, power = page.host, 1 / (1 - self.skew)
        place, way = (number >> 20) * 2.0**-44, (number & 0xFFFFF) * 2.0**-20
        if self.hosts > 1 and way < ELSEWHERE:
            host = int(self.hosts * (way / ELSEWHERE) ** power)
        return PlannedPage(host, int(self.initial[host] * place**power))

    def _alike(self, page: PlannedPage, target: PlannedPage, number: int) -> PlannedPage:
        """Another target with the topic of the page, in as many cases as the locality says."""
        if (number & 0xFFFF) * 2.0**-16 >= self.locality:
            return target
        topic = self.topic(page)
        for _ in range(TRIES):
            if self.topic(target) == topic:
                break
            number = scramble(number)
            target = self._target(page, number)
        return target
