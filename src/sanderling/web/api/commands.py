"""What is done to a crawl: start, pause, resume, stop, and other limits or another scope."""

from typing import Any
from urllib.parse import urlsplit

from fastapi import APIRouter, Response
from msgspec import Struct
from pydantic import BaseModel, Field

from sanderling.crawling import remote
from sanderling.model import Command, Live
from sanderling.repository import address
from sanderling.settings import DECLARED, Settings, load
from sanderling.web import running
from sanderling.web.api.answers import gives, said
from sanderling.web.api.crawls import CrawlAnswer, read_crawl
from sanderling.web.api.given import GivenRunner, GivenShelf

router = APIRouter(tags=["commands"])


class Start(BaseModel, extra="forbid"):
    mode: running.Mode = "crawl"
    budget: str = Field(
        "", max_length=40, description="of a refresh: visits (500) or bytes (50MB), at once or in a time (2000/h)"
    )
    forever: bool = Field(False, description="of a refresh: go on as the budget flows")


class Limits(BaseModel, extra="forbid"):
    """Only what is given is changed; null lifts a limit."""

    max_pages: int | None = None
    max_time: str | float | None = None
    max_bytes: str | int | None = None


class ScopeChange(BaseModel, extra="forbid"):
    """Only what is given is changed; null brings the default back."""

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
    """The settings of a crawl as its folder has them."""

    items: list[Setting]


@router.post("/crawls/{crawl}/start", **gives(CrawlAnswer))
def start(crawl: str, asked: Start, shelf: GivenShelf, runner: GivenRunner) -> Response:
    """Resume a crawl, also with what failed (`retry`), visit every known page once more (`again`), or those that deserve
    it (`refresh`)."""
    runner.start(shelf.folder(crawl), asked.mode, asked.budget, asked.forever)
    return read_crawl(crawl, shelf)


@router.post("/crawls/{crawl}/pause", **gives(Live))
def pause(crawl: str, shelf: GivenShelf) -> Response:
    """Hand nothing out until it is resumed; what is being fetched is finished."""
    return said(remote.command(shelf.folder(crawl).path, Command("pause")))


@router.post("/crawls/{crawl}/resume", **gives(Live))
def resume(crawl: str, shelf: GivenShelf) -> Response:
    """End a pause."""
    return said(remote.command(shelf.folder(crawl).path, Command("resume")))


@router.post("/crawls/{crawl}/stop", **gives(Live))
def stop(crawl: str, shelf: GivenShelf) -> Response:
    """End the crawl's process; nothing is lost, and `start` goes on."""
    return said(remote.command(shelf.folder(crawl).path, Command("stop")))


@router.patch("/crawls/{crawl}/limits", **gives(SettingList))
def change_limits(crawl: str, asked: Limits, shelf: GivenShelf) -> Response:
    """Change limits: at once when the crawl runs, and for its next runs."""
    running.change(shelf.folder(crawl), asked.model_dump(exclude_unset=True))
    return settings(crawl, shelf)


@router.patch("/crawls/{crawl}/scope", **gives(SettingList))
def change_scope(crawl: str, asked: ScopeChange, shelf: GivenShelf) -> Response:
    """Change what is followed: also counts for URLs that are known already, not for pages that were visited."""
    running.change(shelf.folder(crawl), asked.model_dump(exclude_unset=True))
    return settings(crawl, shelf)


@router.get("/crawls/{crawl}/settings", **gives(SettingList))
def settings(crawl: str, shelf: GivenShelf) -> Response:
    """Every setting of a crawl."""
    folder = shelf.folder(crawl)
    chosen = load(folder.settings)[0] if folder.settings.exists() else Settings()
    return said(SettingList([_shown(chosen, each) for each in DECLARED]))


def _shown(chosen: Settings, each: Any) -> Setting:
    value = getattr(chosen, each.name)
    if each.name in ("store", "proxy") and value:
        value = address.shown(value)  # no passwords
    if each.name == "webhook":
        value = [urlsplit(hook.url).hostname for hook in value]  # no secrets
    return Setting(each.name, value, getattr(Settings(), each.name), each.unit, each.group, each.help)
