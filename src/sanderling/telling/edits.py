"""Edits: the same change on many pages is told once, such as a new entry of a menu."""

import uuid
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from sanderling.clock import DAY
from sanderling.model import ChangeKind, VersionRow
from sanderling.urls import hostname

# Changes that are looked at together. A larger edit is told in several parts.
TOGETHER = 5000
# Seconds between the first and the last page of an edit. A crawl takes hours; the same change a day
# later is another edit.
LONGEST = DAY

# Of changes without an excerpt, only those of kinds for which the summary says all.
_SAID_BY_SUMMARY = ChangeKind.STRUCTURE | ChangeKind.PRESENTATION | ChangeKind.BEHAVIOUR | ChangeKind.IMAGE
_SAID_BY_SUMMARY |= ChangeKind.DOWN | ChangeKind.UP | ChangeKind.CERTIFICATE


class Edit(NamedTuple):
    """The same change on one or more pages, the newest first."""

    versions: list[VersionRow]

    @property
    def shown(self) -> VersionRow:
        """The page that stands for the others. Its id stays while more pages are found."""
        return self.versions[-1]

    @property
    def at(self) -> float:
        return self.versions[0].at

    @property
    def others(self) -> list[VersionRow]:
        return self.versions[:-1]


def sameness(version: VersionRow) -> str:
    """Equal for changes that are the same edit if they are found at about the same time. Empty for
    a change that is like no other."""
    if version.kinds & (ChangeKind.NEW | ChangeKind.GONE | ChangeKind.UNMATCHED) or not version.kinds:
        return ""
    if not version.excerpt and version.kinds & ~_SAID_BY_SUMMARY:
        return ""
    said = version.excerpt or version.summary
    return f"{hostname(version.url)} {int(version.kinds)} {int(version.news)} {said}" if said else ""


class Grouping:
    """Puts changes into edits, one after the other, the newest first."""

    def __init__(self) -> None:
        self.found: list[Edit] = []  # in the order of the newest change of each
        self._open: dict[str, tuple[Edit, set[str]]] = {}

    def edit_of(self, version: VersionRow) -> Edit | None:
        """The edit that a change belongs to, if that has begun."""
        edit, pages = self._open.get(sameness(version), (None, set()))
        known = edit is not None and version.url not in pages and edit.at - version.at <= LONGEST
        return edit if known else None

    def add(self, version: VersionRow) -> None:
        edit = self.edit_of(version)
        same = sameness(version)
        if edit is None:
            edit = Edit([])
            self.found.append(edit)
            if same:
                self._open[same] = edit, set()
        edit.versions.append(version)
        if same:
            self._open[same][1].add(version.url)


def edits(newest_first: Iterable[VersionRow], together: int = TOGETHER) -> Iterator[Edit]:
    """Groups changes, in the order of the newest of each group."""
    remaining = iter(newest_first)
    while part := list(islice(remaining, together)):
        grouping = Grouping()
        for version in part:
            grouping.add(version)
        yield from grouping.found


def edit_id(version: VersionRow) -> str:
    """The same for all pages of an edit, for programs that group changes themselves."""
    same = sameness(version) or f"{version.url}#{version.at!r}"
    return uuid.uuid5(uuid.NAMESPACE_URL, f"edit {same} {int(version.at // LONGEST)}").urn
