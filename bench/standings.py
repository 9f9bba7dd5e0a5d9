"""The laps of a race, and tables of their results."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import asdict, dataclass

COLUMNS = ("pages", "wall s", "pages/s", "CPU s", "pages/CPU s", "(best)", "peak MiB", "requests", "disturbed")


@dataclass(frozen=True)
class Lap:
    """One crawl by one crawler. nginx counts `requests`, so the figure does not depend on the
    crawler."""

    round: int
    name: str
    ours: bool
    pages: int
    requests: int
    wall: float
    cpu: float
    peak_mib: float
    disturbance: float
    """Share of the machine that neither the contestant nor nginx, but others used meanwhile."""

    @property
    def rate(self) -> float:
        return self.pages / self.wall

    @property
    def economy(self) -> float:
        """Pages per CPU second. This figure depends least on other load of the machine."""
        return self.pages / self.cpu

    def row(self) -> dict[str, object]:
        return {**asdict(self), "pages_per_second": self.rate, "pages_per_cpu_second": self.economy}

    def __str__(self) -> str:
        return (
            f"round {self.round}: {self.name:14} {self.pages:6} pages {self.wall:7.1f} s"
            f" {self.economy:8.1f} pages/CPU s {self.peak_mib:6.0f} MiB"
            f"   machine disturbed {self.disturbance:.0%}"
        )


def table(laps: list[Lap]) -> str:
    """Medians over the rounds, one line for each crawler."""
    lines = [f"\n{'':14}" + "".join(f"{column:>13}" for column in COLUMNS)]
    for name, own in _by_name(laps).items():
        cells = (
            f"{_median(own, lambda lap: lap.pages):,.0f}",
            f"{_median(own, lambda lap: lap.wall):,.1f}",
            f"{_median(own, lambda lap: lap.rate):,.1f}",
            f"{_median(own, lambda lap: lap.cpu):,.1f}",
            f"{_median(own, lambda lap: lap.economy):,.1f}",
            f"{max(lap.economy for lap in own):,.1f}",
            f"{_median(own, lambda lap: lap.peak_mib):,.0f}",
            f"{_median(own, lambda lap: lap.requests):,.0f}",
            f"{_median(own, lambda lap: lap.disturbance):.0%}",
        )
        lines.append(f"{name:14}" + "".join(f"{cell:>13}" for cell in cells))
    return "\n".join(lines)


def ratios(laps: list[Lap]) -> list[dict[str, object]]:
    """The ratios of our figures to those of the others, as medians over rounds.

    Only laps of the same round are compared, because the speed of the machine changes between
    rounds.
    """
    found: list[dict[str, object]] = []
    for mine in _by_name([lap for lap in laps if lap.ours]).values():
        for theirs in _by_name([lap for lap in laps if not lap.ours]).values():
            pairs = list(zip(mine, theirs, strict=False))
            found.append(
                {
                    "ours": mine[0].name,
                    "theirs": theirs[0].name,
                    "pages_per_second": statistics.median(a.rate / b.rate for a, b in pairs),
                    "pages_per_cpu_second": statistics.median(a.economy / b.economy for a, b in pairs),
                    "best_pages_per_cpu_second": max(lap.economy for lap in mine) / max(lap.economy for lap in theirs),
                    "peak_mib": statistics.median(a.peak_mib / b.peak_mib for a, b in pairs),
                }
            )
    return found


def ratio_table(laps: list[Lap]) -> str:
    lines = [f"\n{'ours / theirs':28}{'pages/s':>13}{'pages/CPU s':>13}{'(best/best)':>13}{'peak MiB':>13}"]
    for ratio in ratios(laps):
        pair = f"{ratio['ours']} / {ratio['theirs']}"
        keys = ("pages_per_second", "pages_per_cpu_second", "best_pages_per_cpu_second", "peak_mib")
        lines.append(f"{pair:28}" + "".join(f"{ratio[key]:>12.2f}x" for key in keys))
    return "\n".join(lines) if len(lines) > 1 else ""


def _by_name(laps: list[Lap]) -> dict[str, list[Lap]]:
    grouped: dict[str, list[Lap]] = {}
    for lap in laps:
        grouped.setdefault(lap.name, []).append(lap)
    return grouped


def _median(laps: list[Lap], value: Callable[[Lap], float]) -> float:
    return statistics.median(value(lap) for lap in laps)
