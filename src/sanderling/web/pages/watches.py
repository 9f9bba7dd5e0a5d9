"""Watched pages: their list, and the form in which the watched part is picked by a click."""

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.concurrency import run_in_threadpool

from sanderling.change.rules import ChangeRules
from sanderling.clock import DAY
from sanderling.errors import SanderlingError
from sanderling.model import Command
from sanderling.presenting.screen import interval
from sanderling.repository import views, warc
from sanderling.repository.archive import document_in
from sanderling.retention import EXAMPLES, read_keep
from sanderling.server.requests import remote
from sanderling.settings import seconds
from sanderling.urls import identity
from sanderling.watches import SHORTEST, USUAL
from sanderling.web import watching
from sanderling.web.api.inputs import RunnerDep, ShelfDep, identity_named
from sanderling.web.pages.addresses import form_fields
from sanderling.web.pages.rendering import show
from sanderling.web.previews import Preview, Previews, matches
from sanderling.web.problems import NotFound
from sanderling.web.running import Runner
from sanderling.web.security import archive_origin
from sanderling.web.shelf import Shelf

router = APIRouter()

# Facts that are typed as lines, with label, hint and example. The first two stand alone.
_LISTS = {
    "select": ("", "", ""), "notify": ("", "", ""),
    "ignore": ("Parts that do not count", "CSS selectors, XPath or JSONPath.", ".advertisement"),
    "keep_text": ("Only these lines", "Patterns. Of a group, only what it matches counts.", r"Price: (\d+)"),
    "ignore_text": ("Lines that do not count", "Patterns.", "visitors"),
    "must": ("Told only if this appears", "Patterns: one of them.", "In stock"),
    "must_not": ("Not told if this appears", "Patterns.", "Sold out"),
    "number": ("Told only if the number", "rises, falls, below 75 or above 75: one of them.", "below 75"),
}  # fmt: skip
_FURTHER = [name for name, (label, _, _) in _LISTS.items() if label]
_INTERVALS = ("10m", "1h", "6h", "1d", "7d")
_UNITS = ((DAY, "d"), (3600.0, "h"), (60.0, "m"))


@router.get("/watches")
def listed(request: Request, shelf: ShelfDep, crawl: str = "", tag: str = "") -> HTMLResponse:
    found = watching.watches(shelf, crawl)
    tags = sorted({tag for each in found for tag in each.watch.tags})
    shown = [each for each in found if not tag or tag in each.watch.tags]
    kept = request.app.state.keeper is not None
    idle = (
        [] if kept else list(dict.fromkeys(each.crawl for each in found if not each.running and not each.watch.paused))
    )
    return show(
        request, "watches.html", here="Watches", found=shown, tags=tags, tag=tag, only=crawl, idle=idle,
        running=[] if kept else list(dict.fromkeys(each.crawl for each in found if each.running)), every=interval, kept=kept,
    )  # fmt: skip


@router.get("/watches/new")
def new(request: Request, shelf: ShelfDep, runner: RunnerDep, url: str = "", crawl: str = "") -> HTMLResponse:
    """The page is only fetched for our own form, not for a link on a page of another site."""
    if request.headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
        url = ""
    typed = {"url": url.strip(), "crawl": crawl, "every": _as_typed(USUAL)}
    return _form(request, shelf, runner, typed, {})


@router.post("/watches/new")
async def add(request: Request, shelf: ShelfDep, runner: RunnerDep) -> Response:
    typed = await form_fields(request)
    wrong = await run_in_threadpool(_add, shelf, runner, typed)
    if wrong:
        return await run_in_threadpool(_form, request, shelf, runner, typed, wrong)
    return RedirectResponse("/watches", 303)


@router.post("/watches/matches")
async def tried(request: Request, runner: RunnerDep) -> HTMLResponse:
    """What the typed selectors match on the page."""
    typed = await form_fields(request)
    preview = _previews(request).named(typed.get("preview", ""))
    if preview is None:
        raise NotFound("the copy of the page is no longer kept: load it again")
    found = await run_in_threadpool(matches, preview, _rules(typed))
    return show(request, "_matches.html", found=found, whole=not _rules(typed).select)


@router.get("/crawls/{crawl}/watches/{id}")
def edited(request: Request, crawl: str, id: str, shelf: ShelfDep, runner: RunnerDep) -> HTMLResponse:
    watch = watching.watched(shelf, crawl, _id(id)).watch
    typed = {
        **{name: "\n".join(getattr(watch, name)) for name in _LISTS if name != "notify"}, "url": watch.url, "crawl": crawl,
        "every": _as_typed(watch.every), "title": watch.title, "tags": " ".join(watch.tags), "keep": watch.keep,
    }  # fmt: skip
    return _form(request, shelf, runner, typed, {}, id, told=len(watch.notify))


@router.post("/crawls/{crawl}/watches/{id}")
async def change(request: Request, crawl: str, id: str, shelf: ShelfDep, runner: RunnerDep) -> Response:
    typed = await form_fields(request)
    wrong = await run_in_threadpool(_change, shelf, runner, crawl, _id(id), typed)
    if wrong:
        return await run_in_threadpool(_form, request, shelf, runner, {**typed, "crawl": crawl}, wrong, id)
    return RedirectResponse("/watches", 303)


