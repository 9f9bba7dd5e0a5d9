"""The topic of a crawl: its model, and the pages that it learns from."""

from fastapi import APIRouter, Response
from msgspec import Struct
from pydantic import BaseModel, Field

from sanderling.repository.opening import settings_for
from sanderling.server.topic.harvest import by_topic
from sanderling.topics.model import read
from sanderling.web import teaching
from sanderling.web.api.answers import gives, json_answer
from sanderling.web.api.inputs import PageId, RunnerDep, ShelfDep, page_named

router = APIRouter(tags=["topics"])


class TopicExample(Struct, frozen=True):
    """A page that the model learned from."""

    source: str
    relevant: bool


class TopicAnswer(Struct, frozen=True):
    """The model of a topic. Its quality is estimated from its examples, if there are enough."""

    name: str
    precision: float | None
    recall: float | None
    examples: list[TopicExample]
    topics: dict[str, int] = {}  # pages on each topic, if there are several


class TaughtPage(BaseModel, extra="forbid"):
    relevant: bool = Field(description="whether the page is on the topic")


@router.get("/crawls/{crawl}/topic", **gives(TopicAnswer))
def topic(crawl: str, shelf: ShelfDep) -> Response:
    """The topic of a crawl, with its examples and counter-examples."""
    folder = shelf.folder(crawl)
    teaching.require_topic(folder)
    found = read(folder.topic)
    with shelf.reading(crawl) as (_, store):
        pages = by_topic(store, found, settings_for(folder, {})[0].relatedness)
    examples = [
        TopicExample(each.source, each.relevant) for part in found.all for each in part.examples if not each.background
    ]
    quality = found.quality
    return json_answer(TopicAnswer(found.title, quality.precision, quality.recall, examples, pages))


@router.put("/crawls/{crawl}/topic/examples/{page}", **gives(TopicAnswer))
def teach(crawl: str, page: PageId, asked: TaughtPage, shelf: ShelfDep) -> Response:
    """Make a stored page an example of the topic, or a counter-example, and train the model with
    it."""
    with shelf.reading(crawl) as (folder, store):
        teaching.teach(folder, store, page_named(store, page).url, asked.relevant)
    return topic(crawl, shelf)


@router.post("/crawls/{crawl}/topic/judge", status_code=202)
def judge(crawl: str, shelf: ShelfDep, runner: RunnerDep) -> Response:
    """Judge all stored pages by the model as it is now, in a process of its own."""
    folder = shelf.folder(crawl)
    teaching.require_topic(folder)
    runner.judge(folder)
    return Response(status_code=202)
