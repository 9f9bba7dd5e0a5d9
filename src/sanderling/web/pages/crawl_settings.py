"""The settings of one crawl: what counts as a change, who is told, export and deletion."""

import subprocess
from collections.abc import Iterator, Mapping

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse, StreamingResponse
from starlette.concurrency import run_in_threadpool

from sanderling.change.judging import fingerprinter
from sanderling.errors import SanderlingError, UsageError
from sanderling.processes import entry_points
from sanderling.repository.folder import Folder
from sanderling.retention import EXAMPLES
from sanderling.server.requests.control import amend_file
from sanderling.server.requests.tables import add_table, remove_table
from sanderling.settings import Rule, Settings, load, overlay
from sanderling.subscriptions import Notify
from sanderling.telling.answer import DeliveryAnswer
from sanderling.telling.notification import trial
from sanderling.telling.receivers import AddressReceiver
from sanderling.telling.service import notify
from sanderling.urls import hostname
from sanderling.web import deleting, watching
from sanderling.web.api import retention
from sanderling.web.api.inputs import RunnerDep, ShelfDep
from sanderling.web.edits import edits_of
from sanderling.web.pages.addresses import form_fields
from sanderling.web.pages.changes import KINDS
from sanderling.web.pages.rendering import show
from sanderling.web.problems import NotFound
from sanderling.web.running import Runner
from sanderling.web.shelf import Shelf

router = APIRouter()

WHEN = ("at once", "hourly", "daily", "weekly")
# What a browser saves: format, the end of its name, what it is.
EXPORTS = (
    ("jsonl", "jsonl", "one JSON object per page, with its facts and its text"),
    ("warc", "warc.gz", "every request and response, for any web archive tool"),
    ("cdxj", "cdxj", "an index of the WARC files"),
    ("links", "tsv", "the link graph: source and target"),
    ("graphml", "graphml", "the link graph as GraphML"),
)
_PREVIEWED = 3
_CHUNK = 1 << 16


@router.get("/crawls/{crawl}/settings")
def settings(request: Request, crawl: str, shelf: ShelfDep) -> HTMLResponse:
    return _page(request, crawl, shelf, {}, {})


@router.post("/crawls/{crawl}/settings")
async def change(request: Request, crawl: str, shelf: ShelfDep, runner: RunnerDep) -> Response:
    typed = {**await form_fields(request)}
    form = await request.form()
    typed["kinds"] = " ".join(str(each) for each in form.getlist("kinds"))
    wrong = await run_in_threadpool(_change, shelf, runner, crawl, typed)
    if wrong:
        return await run_in_threadpool(_page, request, crawl, shelf, typed, wrong)
    return RedirectResponse(f"/crawls/{crawl}/settings", 303)


@router.post("/crawls/{crawl}/delete")
async def delete(request: Request, crawl: str, shelf: ShelfDep) -> Response:
    if (await form_fields(request)).get("name", "").strip() != crawl:
        wrong = {"name": f"type {crawl} to delete it"}
        return await run_in_threadpool(_page, request, crawl, shelf, {}, wrong)
    await run_in_threadpool(deleting.delete, shelf, crawl)
    return RedirectResponse("/", 303)


@router.get("/crawls/{crawl}/export/{format}")
def export(crawl: str, format: str, shelf: ShelfDep) -> StreamingResponse:
    """A download, made by a process of its own."""
    ending = next((end for name, end, _ in EXPORTS if name == format), None)
    if ending is None:
        raise NotFound(f"there is no export {format!r}")
    path = shelf.folder(crawl).path
    return StreamingResponse(
        _exported(str(path), format), media_type="application/octet-stream",
        headers={"Content-Disposition": f'attachment; filename="{crawl}.{ending}"'},
    )  # fmt: skip


def _exported(path: str, format: str) -> Iterator[bytes]:
    command = entry_points.command("command", "export", path, "--format", format, "-o", "-")
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as made:
        try:
            assert made.stdout is not None
            while chunk := made.stdout.read(_CHUNK):
                yield chunk
        finally:
            made.kill()


