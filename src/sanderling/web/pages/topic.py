"""The topic of a crawl in the dashboard: its harvest, why a page was chosen, and buttons that teach
the model."""

from typing import NamedTuple
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response
from starlette.concurrency import run_in_threadpool

from sanderling.errors import UsageError
from sanderling.repository import views
from sanderling.repository.folder import Folder, in_use
from sanderling.repository.store import Store, ViewStore
from sanderling.server.topic import rejudging
from sanderling.server.topic.harvest import by_topic
from sanderling.topics.model import read
from sanderling.web import teaching
from sanderling.web.api.inputs import RunnerDep, ShelfDep
from sanderling.web.pages import plots
from sanderling.web.pages.addresses import form_fields, page_of
from sanderling.web.shelf import Shelf

router = APIRouter()

# Points of the curve.
_POINTS = 60


class HarvestShown(NamedTuple):
    """What a focused crawl has brought."""

    name: str
    pages: int
    relevant: int
    by_topic: dict[str, int]  # pages on each of several topics
    drawn: plots.Drawing
    behind: str  # that another model has judged the pages
    busy: bool  # it crawls, or judges


class Chosen(NamedTuple):
    """Why a page was chosen, as names and values."""

    parts: list[tuple[str, str]]
    found_on: str
    found_on_id: int
    taught: str  # what somebody said of it


def harvest(folder: Folder, store: Store | None, relatedness: float) -> HarvestShown | None:
    """None for a crawl without a topic."""
    if store is None or not folder.topic.exists():
        return None
    visited = views.harvested(store)
    if len(visited) < 2:
        return None
    in_order = [row.relevance >= relatedness for row in sorted(visited, key=lambda row: row.fetched_at)]
    nearest = [row.relevance >= relatedness for row in sorted(visited, key=lambda row: (row.depth, row.number))]
    lines = [_cumulated(in_order), _cumulated(nearest)]
    most = max(y for line in lines for _, y in line) or 1.0
    count = len(visited)
    said = f"{sum(in_order):,} of {count:,} pages are on the topic"
    drawn = plots.curve(
        lines, said, [(0, "0"), (count / 2, f"{count // 2:,}"), (count, f"{count:,}")],
        [(0, "0 %"), (most / 2, f"{most / 2:.0%}"), (most, f"{most:.0%}")],
    )  # fmt: skip
    topic = read(folder.topic)
    return HarvestShown(
        topic.title,
        count,
        sum(in_order),
        by_topic(store, topic, relatedness),
        drawn,
        rejudging.said(store, topic),
        in_use(folder),
    )


def _cumulated(fits: list[bool]) -> list[tuple[float, float]]:
    """The share that fits among the first n, for some n."""
    totals, total = [], 0
    for each in fits:
        total += each
        totals.append(total)
    places = sorted({max(1, round(len(fits) * n / _POINTS)) for n in range(1, _POINTS + 1)})
    return [(float(at), totals[at - 1] / at) for at in places]


def chosen(folder: Folder, store: ViewStore, page: views.Shown) -> Chosen | None:
    """Why a page was chosen; None in a crawl without a topic."""
    if not folder.topic.exists():
        return None
    known = views.topic_parts(store, page.id)
    parts = [("Relevance", f"{page.relevance:.2f}")] if page.fetched_at else []
    if page.depth:
        parts.append(("Words of the link", f"{known.words:.2f}"))
    if known.found_on:
        parts.append(("Page it was found on", f"{known.parent:.2f}"))
    if known.linking:
        mean = sum(known.linking) / len(known.linking)
        parts.append(("Pages that link to it", f"{mean:.2f} on average over {len(known.linking):,}"))
    if known.hosts_pages:
        parts.append(("Its host, on average", f"{known.host:.2f} over {known.hosts_pages:,} pages"))
    if page.depth:
        parts.append(("Pages off the topic before it", str(known.off_topic)))
        parts.append(("Rank in the queue", f"{known.rank:.3f}"))
    else:
        parts.append(("Chosen", "it is a start address"))
    said = {each.source: each.relevant for each in read(folder.topic).examples if not each.background}
    taught = "" if page.url not in said else "relevant" if said[page.url] else "not relevant"
    return Chosen(parts, known.found_on, known.found_on_id, taught)


@router.post("/crawls/{crawl}/judge")
async def judge(crawl: str, shelf: ShelfDep, runner: RunnerDep) -> Response:
    """Judges all stored pages by the model as it is now, in a process of its own."""
    await run_in_threadpool(runner.judge, shelf.folder(crawl))
    return RedirectResponse(f"/crawls/{crawl}", 303)


@router.post("/crawls/{crawl}/pages/{id}/teach")
async def teach(request: Request, crawl: str, id: str, shelf: ShelfDep) -> Response:
    """Adds a page to the examples of the topic, or to the counter-examples, and trains the model
    with it."""
    said = (await form_fields(request)).get("relevant", "")
    if said not in ("yes", "no"):
        raise UsageError("say whether the page is relevant: yes or no")
    told = await run_in_threadpool(_teach, shelf, crawl, id, said == "yes")
    return RedirectResponse(f"/crawls/{crawl}/pages/{id}?{urlencode({'taught': told})}", 303)


def _teach(shelf: Shelf, crawl: str, id: str, relevant: bool) -> str:
    with shelf.reading(crawl) as (folder, store):
        quality = teaching.teach(folder, store, page_of(store, id).url, relevant)
    if quality.precision is None or quality.recall is None:
        return "The model was trained with it."
    return f"The model was trained with it: precision {quality.precision:.2f}, recall {quality.recall:.2f}."
