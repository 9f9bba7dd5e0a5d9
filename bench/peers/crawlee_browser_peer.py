"""Crawlee's PlaywrightCrawler over every link of one host. Run in its own environment: URL BROWSER [PAGES]."""

import asyncio
import json
import logging
import sys

from crawlee import ConcurrencySettings
from crawlee.crawlers import PlaywrightCrawler, PlaywrightCrawlingContext, PlaywrightPreNavCrawlingContext
from crawlee.storage_clients import MemoryStorageClient

TABS = 2


async def crawl(url: str, browser: str, limit: int | None) -> int:
    crawler = PlaywrightCrawler(
        browser_type="chromium",
        headless=True,
        browser_launch_options={"executable_path": browser, "args": ["--no-sandbox", "--disable-gpu"]},
        storage_client=MemoryStorageClient(),
        concurrency_settings=ConcurrencySettings(min_concurrency=TABS, desired_concurrency=TABS, max_concurrency=TABS),
        max_requests_per_crawl=limit,
        max_request_retries=0,
        respect_robots_txt_file=False,
        configure_logging=False,
    )
    pages = 0

    @crawler.pre_navigation_hook
    async def block(context: PlaywrightPreNavCrawlingContext) -> None:
        await context.block_requests()  # images, styles, fonts and the like

    @crawler.router.default_handler
    async def follow(context: PlaywrightCrawlingContext) -> None:
        nonlocal pages
        await context.page.wait_for_load_state("networkidle")
        html = await context.page.content()
        pages += "Loading" not in html[:500]
        await context.enqueue_links(strategy="same-hostname")

    await crawler.run([url])
    return pages


def main() -> None:
    logging.disable(logging.CRITICAL)
    url, browser, limit = sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else None
    print(json.dumps({"pages": asyncio.run(crawl(url, browser, limit))}))


main()
