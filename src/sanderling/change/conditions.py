"""When a change of what is watched is told: texts that must or must not be there, and a number that
rises, falls or crosses a limit."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from sanderling.urls.patterns import pattern

# A number with the signs that separate its digits, not a part of a word.
_NUMBER: Final = re.compile(r"(?<![\w.,])[-−+]?\d+(?:[.,'’\u00a0\u202f ]\d{3}(?!\d))*(?:[.,]\d+)?")
_SPACES: Final = re.compile(r"['’\u00a0\u202f ]")
_THOUSANDS: Final = re.compile(r"[-+]?[1-9]\d{0,2}(?:[.,]\d{3})+")


class Conditions(msgspec.Struct, frozen=True):
    """What has to be true of the watched text for a change to be told. Each is looked at if it is
    given."""

    must: tuple[str, ...] = ()  # patterns, one of which appears
    must_not: tuple[str, ...] = ()  # patterns, none of which appears
    number: tuple[str, ...] = ()  # rises, falls, below N or above N: one of them happened

    def objection(self, before: str, after: str) -> str:
        """Why a change is not told; empty if it is."""
        if self.must and not any(pattern(each).search(after) for each in self.must):
            return f"not told: {_either(self.must)} does not appear"
        if found := next((each for each in self.must_not if pattern(each).search(after)), ""):
            return f"not told: `{found}` appears"
        if self.number:
            old, new = number_in(before), number_in(after)
            if old is None or new is None or not any(_happened(each, old, new) for each in self.number):
                return f"not told: the number is not {' or '.join(map(_wanted, self.number))}"
        return ""


def number_in(text: str) -> float | None:
    """The first number of a text: 1,299.00 and 1.299,00 are the same. A separator before exactly
    three digits separates thousands."""
    found = _NUMBER.search(text)
    if found is None:
        return None
    written = _SPACES.sub("", found[0]).replace("−", "-")
    if _THOUSANDS.fullmatch(written):
        return float(re.sub("[.,]", "", written))
    whole, point, part = written, "", ""
    if (last := max(written.rfind("."), written.rfind(","))) >= 0:
        whole, point, part = written[:last], ".", written[last + 1 :]
    return float(re.sub("[.,]", "", whole) + point + part)


def _happened(condition: str, old: float, new: float) -> bool:
    how, _, limit = condition.partition(" ")
    if how in ("rises", "falls"):
        return new > old if how == "rises" else new < old
    bound = float(limit)
    return new < bound <= old if how == "below" else new > bound >= old


def _wanted(condition: str) -> str:
    return {"rises": "higher", "falls": "lower"}.get(condition, f"newly {condition}")


def _either(patterns: tuple[str, ...]) -> str:
    return " or ".join(f"`{each}`" for each in patterns)
