"""Searches the text of current and older versions."""

import time
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from sanderling.errors import UsageError
from sanderling.presenting.versions import moment, span
from sanderling.search import searching
from sanderling.telling.selection import kinds_named
from sanderling.web.api.answers import gives, json_answer
from sanderling.web.api.changes import Kinds, Since
from sanderling.web.api.inputs import ShelfDep
from sanderling.web.indexes import Indexes

router = APIRouter(tags=["search"])

Within = Annotated[
    list[Annotated[str, Query(max_length=1000)]],
    Query(max_length=searching.MOST_WITHIN, description="earlier queries; only what each of them finds too"),
]

At = Annotated[str, Query(description="as they were then: a month, a day or a moment", max_length=40)]
Semantic = Annotated[bool, Query(description="also pages that say it in other words")]
Until = Annotated[str, Query(description="with at: all versions until the end of this month or day", max_length=40)]


@router.get("/crawls/{crawl}/search", **gives(searching.Results))
def search(
    request: Request, crawl: str, shelf: ShelfDep, q: Annotated[str, Query(max_length=1000)] = "",
    host: str = "", language: str = "", since: Since = "", changed: Since = "", at: At = "", until: Until = "",
    gone: bool = False, versions: bool = False, semantic: Semantic = False, limit: Annotated[int, Query(ge=1, le=100)] = 10, page: Annotated[int, Query(ge=1)] = 1,
    kind: Kinds = [],  # noqa: B006  (FastAPI copies it)
    within: Within = [],  # noqa: B006
) -> Response:  # fmt: skip
    """Pages that match a query, the best first.

    `behind` counts versions that are not indexed yet; the request starts to index them.
    """
    now = time.time()
    if until and not at:
        raise UsageError("until needs at, where the time begins")
    times: dict[str, Any] = {name: moment(text, now) for name, text in (("since", since), ("changed", changed)) if text}
    times |= zip(("at", "until"), span(at, until, now), strict=True) if at else ()
    asked = searching.Query(
        text=q, semantic=semantic, within=tuple(within), host=host, language=language, kinds=kinds_named(kind), gone=gone, versions=versions, limit=limit,
        page=page, **times,
    )  # fmt: skip
    indexes: Indexes = request.app.state.indexes
    with shelf.reading(crawl) as (folder, store):
        results = indexes.searcher(folder, store).find(asked)
    if results.behind or semantic:
        indexes.catch_up(folder, semantic)
    return json_answer(results)
