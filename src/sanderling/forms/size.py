"""How many records lie behind a form, by capture and recapture: what an answer brings again says
how much is known."""

import math
from collections.abc import Iterable
from typing import NamedTuple

# 95 of 100 intervals contain the truth, if answers are samples of the records.
_SIGMAS = 1.96


class Size(NamedTuple):
    """About how many records there are, with an interval."""

    estimate: int
    least: int
    most: int


class Capture(NamedTuple):
    """The answer to one query: how many records it had, how many of them were known, and how many
    were known at all."""

    shown: int
    again: int
    known: int
    complete: bool = True  # it showed all that the query has


def size_of(captures: Iterable[Capture], found: int, unseen: float = 0.0) -> Size | None:
    """Schnabel's estimate with the variance between answers; None as long as too little came again.
    It is no less than `found` and the lower bound of what is `unseen`.

    An answer that is cut off shows what is best known first, so that it seems as if nearly all were
    known. Only complete answers count. Answers to different words differ in how much is known of
    them, far more than chance would make them. So the interval comes from the spread of the
    answers, not from their number alone.
    """
    made = [capture for capture in captures if capture.known and capture.shown and capture.complete]
    again = sum(capture.again for capture in made)
    if again < 3 or len(made) < 3:
        return None
    estimate = sum(capture.shown * capture.known for capture in made) / again
    spread = sum((capture.shown * capture.known - estimate * capture.again) ** 2 for capture in made)
    error = math.sqrt(spread * len(made) / (len(made) - 1)) / again / estimate
    factor = math.exp(_SIGMAS * min(error, 2.0))
    whole = max(found + unseen, estimate)
    return Size(round(whole), max(found, round(estimate / factor)), max(found, math.ceil(whole * factor)))


def least_unseen(once: int, twice: int) -> float:
    """Chao's lower bound of the records that no query has found, by how many were found once and
    twice."""
    return once * (once - 1) / (2 * (twice + 1))
