"""The files that pages need: which are fetched, with rows of their own.

A page's files are in scope wherever they are. Only the user's `exclude` patterns keep them out, and
robots rules and private addresses as for any URL. A URL that was excluded as a link may still be a
file of a page.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from sanderling.model import Found, Kind, NewUrl, State, Task, Visit
from sanderling.model.reasons import BY_SETTINGS, code_of, reason
from sanderling.repository.store import FrontierStore
from sanderling.server.frontier.seeds import Seeds
from sanderling.server.frontier.transition import Move
from sanderling.server.ranking.reranker import FRONT
from sanderling.urls import identity, origin

# A style sheet imports one that imports one: longer chains, redirects included, are traps.
DEEPEST = 8
# They come before any page, so that what is stored of a page is complete early. Sitemaps and what
# a person asks for come first, but have a lower rank: by it, files are found in the queue.
RANK = 2 * FRONT


class Needed(NamedTuple):
    """What becomes of the files that a report names."""

    rows: list[NewUrl]  # files that nobody knew, some in the place of an excluded link
    moves: list[Move]  # links that were excluded, and are files of a page


def named(visits: Iterable[Visit]) -> dict[int, tuple[Found, Visit]]:
    """The files that a report names, each with the visit that did so first."""
    files: dict[int, tuple[Found, Visit]] = {}
    for visit in visits:
        for found in visit.found:
            if found.kind == Kind.REQUISITE:
                files.setdefault(found.id, (found, visit))
    return files


def admitted(
    files: Mapping[int, tuple[Found, Visit]], tasks: Mapping[int, Task], links: Iterable[NewUrl], store: FrontierStore,
    seeds: Seeds,
) -> Needed:  # fmt: skip
    """`links` are the rows that the same report brings for links."""
    beside = {row.id: row for row in links if row.id in files}
    unknown = set(store.unknown({id: found.url for id, (found, _) in files.items()}))
    free = [id for id in unknown if id not in beside or _may_change(beside[id].state, beside[id].reason)]
    rows = [_row(files[id][0], files[id][1].id, tasks[files[id][1].id], seeds) for id in sorted(free)]
    return Needed(rows, _moves(files, [id for id in files if id not in unknown], store, seeds))


def _row(found: Found, via: int, task: Task, seeds: Seeds) -> NewUrl:
    home = origin(found.url)
    hops = task.hops + 1 if task.kind == Kind.REQUISITE else 0
    why = reason("requisite-deep", DEEPEST) if hops > DEEPEST else seeds.scope.forbidden(found.url, home)
    state = State.EXCLUDED if why else State.QUEUED
    return NewUrl(found.id, found.url, identity(home), task.depth, state, RANK, via, hops, "", why, Kind.REQUISITE)


def _moves(
    files: Mapping[int, tuple[Found, Visit]], known: list[int], store: FrontierStore, seeds: Seeds
) -> list[Move]:
    excluded = [id for id, (_, state) in store.known(known).items() if state == State.EXCLUDED] if known else []
    if not excluded:
        return []
    why = store.reasons(excluded)
    depths = {task.id: task.depth for task in store.tasks(excluded) if task.kind == Kind.PAGE}
    moves = []
    for id in sorted(depths):
        url = files[id][0].url
        if _may_change(State.EXCLUDED, why.get(id, "")) and not seeds.scope.forbidden(url, origin(url)):
            moves.append(Move(id, identity(origin(url)), depths[id], State.EXCLUDED, url=url, counted=False))
    return moves


def _may_change(state: State, why: str) -> bool:
    """Whether a link was only left because it leads out of scope."""
    return state is State.EXCLUDED and code_of(why) in BY_SETTINGS
