"""Intervals of means, at 95 %."""

import math
from collections.abc import Sequence

# Of Student's distribution, at 95 % on both sides, by degrees of freedom.
_STUDENT = (math.inf, 12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23)
_NORMAL = 1.96


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else math.nan


def half_width(values: Sequence[float]) -> float:
    """Half the width of the interval of a mean."""
    count = len(values)
    if count < 2:
        return math.nan
    middle = mean(values)
    deviation = math.sqrt(sum((value - middle) ** 2 for value in values) / (count - 1))
    return (_STUDENT[count - 1] if count <= len(_STUDENT) else _NORMAL) * deviation / math.sqrt(count)


def plus_minus(values: Sequence[float], form: str = ".3f") -> str:
    """The interval behind a mean, or nothing if there is one value only."""
    return f" ±{half_width(values):{form}}" if len(values) > 1 else ""


def repeated(count: int, what: str) -> str:
    """What an experiment says of its repetitions."""
    if count < 2:
        return f"One {what}, once: no interval."
    first, space, rest = what.partition(" ")
    return f"Means of {count} {first}s{space}{rest}, with intervals at 95 %."
