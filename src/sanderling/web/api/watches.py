"""Watched pages: their list, and how it is changed."""

from typing import Any

from fastapi import APIRouter, Response
from msgspec import Struct
from pydantic import BaseModel, Field

from sanderling.change.rules import ChangeRules
from sanderling.errors import UsageError
from sanderling.settings import seconds
from sanderling.web import watching
from sanderling.web.api.answers import gives, json_answer
from sanderling.web.api.inputs import PageId, RunnerDep, ShelfDep, identity_named, named
from sanderling.web.previews import Previews, matches

router = APIRouter(tags=["watches"])

Texts = list[str]
_previews = Previews()


class WatchFacts(BaseModel, extra="forbid"):
    """Only the given fields are changed. Null or an empty list removes one."""

    select: Texts | None = Field(None, max_length=50, description="selectors of the parts that count")
    ignore: Texts | None = Field(None, max_length=50, description="selectors of parts that do not count")
    keep_text: Texts | None = Field(None, max_length=50, description="patterns of lines: only these count")
    ignore_text: Texts | None = Field(None, max_length=50, description="patterns of lines that do not count")
    must: Texts | None = Field(None, max_length=50, description="told only if one of these patterns appears")
    must_not: Texts | None = Field(None, max_length=50, description="told only if none of these patterns appears")
    number: Texts | None = Field(None, max_length=10, description="rises, falls, below N or above N")
    every: str | None = Field(None, max_length=40, description="the interval: 30s, 10m, 1d")
    title: str | None = Field(None, max_length=500)
    tags: Texts | None = Field(None, max_length=50)
    notify: Texts | None = Field(None, max_length=20, description="addresses of Apprise; they are never shown again")
    keep: str | None = Field(
        None, max_length=40, description="how long versions are kept: all, thin, 30d, 100 versions"
    )
    paused: bool | None = None


class NewWatch(WatchFacts):
    url: str = Field(max_length=2000, examples=["https://shop.example/p/7"])
    crawl: str = Field(
        watching.HOME, max_length=64, description="the folder it is kept in; a new one is made if needed"
    )
    start: bool = Field(True, description="begin to visit it, if the folder has watched pages only")


class Tried(BaseModel, extra="forbid"):
    url: str = Field(max_length=2000)
    select: Texts = Field([], max_length=50)
    ignore: Texts = Field([], max_length=50)
    keep_text: Texts = Field([], max_length=50)
    ignore_text: Texts = Field([], max_length=50)


class WatchAnswer(Struct, frozen=True, kw_only=True):
    """A watched page, and what is known of it."""

    crawl: str
    page: str
    url: str
    select: tuple[str, ...]
    ignore: tuple[str, ...]
    keep_text: tuple[str, ...]
    ignore_text: tuple[str, ...]
    must: tuple[str, ...]
    must_not: tuple[str, ...]
    number: tuple[str, ...]
    every: float  # seconds
    title: str
    tags: tuple[str, ...]
    notify: int  # addresses that are told
    keep: str  # how long versions are kept; empty for as long as the crawl says
    paused: bool
    running: bool
    value: str  # what its selectors match in the newest version
    visited_at: float
    changed_at: float
    excerpt: str  # its last change, before → after


class WatchList(Struct, frozen=True):
    """Every watched page."""

    items: list[WatchAnswer]


class MatchList(Struct, frozen=True):
    """What is matched on a page now. `count` is the number of all matches."""

    items: list[str]
    count: int
    problem: str


@router.get("/watches", **gives(WatchList))
def list_watches(shelf: ShelfDep, crawl: str = "", tag: str = "") -> Response:
    """Every watched page, of one crawl or with one tag if asked for."""
    found = [each for each in watching.watches(shelf, crawl) if not tag or tag in each.watch.tags]
    return json_answer(WatchList([*map(_answer, found)]))


@router.post("/watches", **gives(WatchAnswer, 201))
def add_watch(asked: NewWatch, shelf: ShelfDep, runner: RunnerDep) -> Response:
    """Watch a page."""
    given = _given(asked)
    for name in ("url", "crawl", "start"):
        given.pop(name, None)
    added = watching.add(shelf, runner, asked.crawl, asked.url, given)
    if asked.start:
        watching.begin(shelf, runner, added.crawl)
    return json_answer(
        _answer(watching.watched(shelf, added.crawl, added.id)), 201,
        {"Location": f"/api/v1/crawls/{added.crawl}/watches/{named(added.id)}"},
    )  # fmt: skip


@router.post("/watches/matches", **gives(MatchList))
def try_selectors(asked: Tried, runner: RunnerDep) -> Response:
    """What selectors and patterns match on a page now. Nothing is kept."""
    url = watching.page_address(asked.url)
    rules = ChangeRules(tuple(asked.ignore), tuple(asked.select), tuple(asked.keep_text), tuple(asked.ignore_text))
    found = matches(_previews.fetched(url, runner.allow_private), rules)
    return json_answer(MatchList(found.texts, found.count, found.error))


@router.get("/crawls/{crawl}/watches/{page}", **gives(WatchAnswer))
def read_watch(crawl: str, page: PageId, shelf: ShelfDep) -> Response:
    """One watched page."""
    return json_answer(_answer(watching.watched(shelf, crawl, identity_named(page))))


@router.patch("/crawls/{crawl}/watches/{page}", **gives(WatchAnswer))
def edit_watch(crawl: str, page: PageId, asked: WatchFacts, shelf: ShelfDep, runner: RunnerDep) -> Response:
    """Change a watched page, pause it or go on."""
    changed = watching.edit(shelf, runner, crawl, identity_named(page), _given(asked))
    watching.restart(shelf, runner, crawl)
    return json_answer(_answer(changed))


@router.delete("/crawls/{crawl}/watches/{page}", status_code=204)
def remove_watch(crawl: str, page: PageId, shelf: ShelfDep, runner: RunnerDep) -> Response:
    """Watch a page no longer. Its history stays."""
    watching.remove(shelf, crawl, identity_named(page))
    watching.restart(shelf, runner, crawl)
    return Response(status_code=204)


def _given(asked: WatchFacts) -> dict[str, Any]:
    given = asked.model_dump(exclude_unset=True)
    if given.get("every"):
        seconds("every", given["every"])
    if "\0" in repr(given) or "\\x00" in repr(given):
        raise UsageError("a value contains a null character")
    return given


def _answer(found: watching.WatchedPage) -> WatchAnswer:
    watch = found.watch
    names = (
        "select",
        "ignore",
        "keep_text",
        "ignore_text",
        "must",
        "must_not",
        "number",
        "every",
        "title",
        "tags",
        "keep",
    )
    return WatchAnswer(
        **{name: getattr(watch, name) for name in names}, crawl=found.crawl, page=named(found.id), url=watch.url,
        notify=len(watch.notify), paused=watch.paused, running=found.running and not watch.paused, value=found.value,
        visited_at=found.page.fetched_at if found.page else 0.0, changed_at=found.changed.at if found.changed else 0.0,
        excerpt=found.changed.excerpt if found.changed else "",
    )  # fmt: skip
