"""Reads deltas (`sanderling_announce/deltas.py`), which may be the work of an enemy."""

from dataclasses import replace

import msgspec

from sanderling.announcements.failures import BadReport
from sanderling.urls import canonical
from sanderling_announce.change import LONGEST_TEXT, MOST_HINTS, EventHint, ReportedChange
from sanderling_announce.deltas import MOST_BYTES, MOST_LINES, Delta
from sanderling_announce.naming import is_named_for

_decoder = msgspec.json.Decoder(ReportedChange)


def read_delta(delta: Delta, content: bytes, site: str, after: int = 0) -> list[ReportedChange]:
    """The changes after a cursor, best rank first, with URLs in canonical form.

    Raises BadReport when the file is not what the manifest signed, or when it names URLs outside
    the site.
    """
    if len(content) > MOST_BYTES or not is_named_for(delta.name, content):
        raise BadReport(f"{delta.name} has other content than the manifest says")
    lines = content.splitlines()
    if len(lines) > MOST_LINES:
        raise BadReport(f"{delta.name} has more than {MOST_LINES:,} lines")
    return [change for line in lines if (change := _read(line, delta, site)).cursor > after]


def _read(line: bytes, delta: Delta, site: str) -> ReportedChange:
    try:
        change = _decoder.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        change = None
    if change is None or not _is_bounded(change):
        raise BadReport(f"{delta.name} has a line that is no change")
    url = canonical(change.url)
    if url is None or not url.startswith(site):
        raise BadReport(f"{delta.name} names a URL outside {site}")
    if not delta.after < change.cursor <= delta.to:
        raise BadReport(f"{delta.name} has a change of another cursor")
    return change if url == change.url else replace(change, url=url)


def _is_bounded(change: ReportedChange) -> bool:
    """Whether no line holds more than it says."""
    shares = 0 <= change.rank <= 1 and 0 <= change.level <= 1
    counts = change.at >= 0 and change.frequency >= 0
    return shares and counts and len(change.hints) <= MOST_HINTS and all(map(_is_short, change.hints))


def _is_short(hint: EventHint) -> bool:
    lists = len(hint.events) <= MOST_HINTS and len(hint.sources) <= MOST_HINTS
    return lists and all(len(text) <= LONGEST_TEXT for text in (*hint.sources, hint.target, hint.function))
