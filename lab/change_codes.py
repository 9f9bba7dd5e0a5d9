"""`sanderling lab change-codes`: how often each method of change detection misses a change or gives
a false alarm.

It makes thousands of controlled edits of each kind, on generated or given pages. It can also
compare real consecutive versions: a folder with files `NAME.before.html` and `NAME.after.html`.
Each method detects changes of one aspect of a page. A miss: the aspect changed, but the code of the
method did not. A false alarm is the reverse.
"""

from __future__ import annotations

import argparse
import importlib
import random
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np

from lab import change_edits as edits
from lab.change_methods import METHODS, PICTURES, Method
from sanderling.documents.tree import Document, parse
from sanderling.errors import UsageError
from sanderling.presenting.arguments import pathname, positive

_TIMED_PAGES: Final = 60
_GENERATED_PAGES: Final = 40


class Rate(msgspec.Struct):
    """How often something happened, and how often it could have happened."""

    times: int = 0
    of: int = 0

    @property
    def percent(self) -> float | None:
        return 100 * self.times / self.of if self.of else None


class Score(msgspec.Struct):
    """The results of one method."""

    method: str
    aspect: str
    misses: dict[str, Rate] = msgspec.field(default_factory=lambda: defaultdict(Rate))
    false_alarms: dict[str, Rate] = msgspec.field(default_factory=lambda: defaultdict(Rate))
    bytes_a_page: float = 0.0
    us_a_page: float = 0.0

    def count(self, experiment: str, changed: bool, seen: bool) -> None:
        rate = (self.misses if changed else self.false_alarms)[experiment]
        rate.of += 1
        rate.times += changed != seen


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--pages", type=pathname, metavar="FOLDER", help="real versions: NAME.before.html, NAME.after.html"
    )
    parser.add_argument("--edits", type=positive, default=1000, metavar="N", help="edits of each kind (default: 1000)")
    parser.add_argument("--plot", type=pathname, metavar="FILE", help="draw the miss rates to a PNG (needs matplotlib)")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")


def run(options: argparse.Namespace) -> int:
    pairs = _pairs(options.pages) if options.pages else []
    scores = experiment(pairs, options.edits)
    pictures = picture_experiment(options.edits)
    if options.json:
        sys.stdout.buffer.write(msgspec.json.format(msgspec.json.encode(_as_data(scores, pictures))) + b"\n")
    else:
        sys.stdout.write("\n".join(table(scores)) + "\n\n" + "\n".join(picture_table(pictures)) + "\n")
        sys.stdout.write(f"Each edit was made {options.edits:,} times, in one run: no interval.\n")
    if options.plot:
        _plot(scores, options.plot)
    return 0


