"""Crawls: which there are and how far they are."""

import msgspec
from fastapi import APIRouter
from pydantic import BaseModel

from sanderling.errors import SanderlingError
from sanderling.model import Counts
from sanderling.repository.folder import Folder, in_use
from sanderling.repository.store import Store
from sanderling.web.api.given import GivenShelf

router = APIRouter(tags=["crawls"])


class CrawlCounts(BaseModel):
    """Totals, as `sanderling status --json` has them."""

    known: int
    queued: int
    leased: int
    fetched: int
    failed: int
    gone: int
    excluded: int
    held: int
    pages: int
    redirects: int
    versions: int
    bytes: int
    retried: int
    truncated: int
    visits: int
    changed: int
    not_modified: int
    same: int


class Crawl(BaseModel):
    """A crawl folder."""

    id: str
    folder: str
    running: bool
    seeds: list[str] = []
    counts: CrawlCounts | None = None
    problem: str = ""


class Crawls(BaseModel):
    items: list[Crawl]


def crawl_of(id: str, folder: Folder, store: Store) -> Crawl:
    running = in_use(folder)
    return Crawl(
        id=id, folder=str(folder.path), running=running, seeds=store.seeds()[:100],
        counts=counts_of(store.counts(), running),
    )  # fmt: skip


def counts_of(counts: Counts, running: bool) -> CrawlCounts:
    if not running:
        counts.leased = 0  # leases end with the process that gave them
    counts.queued -= counts.leased
    return CrawlCounts(**msgspec.to_builtins(counts))


@router.get("/crawls")
def list_crawls(shelf: GivenShelf) -> Crawls:
    """Every crawl on this server; one that cannot be read says why."""
    found = []
    for id, folder in shelf.folders().items():
        try:
            with shelf.reading(id) as (_, store):
                found.append(crawl_of(id, folder, store))
        except SanderlingError as error:
            found.append(Crawl(id=id, folder=str(folder.path), running=in_use(folder), problem=str(error)))
    return Crawls(items=found)


@router.get("/crawls/{crawl}")
def read_crawl(crawl: str, shelf: GivenShelf) -> Crawl:
    """One crawl."""
    with shelf.reading(crawl) as (folder, store):
        return crawl_of(crawl, folder, store)
