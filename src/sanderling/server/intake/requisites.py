"""What became of the files that pages need.

A file has versions like a page, but is no page: what a new version of it changes is how pages look.
So its own change is not told unless more pages show it than are marked (`shown_images`).
"""

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from sanderling.model import Before, Change, ChangeKind, Kind, Outcome, Task, Visit

_NEW = Change(ChangeKind.NEW, 1.0, "", "new", news=False)
# What is compared by its bytes: nobody knows how much of what a page looks like it changes.
_SHARE = 0.5
_LOOKS = {"text/css": "a style sheet differs", "font": "a font differs", "video": "a video differs", "audio": "a recording differs"}  # fmt: skip


def compared_as_pages(visits: Iterable[Visit], tasks: Mapping[int, Task]) -> list[Visit]:
    """The visits that the change detector compares: pictures have looks, other files only bytes."""
    return [
        visit
        for visit in visits
        if tasks[visit.id].kind != Kind.REQUISITE
        or visit.mime.startswith("image/")
        or visit.outcome is not Outcome.PAGE
    ]


def changes_of(visits: Iterable[Visit], tasks: Mapping[int, Task], before: Mapping[int, Before]) -> dict[int, Change]:
    """What else is new about files."""
    changes = {}
    for visit in visits:
        if tasks[visit.id].kind != Kind.REQUISITE or visit.outcome is not Outcome.PAGE:
            continue
        last = before.get(visit.id)
        if last is None or not last.there:
            changes[visit.id] = _NEW
        elif not visit.mime.startswith("image/"):
            changes[visit.id] = _differs(visit.mime)
    return changes


def quietened(told: dict[int, Change], found: Mapping[int, Change], tasks: Mapping[int, Task]) -> dict[int, Change]:
    """The changes to commit. That of a file is told by the pages that show it; `told` differs from
    what was `found` where these are too many."""
    return {
        id: replace(change, news=False) if tasks[id].kind == Kind.REQUISITE and change is found[id] else change
        for id, change in told.items()
    }


def _differs(mime: str) -> Change:
    """Scripts and data are not what a page looks like."""
    summary = _LOOKS.get(mime) or _LOOKS.get(mime.partition("/")[0], "")
    if not summary:
        return Change(ChangeKind.BEHAVIOUR, _SHARE, "no text change", "a file differs", news=False)
    return Change(ChangeKind.PRESENTATION, _SHARE, "no text change", summary)
