"""How long versions are kept."""

from fastapi import APIRouter, Response
from msgspec import Struct
from pydantic import BaseModel, Field

from sanderling.repository.folder import Folder
from sanderling.retention import ALL
from sanderling.server import retention
from sanderling.server.requests.control import amend_file
from sanderling.settings import Settings, load, overlay
from sanderling.web.api.answers import gives, json_answer
from sanderling.web.api.crawls import not_begun
from sanderling.web.api.inputs import ShelfDep

router = APIRouter(tags=["retention"])


class KeepRule(BaseModel, extra="forbid"):
    keep: str = Field(max_length=40, description="all, thin, an age such as 30d, or a number such as 100 versions")


class RetentionAnswer(Struct, frozen=True):
    """How long versions are kept, and what would leave now. Runs remove it once a day."""

    keep: str
    versions: int  # that are not kept
    pages: int  # of which these are versions
    waiting: list[str]  # who is still to be told of some


@router.get("/crawls/{crawl}/retention", **gives(RetentionAnswer))
def read_retention(crawl: str, shelf: ShelfDep, keep: str = "") -> Response:
    """How long versions are kept, and what would leave. With `keep`, what would leave by that
    rule. It looks at every version."""
    folder = shelf.folder(crawl)
    settings = load(folder.settings)[0] if folder.settings.exists() else Settings()
    if keep:
        overlay(settings, {"keep": keep})
    if not_begun(folder):
        return json_answer(RetentionAnswer(keep or settings.keep, 0, 0, []))
    with shelf.opened(folder) as store:
        choice, told = retention.choose(folder, store, settings, keep)
    pages = len({row.url for row in choice.versions})
    waiting = told.waiting if choice.untold else []
    return json_answer(RetentionAnswer(keep or settings.keep, len(choice.versions), pages, waiting))


@router.patch("/crawls/{crawl}/retention", **gives(RetentionAnswer))
def change_retention(crawl: str, asked: KeepRule, shelf: ShelfDep) -> Response:
    """Keep versions for longer or shorter. What is not kept is removed by the next run."""
    change(shelf.folder(crawl), asked.keep)
    return read_retention(crawl, shelf)


def change(folder: Folder, keep: str) -> None:
    overlay(Settings(), {"keep": keep})
    amend_file(folder.settings, {"keep": keep if keep not in ("", ALL) else None})
