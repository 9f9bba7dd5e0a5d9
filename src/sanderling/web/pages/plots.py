"""Computes the geometry of plots. The templates turn it into SVG elements."""

from collections.abc import Sequence
from typing import NamedTuple

Points = Sequence[tuple[float, float]]

_WIDTH, _HEIGHT = 560, 220
_LEFT, _TOP, _MARGIN, _BELOW = 56, 10, 26, 26


class Drawing(NamedTuple):
    """A plot for the template `plots.html`. `said` is its text for screen readers."""

    said: str
    rows: list[tuple[float, str]]
    columns: list[tuple[float, str]]
    curves: Sequence[str] = ()
    bars: Sequence[tuple[float, float, float, float, str]] = ()
    here: float | None = None
    width: int = _WIDTH
    height: int = _HEIGHT
    left: int = _LEFT
    right: int = _WIDTH - _MARGIN
    top: int = _TOP
    bottom: int = _HEIGHT - _BELOW


def scaled(values: Sequence[float], width: float, height: float) -> str:
    """A line through values at even distances, scaled from 0 to the largest."""
    most = max(values) or 1.0
    step = width / max(1, len(values) - 1)
    return " ".join(
        f"{at * step:.1f},{height - 1 - value / most * (height - 2):.1f}" for at, value in enumerate(values)
    )


def stacked(parts: Sequence[tuple[str, int]], total: int, width: float = 1000) -> list[tuple[str, float, float]]:
    """The shares of a whole as (name, start, width). Small shares get a visible width."""
    shares = [(name, max(count / total * width, 3.0)) for name, count in parts if count and total]
    excess = sum(share for _, share in shares) - width
    placed, at = [], 0.0
    for name, share in shares:
        if excess > 0 and share == max(each for _, each in shares):
            share, excess = share - excess, 0.0
        placed.append((name, round(at, 2), round(share, 2)))
        at += share
    return placed


def curve(
    lines: Sequence[Points], said: str, across: Sequence[tuple[float, str]], up: Sequence[tuple[float, str]],
    here: float | None = None,
) -> Drawing:  # fmt: skip
    """A plot of lines. The first and last labels of `across` and `up` are its limits."""
    (first, _), (last, _) = across[0], across[-1]
    (low, _), (high, _) = up[0], up[-1]
    empty = Drawing(said, [], [])

    def x(value: float) -> float:
        return round(empty.left + _within(value, first, last) * (empty.right - empty.left), 1)

    def y(value: float) -> float:
        return round(empty.bottom - _within(value, low, high) * (empty.bottom - empty.top), 1)

    return empty._replace(
        rows=[(y(value), text) for value, text in up],
        columns=[(x(value), text) for value, text in across],
        curves=[" ".join(f"{x(a)},{y(b)}" for a, b in line) for line in lines],
        here=None if here is None else x(here),
    )


def histogram(classes: Sequence[tuple[str, int]], said: str) -> Drawing:
    """A plot of bars with equal widths, each with its name below."""
    empty = Drawing(said, [], [])
    most = max((count for _, count in classes), default=0) or 1
    width = (empty.right - empty.left) / max(1, len(classes))
    tall = empty.bottom - empty.top
    bars, columns = [], []
    for at, (name, count) in enumerate(classes):
        height = round(count / most * tall, 1)
        left = round(empty.left + at * width, 1)
        bars.append(
            (round(left + width * 0.1, 1), empty.bottom - height, round(width * 0.8, 1), height, f"{name}: {count:,}")
        )
        columns.append((round(left + width / 2, 1), name))
    rows = [(empty.bottom, "0"), (empty.bottom - tall / 2, f"{most / 2:,.0f}"), (empty.top, f"{most:,}")]
    return empty._replace(rows=[(float(at), text) for at, text in rows], columns=columns, bars=bars)


def _within(value: float, low: float, high: float) -> float:
    return min(1.0, max(0.0, (value - low) / ((high - low) or 1.0)))
