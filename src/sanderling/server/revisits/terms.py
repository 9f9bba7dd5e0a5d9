"""What a refresh may spend: a number of visits or bytes, at once or in each hour."""

import re
from typing import Literal

import msgspec

from sanderling.clock import DAY
from sanderling.errors import UsageError
from sanderling.settings import DURATIONS, SIZES

OBJECTIVES = ("freshness", "changes")


class Budget(msgspec.Struct, frozen=True):
    """`amount` of a unit; `period` is in how many seconds it may be spent again, 0 for once."""

    amount: float
    unit: Literal["visits", "bytes"] = "visits"
    period: float = 0.0

    @property
    def a_day(self) -> float:
        return self.amount * DAY / self.period if self.period else self.amount


class Terms(msgspec.Struct, frozen=True):
    """How a refresh chooses what to visit."""

    budget: Budget
    policy: str = "optimal"
    objective: str = "freshness"
    forever: bool = False
    sitemaps: bool = True
    threshold: float = 0.5  # by-rank: the least rank of pages that are visited
    levels: int = 2  # top-levels: the deepest level that is visited
    only_asked: bool = False  # nothing is planned: pages are visited when somebody asks for it
    always: tuple[str, ...] = ()  # pages that are kept fresh, whatever the policy says


def read_budget(text: str) -> Budget:
    """From `500`, `2000/h`, `50MB` or `50MB/h`."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*(?:/\s*(\d*)\s*([a-z]+))?\s*", text)
    if not match or (match[2] and match[2] not in SIZES) or (match[4] and match[4] not in DURATIONS):
        raise UsageError(f"--budget {text!r} is not a number of visits or bytes such as 500, 2000/h, 50MB or 50MB/h")
    period = DURATIONS[match[4]] * float(match[3] or 1) if match[4] else 0.0
    amount = float(match[1]) * SIZES[match[2]]
    if amount <= 0 or (match[4] and period <= 0):
        raise UsageError(f"--budget {text}: with a budget of 0 nothing is ever visited, so there is nothing to do")
    if amount < 1 and not period:
        raise UsageError(f"--budget {text} is less than one visit")
    return Budget(amount, "bytes" if match[2] else "visits", period)
