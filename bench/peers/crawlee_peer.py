"""Crawlee over every link of one host. Run in the peers' own environment: crawlee_peer.py URL
[PAGES]."""

import asyncio
import json
import logging
import sys

from crawlee import ConcurrencySettings
from crawlee.crawlers import ParselCrawler, ParselCrawlingContext
from crawlee.storage_clients import MemoryStorageClient


async def crawl(url: str, limit: int | None) -> int:
    # The fastest parts of Crawlee: its lxml crawler, its default (Rust) HTTP client, queues in
    # memory.
    crawler = ParselCrawler(
        storage_client=MemoryStorageClient(),
        concurrency_settings=ConcurrencySettings(min_concurrency=32, desired_concurrency=32, max_concurrency=32),
        max_requests_per_crawl=limit,
        max_request_retries=0,
        use_session_pool=False,
        respect_robots_txt_file=False,
        configure_logging=False,
    )
    pages = 0

    @crawler.router.default_handler
    async def follow(context: ParselCrawlingContext) -> None:
        nonlocal pages
        pages += "html" in context.http_response.headers.get("content-type", "")
        await context.enqueue_links(strategy="same-hostname")

    await crawler.run([url])
    return pages


def main() -> None:
    logging.disable(logging.CRITICAL)
    url, limit = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else None
    print(json.dumps({"pages": asyncio.run(crawl(url, limit))}))


main()
