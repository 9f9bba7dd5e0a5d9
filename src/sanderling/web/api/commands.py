"""Commands to a crawl: start, pause, resume, stop, and change its limits or scope."""

from typing import Any
from urllib.parse import urlsplit

from fastapi import APIRouter, Response
from msgspec import Struct
from pydantic import BaseModel, Field

from sanderling.model import Command, Live, VisitReply
from sanderling.repository import address
from sanderling.server.requests import remote
from sanderling.settings import DECLARED, Settings, load
from sanderling.web import running
from sanderling.web.api.answers import gives, json_answer
from sanderling.web.api.crawls import CrawlAnswer, read_crawl
from sanderling.web.api.inputs import RunnerDep, ShelfDep

router = APIRouter(tags=["commands"])


class StartCommand(BaseModel, extra="forbid"):
    mode: running.Mode = "crawl"
    budget: str = Field(
        "", max_length=40, description="for a refresh: visits (500) or bytes (50MB), in all or per time (2000/h)"
    )
    forever: bool = Field(False, description="for a refresh: continue for ever, with a budget per time")


class LimitChanges(BaseModel, extra="forbid"):
    """Only the given fields are changed. Null removes a limit."""

    max_pages: int | None = None
    max_depth: int | None = None
    max_time: str | float | None = None
    max_bytes: str | int | None = None


class ScopeChange(BaseModel, extra="forbid"):
    """Only the given fields are changed. Null restores the default."""

    scope: str | None = None
    include: list[str] | None = None
    exclude: list[str] | None = None
    order: str | None = None


class Setting(Struct, frozen=True):
    """A setting and its value."""

    name: str
    value: Any
    default: Any
    unit: str
    group: str
    help: str


class SettingList(Struct, frozen=True):
    """The settings in the folder of a crawl."""

    items: list[Setting]


class VisitNow(BaseModel, extra="forbid"):
    urls: list[str] = Field(min_length=1, max_length=1000, description="within the scope of the crawl, new or known")


class VisitReplies(Struct, frozen=True):
    """What becomes of each URL, in the order they were asked for."""

    items: list[VisitReply]


@router.post("/crawls/{crawl}/start", **gives(CrawlAnswer))
def start(crawl: str, asked: StartCommand, shelf: ShelfDep, runner: RunnerDep) -> Response:
    """Start or resume a crawl. `retry` also visits failed URLs, `again` visits every known page
    once more, and `refresh` visits the pages that have most probably changed."""
    runner.start(shelf.folder(crawl), asked.mode, asked.budget, asked.forever)
    return read_crawl(crawl, shelf)


@router.post("/crawls/{crawl}/pause", **gives(Live))
def pause(crawl: str, shelf: ShelfDep) -> Response:
    """Start no further visits until the crawl is resumed. Running fetches are finished."""
    return json_answer(remote.command(shelf.folder(crawl).path, Command("pause")))


@router.post("/crawls/{crawl}/resume", **gives(Live))
def resume(crawl: str, shelf: ShelfDep) -> Response:
    """End a pause."""
    return json_answer(remote.command(shelf.folder(crawl).path, Command("resume")))


@router.post("/crawls/{crawl}/stop", **gives(Live))
def stop(crawl: str, shelf: ShelfDep) -> Response:
    """End the process of the crawl. Nothing is lost, and `start` resumes it."""
    return json_answer(remote.command(shelf.folder(crawl).path, Command("stop")))


@router.post("/crawls/{crawl}/visit", **gives(VisitReplies))
def visit(crawl: str, asked: VisitNow, shelf: ShelfDep) -> Response:
    """Have a running crawl or refresh visit URLs first. The answer says for each URL what will
    happen, or why it is refused."""
    return json_answer(VisitReplies(remote.visit(shelf.folder(crawl).path, asked.urls).replies))


@router.patch("/crawls/{crawl}/limits", **gives(SettingList))
def change_limits(crawl: str, asked: LimitChanges, shelf: ShelfDep) -> Response:
    """Change limits, for the running crawl and for later runs."""
    running.change(shelf.folder(crawl), asked.model_dump(exclude_unset=True))
    return settings(crawl, shelf)


@router.patch("/crawls/{crawl}/scope", **gives(SettingList))
def change_scope(crawl: str, asked: ScopeChange, shelf: ShelfDep) -> Response:
    """Change which links are followed. It also applies to known URLs, but not to pages that were
    visited."""
    running.change(shelf.folder(crawl), asked.model_dump(exclude_unset=True))
    return settings(crawl, shelf)


@router.get("/crawls/{crawl}/settings", **gives(SettingList))
def settings(crawl: str, shelf: ShelfDep) -> Response:
    """Every setting of a crawl."""
    folder = shelf.folder(crawl)
    chosen = load(folder.settings)[0] if folder.settings.exists() else Settings()
    return json_answer(SettingList([_setting(chosen, each) for each in DECLARED]))


def _setting(chosen: Settings, each: Any) -> Setting:
    value = getattr(chosen, each.name)
    if each.name in ("store", "proxy") and value:
        value = address.without_password(value)  # no passwords
    if each.name == "webhook":
        value = [urlsplit(hook.url).hostname for hook in value]  # no secrets
    if each.name == "notify":
        value = [asked.without_secrets for asked in value]
    if each.name == "watch":
        value = [watched.url for watched in value]
    if each.name == "login":
        value = [login.place for login in value]
    return Setting(each.name, value, getattr(Settings(), each.name), each.unit, each.group, each.help)
