"""Who is told of the changes of a crawl. Addresses hold passwords and are never shown whole."""

from typing import Any

from fastapi import APIRouter, Path, Response
from msgspec import Struct
from pydantic import BaseModel, Field

from sanderling.errors import UsageError
from sanderling.repository.folder import Folder
from sanderling.server.requests.tables import add_table, remove_table
from sanderling.settings import load
from sanderling.subscriptions import ChangeName, Notify
from sanderling.telling.notification import trial
from sanderling.telling.service import notify
from sanderling.web import watching
from sanderling.web.api.answers import gives, json_answer
from sanderling.web.api.inputs import RunnerDep, ShelfDep

router = APIRouter(tags=["notifications"])

Place = Path(ge=0, le=10_000, description="the place of the address in the list, from 0")


class NewAddress(BaseModel, extra="forbid"):
    to: str = Field(max_length=2000, description="an address of Apprise", examples=["json://hooks.example.org"])
    when: str = Field("at once", max_length=20, description="at once, hourly, daily, daily 08:00 or weekly")
    kinds: list[ChangeName] = Field([], max_length=20, description="only these kinds of change")
    tags: list[str] = Field([], max_length=50, description="only watches with one of these tags")
    min_significance: float = Field(0.0, ge=0, le=1)


class AddressAnswer(Struct, frozen=True):
    """An address that is told, without its secrets."""

    to: str
    when: str
    kinds: tuple[str, ...]
    tags: tuple[str, ...]
    min_significance: float


class AddressList(Struct, frozen=True):
    """Every address that is told. The place in the list names it."""

    items: list[AddressAnswer]


class Delivered(Struct, frozen=True):
    """Whether a message was taken, and what was said if not."""

    taken: bool
    complaint: str


@router.get("/crawls/{crawl}/notifications", **gives(AddressList))
def list_addresses(crawl: str, shelf: ShelfDep) -> Response:
    """Who is told of changes."""
    return json_answer(_listed(shelf.folder(crawl)))


@router.post("/crawls/{crawl}/notifications", **gives(AddressList, 201))
def add_address(crawl: str, asked: NewAddress, shelf: ShelfDep, runner: RunnerDep) -> Response:
    """Tell another address."""
    folder = shelf.folder(crawl)
    table: dict[str, Any] = {name: value for name, value in asked.model_dump().items() if value}
    if "\0" in repr(table) or "\\x00" in repr(table):
        raise UsageError("a value contains a null character")
    watching.check_address(asked.to, runner.allow_private)
    add_table(folder, "notify", table)
    return json_answer(_listed(folder), 201)


@router.delete("/crawls/{crawl}/notifications/{place}", status_code=204)
def remove_address(crawl: str, shelf: ShelfDep, place: int = Place) -> Response:
    """Tell an address no longer."""
    remove_table(shelf.folder(crawl), "notify", place)
    return Response(status_code=204)


@router.post("/crawls/{crawl}/notifications/{place}/test", **gives(Delivered))
def test_address(crawl: str, shelf: ShelfDep, place: int = Place) -> Response:
    """Send an address a message that says that it is a test."""
    told = _told(shelf.folder(crawl))
    if place >= len(told):
        raise UsageError(f"there are {len(told)} of notify")
    answer = notify(trial(told[place]), told[place])
    return json_answer(Delivered(answer.taken, answer.complaint_or_none or ""))


def _told(folder: Folder) -> tuple[Notify, ...]:
    return load(folder.settings)[0].notify if folder.settings.exists() else ()


def _listed(folder: Folder) -> AddressList:
    return AddressList(
        [
            AddressAnswer(each.without_secrets, each.when, each.kinds, each.tags, each.min_significance)
            for each in _told(folder)
        ]
    )