@router.post("/crawls/{crawl}/watching")
async def run(request: Request, crawl: str, shelf: ShelfDep, runner: RunnerDep) -> Response:
    """Begins or ends to visit the watched pages of a folder."""
    folder = shelf.folder(crawl)
    if (await form_fields(request)).get("action") == "stop":
        await run_in_threadpool(remote.command, folder.path, Command("stop"))
    else:
        await run_in_threadpool(runner.watch, folder)
    return RedirectResponse("/watches", 303)


def _add(shelf: Shelf, runner: Runner, typed: Mapping[str, str]) -> dict[str, str]:
    given, wrong = _given(typed)
    if wrong:
        return wrong
    try:
        added = watching.add(shelf, runner, typed.get("crawl", ""), typed.get("url", ""), given)
        watching.begin(shelf, runner, added.crawl)
    except SanderlingError as error:
        return {"": str(error)}
    return {}


def _change(shelf: Shelf, runner: Runner, crawl: str, page: int, typed: Mapping[str, str]) -> dict[str, str]:
    action = typed.get("action", "")
    try:
        if action == "remove":
            watching.remove(shelf, crawl, page)
        elif action in ("pause", "resume"):
            watching.edit(shelf, runner, crawl, page, {"paused": action == "pause"})
        else:
            given, wrong = _given(typed)
            if wrong:
                return wrong
            if not given["notify"]:  # they are not shown, so an empty field keeps them
                del given["notify"]
            watching.edit(shelf, runner, crawl, page, given)
        watching.restart(shelf, runner, crawl)
    except SanderlingError as error:
        return {"": str(error)}
    return {}


def _given(typed: Mapping[str, str]) -> tuple[dict[str, Any], dict[str, str]]:
    """The facts of a watch as typed, and errors by field."""
    wrong: dict[str, str] = {}
    try:
        if seconds("every", typed.get("every", "")) < SHORTEST:
            wrong["every"] = "the interval must be a second or more"
    except SanderlingError:
        wrong["every"] = f"{typed.get('every', '')!r} is not a time such as 10m, 2h or 1d"
    given: dict[str, Any] = {
        **{name: _lines(typed, name) for name in _LISTS}, "every": typed.get("every", "").strip(),
        "title": typed.get("title", "").strip(), "tags": typed.get("tags", "").replace(",", " ").split(),
        "keep": typed.get("keep", "").strip(),
    }  # fmt: skip
    try:
        read_keep(given["keep"])
    except ValueError as error:
        wrong["keep"] = str(error)
    return given, wrong


def _lines(typed: Mapping[str, str], name: str) -> list[str]:
    return [line.strip() for line in typed.get(name, "").splitlines() if line.strip()]


def _rules(typed: Mapping[str, str]) -> ChangeRules:
    ignore, watch, keep, leave = (
        tuple(_lines(typed, name)) for name in ("ignore", "select", "keep_text", "ignore_text")
    )
    return ChangeRules(ignore, watch, keep, leave)


def _id(id: str) -> int:
    try:
        return identity_named(id)
    except ValueError:
        raise NotFound("this page is not watched") from None


def _previews(request: Request) -> Previews:
    previews: Previews = request.app.state.previews
    return previews


def _form(
    request: Request, shelf: Shelf, runner: Runner, typed: Mapping[str, str], wrong: dict[str, str], id: str = "",
    told: int = 0,
) -> HTMLResponse:  # fmt: skip
    preview, source = None, ""
    if typed.get("url"):
        try:
            preview, source = _preview(request, shelf, runner, typed["url"])
        except SanderlingError as error:
            wrong = {**wrong, "url": str(error)}
    return show(
        request, "watch.html", here="Watches", status=422 if wrong else 200, typed=typed, wrong=wrong, id=id, told=told,
        preview=preview, intervals=_INTERVALS, source=source, keeping=EXAMPLES,
        copy=f"{archive_origin(request)}/preview/{preview.token}" if preview and not preview.error else "",
        found=matches(preview, _rules(typed)) if preview else None, whole=not _rules(typed).select,
        further=[(name, *_LISTS[name]) for name in _FURTHER], opened=any(typed.get(name) for name in _FURTHER),
        folders=list(shelf.folders()) if not id else [], home=watching.HOME,
    )  # fmt: skip


def _as_typed(interval: float) -> str:
    """An interval as a user would type it, such as 10m."""
    return next((f"{interval / unit:g}{name}" for unit, name in _UNITS if interval % unit == 0), f"{interval:g}s")


def _preview(request: Request, shelf: Shelf, runner: Runner, url: str) -> tuple[Preview, str]:
    """The archived copy of a page if some crawl has one, else the page as it is now."""
    page = watching.page_address(url)
    previews = _previews(request)
    for name, folder in shelf.folders().items():
        if not folder.database.exists():
            continue
        with shelf.opened(folder) as store:
            count = views.version_count(store, identity(page))
            newest = views.versions(store, identity(page), count, count)[0] if count else None
            document = None
            if newest is not None and "gone" not in newest.kinds.names:
                document = document_in(warc.read(folder.warcs, newest.stored))
        if document is not None and newest is not None:
            return previews.keep(page, document.html, "", newest.at), name
    return previews.fetched(page, runner.allow_private), ""
