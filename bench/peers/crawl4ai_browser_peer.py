"""crawl4ai over a list of URLs. Run in its own environment: BROWSER FILE, a URL a line."""

import asyncio
import json
import logging
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

os.environ |= {"CRAWL4_AI_BASE_DIRECTORY": tempfile.mkdtemp(), "CRAWL4AI_NO_CLOUD_NOTICE": "1"}
from crawl4ai import AsyncWebCrawler, BrowserConfig, CacheMode, CrawlerRunConfig, SemaphoreDispatcher
from playwright.async_api import BrowserType

TABS = 2


def use(browser: str) -> None:
    """crawl4ai has no setting for the program."""
    launch = BrowserType.launch

    async def with_program(self: BrowserType, **options: Any) -> Any:
        return await launch(self, **{**options, "executable_path": browser, "channel": None})

    BrowserType.launch = with_program  # type: ignore[method-assign]


async def crawl(urls: list[str]) -> int:
    config = BrowserConfig(headless=True, text_mode=True, light_mode=True, verbose=False, extra_args=["--no-sandbox"])
    run = CrawlerRunConfig(cache_mode=CacheMode.BYPASS, wait_until="networkidle", verbose=False)
    pages = 0
    async with AsyncWebCrawler(config=config) as crawler:
        results = await crawler.arun_many(urls, config=run, dispatcher=SemaphoreDispatcher(max_session_permit=TABS))
        for result in results:
            pages += bool(result.success and len(result.html or "") > 1000)
    return pages


def main() -> None:
    logging.disable(logging.CRITICAL)
    use(sys.argv[1])
    urls = Path(sys.argv[2]).read_text().split()
    print(json.dumps({"pages": asyncio.run(crawl(urls))}))


main()
