"""Buttons and forms that control a crawl: start, pause, resume, stop, and change limits and
scope."""

from collections.abc import Mapping
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.concurrency import run_in_threadpool

from sanderling.errors import SanderlingError
from sanderling.model import Command
from sanderling.repository.folder import Folder
from sanderling.server.requests import remote
from sanderling.server.requests.control import LIMITS, SCOPE
from sanderling.settings import Settings, load
from sanderling.web import running
from sanderling.web.api.inputs import RunnerDep, ShelfDep
from sanderling.web.pages import settings_form
from sanderling.web.pages.addresses import form_fields
from sanderling.web.pages.freshness import wrong_budget
from sanderling.web.pages.rendering import show
from sanderling.web.problems import NotFound
from sanderling.web.running import Runner

router = APIRouter()

CHANGEABLE = (*LIMITS, *SCOPE)


@router.post("/crawls/{crawl}/control")
async def control(request: Request, crawl: str, shelf: ShelfDep, runner: RunnerDep) -> Response:
    typed = await form_fields(request)
    if wrong_budget(budget := typed.get("budget", "").strip()):
        return RedirectResponse(f"/crawls/{crawl}/freshness?{urlencode({'budget': budget})}", 303)
    await run_in_threadpool(_follow, runner, shelf.folder(crawl), typed.get("action", ""), budget)
    return RedirectResponse(f"/crawls/{crawl}", 303)


def _follow(runner: Runner, folder: Folder, action: str, budget: str) -> None:
    if action in ("crawl", "again", "retry", "refresh"):
        runner.start(folder, action, budget)  # type: ignore[arg-type]  # it is one of the four
    elif action in ("pause", "resume", "stop"):
        remote.command(folder.path, Command(action))  # type: ignore[arg-type]  # it is one of the three
    else:
        raise NotFound("this action does not exist")


@router.get("/crawls/{crawl}/limits")
def limits(request: Request, crawl: str, shelf: ShelfDep) -> HTMLResponse:
    settings = _settings(shelf.folder(crawl))
    return _page(request, crawl, settings_form.filled(settings, CHANGEABLE), {})


@router.post("/crawls/{crawl}/limits")
async def change(request: Request, crawl: str, shelf: ShelfDep) -> Response:
    typed = await form_fields(request)
    folder = shelf.folder(crawl)
    wrong = await run_in_threadpool(_change, folder, typed)
    if wrong:
        return _page(request, crawl, typed, wrong)
    return RedirectResponse(f"/crawls/{crawl}", 303)


def _change(folder: Folder, typed: Mapping[str, str]) -> dict[str, str]:
    """Changes the settings that differ from the current ones. Returns errors by field."""
    values, wrong = settings_form.read_settings(typed, CHANGEABLE)
    if wrong:
        return wrong
    now = settings_form.filled(_settings(folder), CHANGEABLE)
    changed = {
        name: None if value == getattr(Settings(), name) else value
        for name, value in values.items()
        if settings_form.as_typed(name, value) != now.get(name, settings_form.as_typed(name, getattr(Settings(), name)))
    }
    try:
        if changed:
            running.change(folder, changed)
    except SanderlingError as error:
        return {"": str(error)}
    return {}


def _settings(folder: Folder) -> Settings:
    return load(folder.settings)[0] if folder.settings.exists() else Settings()


def _page(request: Request, crawl: str, typed: Mapping[str, str], wrong: dict[str, str]) -> HTMLResponse:
    return show(
        request, "limits.html", status=422 if wrong else 200, crawl=crawl, tab="Overview", wrong=wrong,
        fields=settings_form.fields(typed, wrong, CHANGEABLE), limit_names=LIMITS, scope_names=SCOPE,
    )  # fmt: skip
