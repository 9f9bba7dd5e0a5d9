"""Pages for people. Each is a function that reads a crawl and fills a template."""

from pathlib import Path

from fastapi import APIRouter, FastAPI
from fastapi.staticfiles import StaticFiles

from sanderling.web.pages import (
    broken,
    changes,
    compare,
    controls,
    crawl,
    crawl_settings,
    crawls,
    forms_page,
    freshness,
    hosts,
    listing,
    live,
    page,
    screenshots,
    search,
    starting,
    topic,
    watches,
)
from sanderling.web.pages.recent_rates import RecentRates
from sanderling.web.pages.rendering import prepare

router = APIRouter(include_in_schema=False)
for module in (
    broken,
    crawl_settings,
    crawls,
    starting,
    crawl,
    live,
    controls,
    listing,
    page,
    compare,
    screenshots,
    changes,
    search,
    freshness,
    hosts,
    forms_page,
    topic,
    watches,
):
    router.include_router(module.router)


def install(app: FastAPI) -> None:
    """Adds the pages and their static files to the app."""
    prepare()
    app.include_router(router)
    app.state.recent_rates = RecentRates()
    app.mount("/static", StaticFiles(directory=Path(__file__).parent.parent / "static"))
