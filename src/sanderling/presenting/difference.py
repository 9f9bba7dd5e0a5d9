"""Finds what differs between two versions of a page, by the rules and the learned noise with which
the crawl compares."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple, Protocol

from msgspec.structs import replace

from sanderling.change import Verdict, explain, focus
from sanderling.change.comparison import Piece, pieces
from sanderling.change.explain import paragraphs, plainly
from sanderling.change.judging import chooser, known_noise
from sanderling.change.noise import volatile_places
from sanderling.change.verdict import AspectKind
from sanderling.documents.tree import Document
from sanderling.model import Before, ChangeKind, VersionRow
from sanderling.repository import warc
from sanderling.repository.archive import document_in
from sanderling.repository.folder import Folder
from sanderling.repository.store import Notes
from sanderling.server.intake.site_noise import SiteNoise
from sanderling.settings import load
from sanderling.urls import identity, origin

# Images that changed, named in a summary: the last of them.
_MOST_REDRAWN = 3


class NoiseStore(Notes, Protocol):
    """What is known about the noise of pages and sites."""

    def before(self, ids: list[int]) -> dict[int, Before]: ...


class Difference(NamedTuple):
    """What differs. `hidden` changed paragraphs are noise and not in `shown`."""

    summary: str
    shown: list[Piece]
    hidden: int
    verdict: Verdict | None  # None if one of the versions is not a document


def difference(
    folder: Folder, store: NoiseStore, both: tuple[VersionRow, VersionRow], way: Sequence[VersionRow], *,
    places: bool = False, noise: bool = False,
) -> Difference:  # fmt: skip
    """What differs between two versions. `way` are the versions from one to the other; empty if
    they go back in time.

    With `noise`, also what is not news: learned noise and parts that rules ignore.
    """
    consecutive = len(way) == 2
    whole = [_document(folder, each) for each in both]
    rule = chooser(load(folder.settings)[0].rules)(both[0].url) if folder.settings.exists() else None
    old, new = (focus(each, rule) if each is not None and rule else each for each in whole)
    learned = old is not None and new is not None and not (rule and rule.watch)
    volatile = _volatile(store, both[0].url) if learned else set()
    counted = _paragraphs(old), _paragraphs(new)
    if noise and rule:
        left = set(counted[0]), set(counted[1])
        everything = pieces(*map(_paragraphs, whole), places=places, volatile=volatile)
        found = [_ignored(piece, *left) for piece in everything]
    else:
        found = pieces(*counted, places=places, volatile=volatile)
    shown = found if noise else [piece for piece in found if not piece.noise]
    # A moved paragraph is one, also where it is shown at both places.
    hidden = 0 if noise else sum(piece.noise and bool(piece.new or piece.kind == "removed") for piece in found)
    if old is None or new is None:
        return Difference(file_summary(both, consecutive), shown, hidden, None)
    verdict = explain(old, new, volatile)
    stored = both[1].summary if consecutive and both[1].kinds else ""
    # What the crawl stored knows the noise of that time, so it stands. `explain` only adds details
    # to it.
    agree = not stored or stored == plainly(old, new).summary
    found_summary = verdict.summary if agree else stored
    if redrawn := [each.summary for before, each in pairwise(way) if each.marks(before)]:
        found_summary, verdict = _with_images(found_summary, verdict, redrawn)
    return Difference(found_summary, shown, hidden, verdict)


def _with_images(summary: str, verdict: Verdict, redrawn: list[str]) -> tuple[str, Verdict]:
    """Adds what the images became that the page shows. Only the versions say it: their addresses
    are the same."""
    named = [*dict.fromkeys(redrawn)][-_MOST_REDRAWN:]
    parts = ([summary] if verdict.kinds and summary not in named else []) + named
    kinds = tuple(dict.fromkeys([*verdict.kinds, AspectKind.IMAGE]))
    return "; ".join(parts), replace(verdict, kinds=kinds, place=verdict.place or "page")


def file_summary(both: tuple[VersionRow, VersionRow], consecutive: bool) -> str:
    """A summary for two versions that are not both documents."""
    for number, each in enumerate(both):
        if each.kinds & ChangeKind.GONE:
            return each.summary if number else f"back (before: {each.summary})"
    if both[0].digest == both[1].digest:
        return "the same file"
    sizes = f"{both[0].size:,} bytes, now {both[1].size:,}"
    # The stored summary compares a version with the one directly before it.
    return f"{both[1].summary}: {sizes}" if consecutive else f"another file without text: {sizes}"


def _document(folder: Folder, version: VersionRow) -> Document | None:
    return None if version.kinds & ChangeKind.GONE else document_in(warc.read(folder.warcs, version.stored))


def _paragraphs(document: Document | None) -> list[str]:
    return paragraphs(document) if document is not None else []


def _volatile(store: NoiseStore, url: str) -> set[int]:
    """The places of a page that change on most visits, as the page and its site have taught."""
    before = store.before([identity(url)]).get(identity(url))
    return volatile_places([known_noise(before.noise) if before else None, SiteNoise(store).of(origin(url))])


def _ignored(piece: Piece, old: set[str], new: set[str]) -> Piece:
    """Marks a changed paragraph as noise if the rules leave none of it."""
    counts = piece.old in old or piece.new in new
    return piece if piece.kind == "same" or counts else piece._replace(noise=True)
