"""Crawlee's PlaywrightCrawler over a list of URLs. Run in its own environment: BROWSER FILE, a URL
a line.
"""

import asyncio
import json
import logging
import sys
from pathlib import Path

from crawlee import ConcurrencySettings, Request
from crawlee.crawlers import PlaywrightCrawler, PlaywrightCrawlingContext, PlaywrightPreNavCrawlingContext
from crawlee.storage_clients import MemoryStorageClient

TABS = 2


async def crawl(browser: str, urls: list[str]) -> int:
    crawler = PlaywrightCrawler(
        browser_type="chromium",
        headless=True,
        browser_launch_options={"executable_path": browser, "args": ["--no-sandbox", "--disable-gpu"]},
        storage_client=MemoryStorageClient(),
        concurrency_settings=ConcurrencySettings(min_concurrency=TABS, desired_concurrency=TABS, max_concurrency=TABS),
        max_request_retries=0,
        respect_robots_txt_file=False,
        configure_logging=False,
    )
    pages = 0

    @crawler.pre_navigation_hook
    async def block(context: PlaywrightPreNavCrawlingContext) -> None:
        await context.block_requests()  # images, styles, fonts and the like

    @crawler.router.default_handler
    async def read(context: PlaywrightCrawlingContext) -> None:
        nonlocal pages
        await context.page.wait_for_load_state("networkidle")
        pages += len(await context.page.content()) > 1000

    await crawler.run([Request.from_url(url, unique_key=url) for url in urls])
    return pages


def main() -> None:
    logging.disable(logging.CRITICAL)
    print(json.dumps({"pages": asyncio.run(crawl(sys.argv[1], Path(sys.argv[2]).read_text().split()))}))


main()
