"""Compares a page with what is remembered of it, and records what changed."""

from __future__ import annotations

from typing import NamedTuple

from sanderling_announce.change import EventHint
from sanderling_announce.clock import DAY
from sanderling_announce.memory import AnnouncedPage, PendingChange, SiteMemory


class PageState(NamedTuple):
    """A page as it is now."""

    key: bytes
    url: str
    depth: int
    hash: bytes
    at: float  # when it became so
    size: int = 0
    mtime: int = 0
    inode: int = 0
    hints: tuple[EventHint, ...] = ()


def record(memory: SiteMemory, now: PageState, old: AnnouncedPage | None, announce: bool) -> bool:
    """Remembers a page; returns whether its content is new. `announce` is false while pages are
    seen for the first time."""
    same = old is not None and old.hash == now.hash
    frequency = (old.frequency if old else 0) + (announce and not same)
    changed = old.changed if same and old else now.at
    memory.put(AnnouncedPage(now.key, now.size, now.mtime, now.inode, now.hash, changed, frequency, now.depth), old)
    if announce and not same:
        day = int(now.at // DAY)
        if old is None or not old.frequency or int(old.changed // DAY) != day:
            memory.count_updated(day)
        memory.add_change(
            PendingChange(now.key, now.url, "changed" if old else "new", now.at, frequency, now.depth, now.hints)
        )
    return not same


def record_gone(memory: SiteMemory, old: AnnouncedPage, url: str, at: float, announce: bool) -> None:
    memory.forget(old)
    if announce:
        memory.add_change(PendingChange(old.key, url, "gone", at, old.frequency, old.depth))
