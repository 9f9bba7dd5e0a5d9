"""The form that makes and starts a crawl."""

from collections.abc import Mapping

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile

from sanderling.errors import BadSeed, BadTopic, SanderlingError, UsageError
from sanderling.server.topic.bookmarks import bookmarks_in, is_bookmarks
from sanderling.web.api.inputs import RunnerDep, ShelfDep
from sanderling.web.pages import settings_form
from sanderling.web.pages.addresses import form_fields
from sanderling.web.pages.rendering import show
from sanderling.web.running import Runner
from sanderling.web.shelf import Shelf

router = APIRouter()

# Rules are tables, which belong in a file and not in a form.
_ELSEWHERE = ("rules",)
GROUPS = (
    ("What to follow", "By default, every link on the hosts of its start addresses.", ("scope", "order", "include", "exclude", "sitemaps")),
    ("Topic", "Keep to a topic instead of a site. Name it in words, or give pages that are about it.", ("topic", "relatedness", "tunnel_depth", "min_harvest", "topic_share", "cut_short")),
    ("When to stop", "By default, when nothing is left to visit.", ("max_pages", "max_depth", "max_time", "max_bytes")),
    ("What to fetch", "By default, pages that scripts fill are rendered in a browser, if there is one.", ("render", "images", "requisites", "screenshots")),
    ("Later", "By default, you start each further visit, and every version is kept.", ("keep_fresh", "quiet", "keep")),
    (
        "Manners",
        "By default, robots.txt is obeyed. A host gets one connection, and a pause after each page that is four times as long as its answer took.",
        ("per_host", "delay", "delay_factor", "max_delay", "contact", "user_agent", "ignore_robots", "follow_nofollow", "allow_private"),
    ),
)  # fmt: skip
# Groups that are open at first.
_OPEN = ("What to follow", "When to stop")


@router.get("/new")
def new(request: Request, shelf: ShelfDep, runner: RunnerDep) -> HTMLResponse:
    if not shelf.may_create:
        raise UsageError("crawls cannot be created here: start the server with a directory to create them in")
    return _page(request, shelf, runner, {}, settings_form.FormInput("", [], {}, {}))


@router.post("/new/command")
async def command(request: Request, runner: RunnerDep) -> HTMLResponse:
    """The command for the values typed so far."""
    return show(
        request, "_command.html", command=settings_form.read(await _with_files(request), _names(runner)).command
    )


@router.post("/new")
async def create(request: Request, shelf: ShelfDep, runner: RunnerDep) -> Response:
    typed = await _with_files(request)
    asked = settings_form.read(typed, _names(runner))
    if not typed.get("name", "").strip() and asked.name and shelf.may_create:  # a second crawl of a host is numbered
        asked = asked._replace(name=shelf.free_name(asked.name))
    if trouble := _name_trouble(shelf, asked.name):
        asked.wrong["name"] = trouble
    if not asked.wrong:
        asked = await run_in_threadpool(_begin, runner, asked, typed.get("examples", "").strip())
    if asked.wrong:
        return await run_in_threadpool(_page, request, shelf, runner, typed, asked)
    return RedirectResponse(f"/crawls/{asked.name}", 303)


async def _with_files(request: Request) -> dict[str, str]:
    """The fields of the form. A file stands for the text of its field, and the addresses of a
    browser's bookmarks are start addresses."""
    typed = await form_fields(request)
    for name, file in (await request.form()).items():
        if isinstance(file, UploadFile) and file.size:
            typed[name.removesuffix("_file")] = (await file.read()).decode("utf-8", "replace")
    if is_bookmarks(typed.get("seeds", "")):
        typed["seeds"] = "\n".join(each.url for each in bookmarks_in(typed["seeds"]))
    return typed


def _name_trouble(shelf: Shelf, name: str) -> str:
    """Why a new crawl cannot have this name. Without seeds, the name may still be empty."""
    try:
        if name:
            shelf.room_for(name)
    except UsageError as error:
        return str(error)
    return ""


def _begin(runner: Runner, asked: settings_form.FormInput, examples: str) -> settings_form.FormInput:
    """Makes and starts the crawl. Errors are stored by the name of their field."""
    try:
        folder = runner.create(asked.name, asked.seeds, asked.chosen, examples)
    except BadTopic as error:
        return asked._replace(wrong={"examples": str(error)})
    except BadSeed as error:
        return asked._replace(wrong={"seeds": str(error)})
    except SanderlingError as error:
        return asked._replace(wrong={"": str(error)})
    try:
        runner.start(folder)
    except SanderlingError as error:
        return asked._replace(wrong={"": f"the crawl was made, but it did not start: {error}"})
    return asked


def _names(runner: Runner) -> list[str]:
    return [name for name in runner.offered if name not in _ELSEWHERE]


def _page(
    request: Request, shelf: Shelf, runner: Runner, typed: Mapping[str, str], asked: settings_form.FormInput
) -> HTMLResponse:
    names = _names(runner)
    grouped = [(title, said, [name for name in some if name in names]) for title, said, some in GROUPS]
    rest = [name for name in names if not any(name in some for _, _, some in GROUPS)]
    groups = [
        (title, said, some, title in _OPEN or any(name in asked.wrong or name in asked.chosen for name in some))
        for title, said, some in [*grouped, ("Everything else", "", rest)]
    ]
    return show(
        request, "new.html", status=422 if asked.wrong else 200, place=shelf.place, typed=typed, wrong=asked.wrong,
        groups=groups, fields=settings_form.fields(typed, asked.wrong, names), command=asked.command,
        taken=asked.name if "name" in asked.wrong and asked.name in shelf.folders() else "",
    )  # fmt: skip
