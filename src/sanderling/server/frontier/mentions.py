"""What visits lead to: rows for the URLs that they mention, and known URLs that come back."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from sanderling.model import Found, Host, Kind, NewUrl, Outcome, State, Task, Visit
from sanderling.model.reasons import reason
from sanderling.repository.store import FrontierStore
from sanderling.server.frontier.admission import Admission
from sanderling.server.frontier.hints import apply_hints, hints_in
from sanderling.server.frontier.seeds import Seeds
from sanderling.server.frontier.transition import Move, queued
from sanderling.server.gate.gatekeeper import Gatekeeper
from sanderling.server.gate.holding import Lessons

if TYPE_CHECKING:  # loaded only by crawls that send forms
    from sanderling.server.frontier.form_queries import FormWork


class Mentions(NamedTuple):
    """What a report leads to."""

    unknown: set[int]  # URLs that were not known before it
    urls: list[NewUrl]
    moves: list[Move]
    files: list[int]  # among them, links that turned out to be files of pages
    homes: list[str] | None  # all URLs that seeds were redirected to, when there are new ones
    dated: list[tuple[int, float]]  # known URLs, and when they changed as a source says
    hosts: list[Host]  # whose lessons are kept
    notes: dict[str, str]  # likewise


def mentions(
    store: FrontierStore, seeds: Seeds, admission: Admission, gate: Gatekeeper, visits: list[Visit],
    tasks: Mapping[int, Task], lessons: Lessons, answers: "FormWork | None",
) -> Mentions:  # fmt: skip
    """Admits what visits mention for the first time."""
    seen = first_seen(visits)
    homes, back_in_scope = seeds.follow(redirected_seeds(visits, tasks), seen)
    unknown = store.unknown({id: found.url for id, (found, _) in seen.items()})
    new = set(unknown)
    hinted = apply_hints(hints_in(seen, new), new, lambda hint: admission.found([seen[hint.id]], tasks))
    links = [seen[id] for id in unknown if not seen[id][0].modified]
    urls = unique([*admission.sitemaps(lessons), *admission.found(links, tasks), *hinted.urls])
    if answers is not None:
        urls = unique(excluded([*urls, *answers.urls], answers.refinements))
    files = admission.files(visits, tasks, urls)
    urls = unique([*urls, *files.rows])
    moves = [*map(back, not_among(back_in_scope, lessons)), *queued(lessons.released), *files.moves]
    return Mentions(new, urls, moves, [move.id for move in files.moves], homes, hinted.dated, *gate.kept(lessons))


def first_seen(visits: list[Visit]) -> dict[int, tuple[Found, Visit]]:
    """Every URL that a report mentions, once, with the visit that mentioned it first; but for the
    files of pages, which `requisites` takes."""
    seen: dict[int, tuple[Found, Visit]] = {}
    for visit in visits:
        for found in visit.found:
            if found[3] != Kind.REQUISITE:
                seen.setdefault(found[0], (found, visit))
    return seen


def unique(rows: Iterable[NewUrl]) -> list[NewUrl]:
    """Rows, each URL once."""
    return list({row.id: row for row in rows}.values())


def redirected_seeds(visits: Iterable[Visit], tasks: Mapping[int, Task]) -> list[Visit]:
    return [visit for visit in visits if visit.outcome is Outcome.REDIRECT and tasks[visit.id].depth == 0]


def not_among(rows: list[NewUrl], lessons: Lessons) -> list[NewUrl]:
    """Those that are not released anyway."""
    released = {each.id for each in lessons.released}
    return [row for row in rows if row.id not in released]


def back(row: NewUrl) -> Move:
    """Where a seed was redirected to, which was out of scope before."""
    return Move(row.id, row.host, row.depth, State.EXCLUDED, url=row.url)


def excluded(rows: list[NewUrl], refinements: set[int]) -> list[NewUrl]:
    """Rows, with those that are only other views of a form's answer as excluded."""
    why = reason("form-refinement")
    return [
        row._replace(state=State.EXCLUDED, reason=why) if row.id in refinements and row.kind == Kind.PAGE else row
        for row in rows
    ]
