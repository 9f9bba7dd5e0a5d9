"""Marks the pages that show an image when the image becomes a different picture, disappears or
comes back. With `requisites`, style sheets, fonts and media that differ mark their pages too.

A marked page gets a version with the content that it had, and a change of the kind `image`. An
image on more than `MOST_PAGES` pages belongs to the site. It is told once, by its own change, and
no page is marked.
"""

from collections.abc import Mapping
from typing import NamedTuple, Protocol

from msgspec.structs import replace

from sanderling.model import Before, Change, ChangeKind, Kind, MarkedPage, Outcome, State, Task, Visit
from sanderling.repository.image_pages import MOST_PAGES, unpacked

# A picture is a small part of a page. With ten paragraphs, a page that shows an image at another
# address has this too.
_SHARE = 0.1
_MOST_NAMED = 3


class ShownImages(Protocol):
    """What the store knows of the pages that show images."""

    def showing(self, images: list[int]) -> dict[int, list[int]]: ...

    def before(self, ids: list[int]) -> dict[int, Before]: ...


class MarkedChanges(NamedTuple):
    """All changes of a report, and the pages that are marked because of them."""

    changes: dict[int, Change]
    marked: list[MarkedPage]


def mark(
    store: ShownImages, visits: list[Visit], tasks: Mapping[int, Task], changes: dict[int, Change]
) -> MarkedChanges:
    """The pages that show what changed. Each is marked once, however many of its images did."""
    redrawn = {
        visit.id: visit
        for visit in visits
        if visit.id in changes and _is_redrawn(visit, tasks[visit.id], changes[visit.id])
    }
    shown = store.showing(list(redrawn)) if redrawn else {}
    if not shown:
        return MarkedChanges(changes, [])
    everywhere = {image for image, pages in shown.items() if len(pages) > MOST_PAGES}
    told = changes | {image: _of_the_site(changes[image]) for image in everywhere}
    on_page: dict[int, list[int]] = {}
    for image in shown.keys() - everywhere:
        for page in shown[image]:
            on_page.setdefault(page, []).append(image)
    now = {visit.id: visit for visit in visits}
    there = {id for id, before in store.before(list(on_page)).items() if before.there and before.state == State.FETCHED}
    marked = []
    for page in sorted(there):
        if images := [image for image in sorted(on_page[page]) if _still_shows(now.get(page), image)]:
            at = max(redrawn[image].at for image in images)
            named = [f"{_what(changes[image], tasks[image])}: {tasks[image].url}" for image in images]
            marked.append(MarkedPage(page, at, _change([changes[image] for image in images], named)))
    return MarkedChanges(told, marked)


def _is_redrawn(visit: Visit, task: Task, change: Change) -> bool:
    if visit.outcome in (Outcome.GONE, Outcome.REDIRECT):
        return change.news
    is_file = task.kind == Kind.REQUISITE
    looks = visit.mime.startswith("image/") or (is_file and change.kinds & ChangeKind.PRESENTATION)
    # A file that is new is of a page that is new, too.
    return visit.outcome is Outcome.PAGE and bool(looks) and change.news


def _still_shows(visit: Visit | None, image: int) -> bool:
    """Whether the page shows an image after its own visit in the same report, if there is one."""
    if visit is None or visit.outcome not in (Outcome.PAGE, Outcome.GONE, Outcome.REDIRECT):
        return True
    return visit.outcome is Outcome.PAGE and image in unpacked(visit.images)


def _what(change: Change, task: Task) -> str:
    what = "a file" if task.kind == Kind.REQUISITE else "a picture"
    return f"{what} is {change.summary}" if change.kinds & (ChangeKind.NEW | ChangeKind.GONE) else change.summary


def _change(changes: list[Change], named: list[str]) -> Change:
    more = len(named) - _MOST_NAMED
    summary = "; ".join([*named[:_MOST_NAMED], *([f"{more} more"] if more > 0 else [])])
    kinds = ChangeKind(0)
    for change in changes:
        kinds |= change.kinds & ChangeKind.PRESENTATION or ChangeKind.IMAGE
    return Change(kinds, _SHARE * max(change.significance for change in changes), "no text change", summary)


def _of_the_site(change: Change) -> Change:
    return replace(change, summary=f"{change.summary}; more than {MOST_PAGES} pages show it")
