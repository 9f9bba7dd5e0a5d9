"""A site's history: when its pages were created, changed and deleted.

It is read from CSV, plain or gzip. The columns are page, event (created, changed, deleted), at
(unix seconds, in ascending order) and, to select the changes that count, text_changed and
main_changed (1, 0 or empty for unknown).
"""

import csv
import gzip
import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from sanderling.clock import DAY

COLUMNS = ("text_changed", "main_changed", "any")


class HistoryError(ValueError):
    """A history file that cannot be used. The message names the line."""


class PageHistory(NamedTuple):
    """One page, with times in days. If it was deleted and created again, it counts as changed when
    it returned."""

    url: str
    born: float
    gone: float
    changes: list[float]


def read(path: Path, column: str = "text_changed") -> list[PageHistory]:
    opener = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rt", encoding="utf-8", newline="") as file:
            pages = _pages(csv.reader(file), column)
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise HistoryError(f"{path}: cannot be read: {error}") from None
    except csv.Error as error:
        raise HistoryError(f"{path}: not CSV: {error}") from None
    except HistoryError as error:
        raise HistoryError(f"{path}: {error}") from None
    if not any(page.changes for page in pages):
        raise HistoryError(f"{path}: no page has a change in {column}, so there is nothing to measure")
    return pages


def _pages(rows: Iterator[list[str]], column: str) -> list[PageHistory]:
    header = next(rows, None)
    needed = ["page", "event", "at", *([] if column == "any" else [column])]
    if header is None or not set(needed) <= set(header):
        missing = ", ".join(sorted(set(needed) - set(header or [])))
        raise HistoryError(f"line 1: the header lacks {missing}")
    places = [header.index(name) for name in needed]
    found: dict[str, PageHistory] = {}
    before = -math.inf
    for number, row in enumerate(rows, start=2):
        if not row:
            continue
        if len(row) != len(header):
            raise HistoryError(f"line {number}: it has {len(row)} fields, but the header has {len(header)}")
        page, event, at, *counts = (row[place] for place in places)
        when = _time(number, at)
        if when < before:
            raise HistoryError(f"line {number}: time goes backwards: {at} is before the line above")
        before = when
        if counts and counts[0] not in ("0", "1", ""):
            raise HistoryError(f"line {number}: {column} is {counts[0]!r}, not 1, 0 or empty")
        _apply(found, number, page, event, when, not counts or counts[0] == "1")
    return list(found.values())


def _time(number: int, text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not math.isfinite(seconds):
        raise HistoryError(f"line {number}: at is {text!r}, not unix seconds")
    return seconds / DAY


def _apply(found: dict[str, PageHistory], number: int, page: str, event: str, when: float, counts: bool) -> None:
    if not page:
        raise HistoryError(f"line {number}: the page has no name")
    if event not in ("created", "changed", "deleted"):
        raise HistoryError(f"line {number}: event is {event!r}, not created, changed or deleted")
    known = found.get(page)
    if known is None:
        if event != "created":
            raise HistoryError(f"line {number}: {page} is {event} before it was created")
        found[page] = PageHistory(page, when, math.inf, [])
        return
    if event == "deleted":
        found[page] = known._replace(gone=when)
    elif event == "created":
        found[page] = known._replace(gone=math.inf)
    if event != "deleted" and (counts or event == "created"):
        known.changes.append(when)


def from_changes(changes: Iterable[tuple[str, float, Iterable[float]]]) -> list[PageHistory]:
    """Makes histories without deletions from (url, born, times of change). Drops changes before the
    page was born."""
    return [
        PageHistory(url, born, math.inf, sorted(when for when in times if when > born)) for url, born, times in changes
    ]