def experiment(pairs: Sequence[tuple[bytes, bytes]], count: int) -> list[Score]:
    dice = random.Random(4)
    sources = [before for before, _ in pairs] or [edits.page(dice).encode() for _ in range(_GENERATED_PAGES)]
    # The largest pages are left out: a thousand edits of a page of 300 KB take an hour and show
    # nothing new.
    sources = sorted(sources, key=len)[: max(_GENERATED_PAGES, len(sources) // 2)]
    scores = [Score(method.name, method.aspect) for method in METHODS]
    for name, edit in edits.EDITS.items():
        _edit_often(name, edit, sources, count, scores, dice)
    for before, after in pairs:
        _count("real versions", parse(before), parse(after), scores)
    for score, method in zip(scores, METHODS, strict=True):
        _measure(score, method, [parse(source) for source in sources[:_TIMED_PAGES]])
    return scores


def _edit_often(
    name: str, edit: edits.Edit, sources: Sequence[bytes], count: int, scores: list[Score], dice: random.Random
) -> None:
    done = tries = 0
    while done < count and tries < 3 * count:
        source = sources[tries % len(sources)]
        tries += 1
        edited = parse(source)
        if edit(edited, dice):
            # The edited tree is parsed again, because a crawler would get it as HTML.
            _count(name, parse(parse(source).html), parse(edited.html), scores)
            done += 1


def _count(name: str, before: Document, after: Document, scores: list[Score]) -> None:
    truth = edits.aspects(before).truth(edits.aspects(after))
    for score, method in zip(scores, METHODS, strict=True):
        # Presentation is compared only if the structure is the same, as the original paper defines
        # it.
        if method.aspect != "presentation" or not truth.structure:
            seen = method.differs(method.code(before), method.code(after))
            score.count(name, getattr(truth, method.aspect), seen)


def _measure(score: Score, method: Method, pages: Sequence[Document]) -> None:
    codes = [method.code(page) for page in pages]
    score.bytes_a_page = sum(map(method.size, codes)) / len(pages)
    best = float("inf")
    for _ in range(3):
        start = time.thread_time()
        for page in pages:
            method.code(page)
        best = min(best, time.thread_time() - start)
    score.us_a_page = 1e6 * best / len(pages)


def picture_experiment(count: int) -> list[Score]:
    """Replaces images with others, where a method may miss it, and saves images again, which may
    give false alarms."""
    dice = np.random.default_rng(4)
    scores = [Score(name, "image") for name in PICTURES]
    for _ in range(count):
        one, other = edits.picture(dice), edits.picture(dice)
        again = np.clip(one.astype(int) + dice.integers(-2, 3, one.shape), 0, 255).astype(np.uint8)
        for score, differs in zip(scores, PICTURES.values(), strict=True):
            score.count("image swap", True, differs(one, other))
            score.count("image saved again", False, differs(one, again))
    return scores


def _pairs(folder: Path) -> list[tuple[bytes, bytes]]:
    names = sorted(folder.glob("*.before.html")) if folder.is_dir() else []
    if not names:
        raise UsageError(f"no files NAME.before.html in {folder}")
    afters = [name.with_name(name.name.replace(".before.", ".after.")) for name in names]
    return [
        (name.read_bytes(), after.read_bytes()) for name, after in zip(names, afters, strict=True) if after.exists()
    ]


def table(scores: Sequence[Score]) -> list[str]:
    """One row for each method. Each experiment shows "miss %", then "+false alarm %"."""
    columns = [*edits.EDITS, *(["real versions"] if any("real versions" in score.misses for score in scores) else [])]
    head = ["aspect", "method", *columns, "bytes", "us"]
    rows = [
        [
            *(score.aspect, score.method),
            *[_cell(score, column) for column in columns],
            *(f"{score.bytes_a_page:.0f}", f"{score.us_a_page:.0f}"),
        ]
        for score in scores
    ]
    note = "per cent missed where the aspect changed; +per cent false alarms where it did not"
    return [*_aligned([head, *rows]), note]


def picture_table(scores: Sequence[Score]) -> list[str]:
    head = ["image method", "missed swaps %", "false alarms %"]
    rows = [
        [score.method, *[f"{rate.percent:.1f}" for rate in (*score.misses.values(), *score.false_alarms.values())]]
        for score in scores
    ]
    return _aligned([head, *rows])


def _cell(score: Score, experiment: str) -> str:
    missed = score.misses[experiment].percent if experiment in score.misses else None
    alarmed = score.false_alarms[experiment].percent if experiment in score.false_alarms else None
    parts = [f"{missed:.1f}" if missed is not None else "", f"+{alarmed:.1f}" if alarmed is not None else ""]
    return " ".join(filter(None, parts)) or "-"


def _aligned(rows: list[list[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _as_data(scores: Sequence[Score], pictures: Sequence[Score]) -> dict[str, Any]:
    def data(score: Score) -> dict[str, Any]:
        return {
            "method": score.method,
            "aspect": score.aspect,
            "miss_percent": {name: rate.percent for name, rate in score.misses.items()},
            "false_alarm_percent": {name: rate.percent for name, rate in score.false_alarms.items()},
            "trials": {
                name: score.misses.get(name, Rate()).of + score.false_alarms.get(name, Rate()).of
                for name in (*score.misses, *score.false_alarms)
            },
            "bytes_a_page": round(score.bytes_a_page, 1),
            "us_a_page": round(score.us_a_page, 1),
        }

    return {"pages": [*map(data, scores)], "pictures": [*map(data, pictures)]}


def _plot(scores: Sequence[Score], path: Path) -> None:
    try:
        pyplot = importlib.import_module("matplotlib.pyplot")
    except ImportError:
        raise UsageError("a plot needs matplotlib: pip install matplotlib") from None
    shown = [score for score in scores if score.aspect in ("text", "structure")]
    missed = [_missed(score) for score in shown]
    pyplot.switch_backend("Agg")
    figure, axes = pyplot.subplots(figsize=(8, 0.4 * len(shown) + 1))
    colours = ["tab:orange" if score.method == "ours" else "tab:blue" for score in shown]
    axes.barh([f"{score.method} ({score.aspect})" for score in shown], missed, color=colours)
    axes.invert_yaxis()
    axes.set_xlabel("per cent of changes missed, all edits and real versions")
    figure.tight_layout()
    figure.savefig(path, dpi=120)


def _missed(score: Score) -> float:
    of = sum(rate.of for rate in score.misses.values())
    return 100 * sum(rate.times for rate in score.misses.values()) / of if of else 0.0
