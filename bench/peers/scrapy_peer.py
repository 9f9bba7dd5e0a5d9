"""Scrapy over every link of one host. Run in the peers' own environment: scrapy_peer.py URL
[PAGES]."""

import json
import sys
from collections.abc import Iterator
from urllib.parse import urlsplit

from scrapy.crawler import CrawlerProcess
from scrapy.http import HtmlResponse, Response
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule

# Features that cost time and are not needed here are off.
SETTINGS = {
    "ROBOTSTXT_OBEY": False,
    "CONCURRENT_REQUESTS": 32,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 32,
    "DOWNLOAD_DELAY": 0,
    "AUTOTHROTTLE_ENABLED": False,
    "COOKIES_ENABLED": False,
    "TELNETCONSOLE_ENABLED": False,
    "LOG_LEVEL": "ERROR",
}


class Spider(CrawlSpider):
    name = "peer"
    # The same kinds of links as in `truth`. The default list of denied extensions would skip linked
    # images.
    rules = (
        Rule(
            LinkExtractor(tags=("a", "area", "frame", "iframe"), attrs=("href", "src"), deny_extensions=()),
            callback="count",
            follow=True,
        ),
    )

    def __init__(self, url: str) -> None:
        super().__init__()
        self.start_urls = [url]
        self.allowed_domains = [urlsplit(url).hostname]
        self.pages = 0

    def parse_start_url(self, response: Response, **_: object) -> Iterator[None]:
        return self.count(response)

    def count(self, response: Response) -> Iterator[None]:
        self.pages += isinstance(response, HtmlResponse)
        return iter(())


def main() -> None:
    url, limit = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0
    process = CrawlerProcess({**SETTINGS, "CLOSESPIDER_PAGECOUNT": limit})
    crawler = process.create_crawler(Spider)
    process.crawl(crawler, url=url)
    process.start()
    print(json.dumps({"pages": crawler.spider.pages}))


main()