def _change(shelf: Shelf, runner: Runner, crawl: str, typed: Mapping[str, str]) -> dict[str, str]:
    folder, action = shelf.folder(crawl), typed.get("action", "")
    try:
        if action == "rule":
            _add_rule(folder, typed)
        elif action == "notify":
            _add_address(folder, runner, typed)
        elif action == "schedule":
            _schedule(folder, typed)
        elif action == "keep":
            retention.change(folder, typed.get("keep", "").strip())
        elif action in ("remove-rules", "remove-notify"):
            name = "rules" if action == "remove-rules" else "notify"
            remove_table(folder, name, _place(typed))  # type: ignore[arg-type]  # it is one of the two
        elif action == "test":
            answer = _test(folder, _place(typed))
            if answer.complaint_or_none:
                return {"": f"the message was not sent: {answer.complaint}"}
        else:
            raise NotFound("this action does not exist")
    except SanderlingError as error:
        return {
            {"rule": "watched", "notify": "to", "schedule": "keep_fresh", "keep": "keep"}.get(action, ""): str(error)
        }
    return {}


def _add_rule(folder: Folder, typed: Mapping[str, str]) -> None:
    lists = {name: typed.get(field, "").split("\n") for name, field in (("watch", "watched"), ("ignore", "ignored"))}
    table = {name: kept for name, lines in lists.items() if (kept := [line.strip() for line in lines if line.strip()])}
    if not table:
        raise UsageError("give a selector of parts that count, or of parts that do not")
    urls = typed.get("urls", "").strip()
    fingerprinter((Rule(urls, tuple(table.get("ignore", ())), tuple(table.get("watch", ()))),))
    add_table(folder, "rules", {**({"urls": urls} if urls else {}), **table})


def _add_address(folder: Folder, runner: Runner, typed: Mapping[str, str]) -> None:
    to, when = typed.get("to", "").strip(), typed.get("when", "")
    watching.check_address(to, runner.allow_private)
    table: dict[str, object] = {"to": to}
    if when in WHEN[1:]:
        table["when"] = when
    if kinds := [each for each in typed.get("kinds", "").split() if each in KINDS]:
        table["kinds"] = kinds
    if tags := typed.get("tags", "").replace(",", " ").split():
        table["tags"] = tags
    add_table(folder, "notify", table)


def _schedule(folder: Folder, typed: Mapping[str, str]) -> None:
    changes: dict[str, object] = {name: typed.get(name, "").strip() for name in ("keep_fresh", "quiet")}
    overlay(Settings(), {name: value for name, value in changes.items() if value})
    amend_file(folder.settings, {name: value or None for name, value in changes.items()})


def _test(folder: Folder, place: int) -> DeliveryAnswer:
    told = _settings(folder).notify
    if not 0 <= place < len(told):
        raise UsageError("this address is no longer there")
    return notify(trial(told[place]), told[place])


def _place(typed: Mapping[str, str]) -> int:
    text = typed.get("place", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 6 else -1


def _settings(folder: Folder) -> Settings:
    return load(folder.settings)[0] if folder.settings.exists() else Settings()


def _page(
    request: Request, crawl: str, shelf: Shelf, typed: Mapping[str, str], wrong: dict[str, str]
) -> HTMLResponse:  # fmt: skip
    folder = shelf.folder(crawl)
    kept = _settings(folder)
    return show(
        request, "crawl_settings.html", status=422 if wrong else 200, crawl=crawl, tab="Settings", wrong=wrong, typed=typed,
        rules=kept.rules, notify=kept.notify, webhooks=[hostname(each.url) for each in kept.webhook], kinds=KINDS,
        when=WHEN, exports=EXPORTS, folder=folder.path, kept=request.app.state.keeper is not None,
        keeping=EXAMPLES, keep=typed.get("keep", kept.keep), schedule={"keep_fresh": kept.keep_fresh, "quiet": kept.quiet} | {**typed}, sample=_sample(shelf, folder),
    )  # fmt: skip


def _sample(shelf: Shelf, folder: Folder) -> tuple[str, str]:
    """The subject and the text of a message about the latest changes."""
    if not folder.database.exists():
        return "", ""
    with shelf.opened(folder) as store:
        found = edits_of(store, _PREVIEWED).items
    rows = sorted((each for edit in found for each in edit.versions), key=lambda version: version.number)
    sent = AddressReceiver(Notify("json://example.org")).text(rows) if rows else None
    return (sent.subject, sent.body) if sent else ("", "")
