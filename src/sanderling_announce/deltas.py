"""Deltas: what changed after one cursor and up to another. A crawler reads bytes in proportion to
the changes.

Every publication has a number, the cursor, and a delta of its own. Eight deltas in a row are also
there as one, eight of these again, and so on: from any cursor a few files lead to the newest, and
each page stands in them about once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from sanderling_announce.change import ReportedChange, as_line, of_line
from sanderling_announce.errors import NoReportFile
from sanderling_announce.naming import is_named_for, named_for

FAN = 8
# Of one file, for whoever writes and whoever reads it. A site that changes more at once publishes
# more cursors.
MOST_LINES = 50_000
MOST_BYTES = 32 * 1024**2


class Delta(NamedTuple):
    """A file with the changes of the cursors in (after, to]."""

    after: int
    to: int
    lines: int
    bytes: int
    name: str


class DeltaFile(NamedTuple):
    delta: Delta
    content: bytes


def write_delta(after: int, to: int, changes: Iterable[ReportedChange]) -> DeltaFile:
    """A file of changes in the order of their cursors: the last of each page counts. The best rank
    stands first."""
    last = {change.url: change for change in changes}
    lines = [as_line(each) for each in sorted(last.values(), key=lambda each: (-each.rank, each.url))]
    content = b"".join(line + b"\n" for line in lines)
    return DeltaFile(
        Delta(after, to, len(lines), len(content), named_for(f"delta-{after}-{to}", content, "jsonl")), content
    )


def read_own(delta: Delta, content: bytes) -> list[ReportedChange]:
    """The changes of a delta that was written here."""
    if not is_named_for(delta.name, content):
        raise NoReportFile(f"{delta.name} has other content than was written")
    return [of_line(line) for line in content.splitlines()]


def chain(deltas: Sequence[Delta], cursor: int, newest: int) -> list[Delta] | None:
    """The files that lead from a cursor to the newest; None when it is too old, and the sitemap has
    to be read."""
    steps: list[Delta] = []
    while cursor < newest:
        here = [delta for delta in deltas if delta.after <= cursor < delta.to]
        if not here:
            return None
        # The farthest from exactly here; else the smallest around us, whose older lines are
        # skipped.
        step = min(here, key=lambda delta: (delta.after != cursor, -delta.to if delta.after == cursor else delta.lines))
        steps.append(step)
        cursor = step.to
    return steps


def mergers(newest: int) -> list[tuple[int, int]]:
    """The larger deltas that the newest cursor completes, smallest first, as (after, to)."""
    found, width = [], FAN
    while newest % width == 0:
        found.append((newest - width, newest))
        width *= FAN
    return found


def parts_of(deltas: Sequence[Delta], after: int, to: int) -> list[Delta] | None:
    """The deltas to merge into a larger one; None when one is missing, or when they are too much
    for one file."""
    width = (to - after) // FAN
    parts = [delta for delta in deltas if after <= delta.after and delta.to <= to and delta.to - delta.after == width]
    fit = sum(part.lines for part in parts) <= MOST_LINES and sum(part.bytes for part in parts) <= MOST_BYTES
    return sorted(parts) if len(parts) == FAN and fit else None


def kept(deltas: Sequence[Delta], newest: int, most_lines: int) -> list[Delta]:
    """The deltas that stay published: the small ones for a while, the large ones until they exceed
    `most_lines`."""
    ranges = {(delta.after, delta.to) for delta in deltas}
    stay: list[Delta] = []
    lines = 0
    for delta in sorted(deltas, key=lambda each: (-each.to, each.after)):
        width = (delta.to - delta.after) * FAN
        above = delta.after - delta.after % width
        merged = (above, above + width) in ranges
        if merged and above + 2 * width <= newest:
            continue
        if not merged:
            lines += delta.lines
            if lines > most_lines:
                break
        stay.append(delta)
    return sorted(stay)
