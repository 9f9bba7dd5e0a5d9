"""The times at which pages of the synthetic web appear, change and vanish.

Each page changes by a Poisson process with its own rate. Rates are distributed as on the real web:
some pages never change, and the rates of the others are log-normal. Everything is a pure function
of the page's key.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

from sanderling.clock import DAY
from sanderling.testing.chance import EVENTS_PER_CELL, draw, events_in_cell, fraction, lognormal

Kind = Literal["text", "structure", "presentation", "image", "links", "appear", "vanish"]


class ScheduledChange(NamedTuple):
    """One change of a page. `links` means that the page got or lost the link to a child page."""

    at: float
    kind: Kind


class Lifetime(NamedTuple):
    born: float
    dies: float

    def covers(self, t: float) -> bool:
        return self.born <= t < self.dies


ALWAYS = Lifetime(-math.inf, math.inf)


class ScheduledEdit(NamedTuple):
    at: float
    kind: Kind
    paragraph: int
    stamp: int


class Condition(NamedTuple):
    """The state of a page at some time: the stamp of the last edit of each aspect (0 if never
    edited)."""

    text: dict[int, int]
    structure: int
    presentation: int
    image: int
    modified: float


EDITABLE_PARAGRAPHS = 8
_RATE, _STATIC, _BORN, _VANISHES, _DIES, _EDITS = range(1, 7)


@dataclass(frozen=True)
class PageSchedule:
    change_rate: float
    unchanging: float
    rate_spread: float
    vanish: float
    span: float

    def rate(self, key: int) -> float:
        """The true rate of a page, in edits per second."""
        if self.change_rate == 0 or fraction(key, _STATIC) < self.unchanging:
            return 0.0
        mean = self.change_rate / DAY / (1 - self.unchanging)
        return mean * lognormal(key, _RATE, self.rate_spread)

    def vanishes(self, key: int) -> bool:
        return self.vanish > 0 and fraction(key, _VANISHES) < self.vanish

    def lifetime(self, key: int, *, newcomer: bool) -> Lifetime:
        born = self.span * (1 - fraction(key, _BORN)) if newcomer else -math.inf
        if not self.vanishes(key):
            return Lifetime(born, math.inf)
        start = max(born, 0.0)
        return Lifetime(born, start + (self.span - start) * (1 - fraction(key, _DIES)))

    def edits(self, key: int, t0: float, t1: float) -> Iterator[ScheduledEdit]:
        """The edits in (t0, t1], oldest first."""
        rate = self.rate(key)
        if rate == 0 or t1 <= 0:
            return
        width = EVENTS_PER_CELL / rate
        for cell in range(max(0, math.floor(t0 / width)), math.floor(t1 / width) + 1):
            yield from (edit for edit in self._cell(key, cell, width) if t0 < edit.at <= t1)

    def condition(self, key: int, t: float, paragraphs: int) -> Condition:
        """The state at `t`. It goes back in time only until the last edit of every aspect is
        found."""
        text: dict[int, int] = {}
        latest: dict[Kind, int] = {}
        modified = -math.inf
        rate = self.rate(key) if t > 0 else 0.0
        if rate:
            width = EVENTS_PER_CELL / rate
            editable = min(paragraphs, EDITABLE_PARAGRAPHS)
            for cell in range(math.floor(t / width), -1, -1):
                for edit in reversed(self._cell(key, cell, width)):
                    if edit.at > t:
                        continue
                    modified = max(modified, edit.at)
                    latest.setdefault(edit.kind, edit.stamp)
                    if edit.kind == "text":
                        text.setdefault(edit.paragraph % editable, edit.stamp)
                if len(latest) == 4 and len(text) == editable:
                    break
        return Condition(
            text, latest.get("structure", 0), latest.get("presentation", 0), latest.get("image", 0), modified
        )

    def _cell(self, key: int, cell: int, width: float) -> list[ScheduledEdit]:
        return [
            ScheduledEdit((cell + place) * width, _kind(stamp & 0xFF), stamp >> 8 & 0xFF, stamp | 1)
            for place, stamp in events_in_cell(draw(key, _EDITS), cell)
        ]


def _kind(byte: int) -> Kind:
    """Three of five edits change the text."""
    if byte < 154:
        return "text"
    if byte < 192:
        return "structure"
    return "presentation" if byte < 224 else "image"
