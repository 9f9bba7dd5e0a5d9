"""Crawls: a list of all, the progress of each, and new ones."""

import re
from typing import Any

from fastapi import APIRouter, Response
from msgspec import Struct
from pydantic import BaseModel, Field

from sanderling.errors import BadSeed, RunFailed, SanderlingError
from sanderling.model import Counts, Live
from sanderling.repository.folder import Folder, in_use
from sanderling.repository.store import Totals
from sanderling.server.frontier.scope import canonical_seed
from sanderling.server.requests import remote
from sanderling.server.topic.bookmarks import bookmarks_in
from sanderling.settings import load
from sanderling.urls import hostname
from sanderling.web import deleting
from sanderling.web.api.answers import gives, json_answer
from sanderling.web.api.inputs import RunnerDep, ShelfDep
from sanderling.web.running import Runner, last_line
from sanderling.web.shelf import Shelf

router = APIRouter(tags=["crawls"])


class CrawlAnswer(Struct, frozen=True, kw_only=True):
    """A crawl folder and its progress. `paused` can be true only while it runs."""

    id: str
    folder: str
    running: bool
    paused: bool = False
    seeds: list[str] = []
    counts: Counts | None = None
    problem: str = ""
    said: str = ""  # the last output line of a crawl that this server started


class Crawls(Struct, frozen=True):
    """Every crawl on this server. If one cannot be read, `problem` says why."""

    items: list[CrawlAnswer]


class NewCrawl(BaseModel, extra="forbid"):
    seeds: list[str] = Field([], max_length=10_000, description="the URLs to start from")
    bookmarks: str = Field("", description="a browser's bookmark file, whose addresses are seeds, too")
    examples: str = Field(
        "", description="of a topic: addresses, one a line, or a bookmark file, or a model that `sanderling topic` made"
    )
    name: str = Field("", max_length=64, description="the name of the folder; the default comes from the first seed")
    settings: dict[str, Any] = Field({}, description="settings by name, as in sanderling.toml")
    start: bool = Field(True, description="start at once")


def crawl_named(id: str, folder: Folder, store: Totals) -> CrawlAnswer:
    running = in_use(folder)
    live: Live | None = None
    if running:
        try:
            live = remote.look(folder.path, patience=1.0)
        except (remote.NotRunning, RunFailed):  # it is starting or ending
            live = None
    return CrawlAnswer(
        id=id, folder=str(folder.path), running=running, paused=live is not None and live.paused,
        seeds=store.seeds()[:100], counts=counted(live.counts if live else store.counts(), running),
        said=last_line(folder),
    )  # fmt: skip


def counted(counts: Counts, running: bool) -> Counts:
    """The totals to show. Leases end with the process that gave them."""
    return counts.with_leases(counts.leased if running else 0)


@router.get("/crawls", **gives(Crawls))
def list_crawls(shelf: ShelfDep) -> Response:
    """Every crawl on this server."""
    return json_answer(Crawls([_looked_at(shelf, id, folder) for id, folder in shelf.folders().items()]))


@router.post("/crawls", **gives(CrawlAnswer, 201))
def create_crawl(asked: NewCrawl, shelf: ShelfDep, runner: RunnerDep) -> Response:
    """Make a new crawl, and start it unless `start` is false."""
    seeds = [*asked.seeds, *(each.url for each in bookmarks_in(asked.bookmarks))] if asked.bookmarks else asked.seeds
    id, folder = make(shelf, runner, asked.name, seeds, asked.settings, asked.examples.strip())
    if asked.start:
        runner.start(folder)
    return json_answer(_looked_at(shelf, id, folder), 201, {"Location": f"/api/v1/crawls/{id}"})


@router.get("/crawls/{crawl}", **gives(CrawlAnswer))
def read_crawl(crawl: str, shelf: ShelfDep) -> Response:
    """One crawl."""
    folder = shelf.folder(crawl)
    if not_begun(folder):
        return json_answer(_empty(crawl, folder))
    with shelf.opened(folder) as store:
        return json_answer(crawl_named(crawl, folder, store))


@router.delete("/crawls/{crawl}", status_code=204)
def delete_crawl(crawl: str, shelf: ShelfDep) -> Response:
    """Delete the folder of a crawl that is not running, with everything in it."""
    deleting.delete(shelf, crawl)
    return Response(status_code=204)


def make(
    shelf: Shelf, runner: Runner, name: str, seeds: list[str], settings: dict[str, object], examples: str = ""
) -> tuple[str, Folder]:
    """Makes a folder for a new crawl. Returns its name in URLs, and the folder."""
    if not seeds:
        raise BadSeed("name at least one seed")
    folder = runner.create(name or shelf.free_name(_from_seed(seeds[0])), seeds, settings, examples)
    return next(id for id, each in shelf.folders().items() if each.path == folder.path), folder


def _from_seed(seed: str) -> str:
    return re.sub(r"[^a-z0-9.-]+", "-", hostname(canonical_seed(seed)).lower()).strip(".-")[:60] or "crawl"


def _looked_at(shelf: Shelf, id: str, folder: Folder) -> CrawlAnswer:
    try:
        if not_begun(folder):
            return _empty(id, folder)
        with shelf.opened(folder) as store:
            return crawl_named(id, folder, store)
    except SanderlingError as error:
        return CrawlAnswer(
            id=id, folder=str(folder.path), running=in_use(folder), problem=str(error), said=last_line(folder)
        )


def not_begun(folder: Folder) -> bool:
    """Whether a crawl was made but never started."""
    return not folder.database.exists() and not load(folder.settings)[0].store


def _empty(id: str, folder: Folder) -> CrawlAnswer:
    """The answer for a crawl that was never started."""
    seeds = list(load(folder.settings)[1][:100])
    return CrawlAnswer(
        id=id, folder=str(folder.path), running=in_use(folder), seeds=seeds, counts=Counts(), said=last_line(folder)
    )
