"""Connects the parts of the web side to one app."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
from fastapi import Depends, FastAPI

from sanderling import __version__
from sanderling.settings import Settings
from sanderling.web import health, memento, metrics, pages, problems, signing
from sanderling.web.api import (
    changes,
    commands,
    crawls,
    events,
    freshness,
    hosts,
    live,
    notifications,
    retention,
    search,
    topics,
    versions,
    watches,
)
from sanderling.web.api import pages as page_api
from sanderling.web.api.answers import describe
from sanderling.web.broken_links import BrokenLists
from sanderling.web.estimates import Estimates
from sanderling.web.indexes import Indexes
from sanderling.web.keeper import STEP_SECONDS, Keeper
from sanderling.web.middleware import Gate
from sanderling.web.pages.errors import error_page
from sanderling.web.previews import Previews
from sanderling.web.receiving import indexnow, websub
from sanderling.web.receiving.crawls import HostIndex
from sanderling.web.running import Runner
from sanderling.web.security import Security, guard
from sanderling.web.shelf import IDLE_SECONDS, Shelf
from sanderling.web.tallies import Tallies

# Threads that read stores for requests. Each has a connection of its own while it works.
READERS = 8
# Seconds between two looks for feeds with a hub.
SUBSCRIBE_EVERY = 600.0


def create_app(
    shelf: Shelf, security: Security, keep: bool = False, public: str = "", cluster: str = "", listens: bool = False,
    previews: Previews | None = None, keeps_fresh: bool = False,
) -> FastAPI:  # fmt: skip
    """Makes the app of one server. With `keep`, crawls that it started continue after the server
    ends. `public` is its address for hubs. Crawls that it starts run on a `cluster`, if there is
    one. `listens` takes IndexNow messages. The sandbox shows its `previews`. `keeps_fresh` gives
    folders their turns."""
    runner = Runner(shelf, security.allow_private, keep, cluster)
    indexes = Indexes()
    index = HostIndex(shelf)
    keeper = Keeper(shelf) if keeps_fresh else None
    runner.kept = keeper is not None
    subscriber = websub.Subscriber(shelf, Settings().user_agent, public)

    @asynccontextmanager
    async def life(_: FastAPI) -> AsyncIterator[None]:
        anyio.to_thread.current_default_thread_limiter().total_tokens = READERS
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_tidy, shelf, runner, indexes)
            if keeper is not None:
                tasks.start_soon(_keep_fresh, keeper)
            if public:
                tasks.start_soon(_subscribe, subscriber)
            yield
            tasks.cancel_scope.cancel()
        if keeper is not None:
            await anyio.to_thread.run_sync(keeper.close)
        await anyio.to_thread.run_sync(runner.close)
        shelf.close_idle(0)
        indexes.close_idle(0)

    app = FastAPI(
        title="Sanderling", version=__version__, lifespan=life, dependencies=[Depends(guard)],
        openapi_url="/api/v1/openapi.json", docs_url=None, redoc_url=None,
    )  # fmt: skip
    app.state.shelf = shelf
    app.state.security = security
    app.state.runner = runner
    app.state.keeper = keeper
    app.state.indexes = indexes
    app.state.estimates = Estimates()
    app.state.broken_lists = BrokenLists()
    app.state.tallies = Tallies()
    app.state.indexnow = indexnow.Receiver(index, Settings().user_agent) if listens else None
    app.state.previews = previews or Previews()
    app.state.websub = subscriber
    app.state.listeners = events.Listeners()
    problems.install(app, error_page)
    for module in (
        crawls, commands, live, events, hosts, page_api, versions, changes, search, freshness, watches, notifications,
        retention, topics,
    ):  # fmt: skip
        app.include_router(module.router, prefix="/api/v1")
    describe(app)
    app.include_router(metrics.router)
    app.include_router(health.router)
    app.include_router(memento.router)
    app.include_router(changes.feeds)
    app.include_router(signing.router)
    app.include_router(indexnow.router)
    app.include_router(websub.router)
    pages.install(app)
    app.add_middleware(Gate, security=security)
    return app


async def _tidy(shelf: Shelf, runner: Runner, indexes: Indexes) -> None:
    while True:
        await anyio.sleep(IDLE_SECONDS / 2)
        await anyio.to_thread.run_sync(shelf.close_idle)
        indexes.close_idle(IDLE_SECONDS)
        await anyio.to_thread.run_sync(runner.tidy)


async def _keep_fresh(keeper: Keeper) -> None:
    while True:
        await anyio.to_thread.run_sync(keeper.step)
        await anyio.sleep(STEP_SECONDS)


async def _subscribe(subscriber: websub.Subscriber) -> None:
    """Looks now and then for feeds to subscribe to."""
    while True:
        await anyio.to_thread.run_sync(subscriber.subscribe_all)
        await anyio.sleep(SUBSCRIBE_EVERY)
