"""Scrapy's CrawlSpider over one site, as its tutorial has it. Run in the peers' own environment:
scrapy_field.py URL SECONDS; prints the URLs that answered and the number of requests."""

import json
import sys
from collections.abc import Iterator
from urllib.parse import urlsplit

from scrapy.crawler import CrawlerProcess
from scrapy.http import Response
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule

SETTINGS = {
    "ROBOTSTXT_OBEY": True,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 4,
    "DOWNLOAD_DELAY": 0,
    "TELNETCONSOLE_ENABLED": False,
    "LOG_LEVEL": "CRITICAL",
}


class Spider(CrawlSpider):
    name = "field"
    rules = (Rule(LinkExtractor(), callback="keep", follow=True),)

    def __init__(self, url: str) -> None:
        super().__init__()
        self.start_urls = [url]
        self.allowed_domains = [urlsplit(url).hostname]
        self.found: list[str] = []

    def parse_start_url(self, response: Response, **_: object) -> Iterator[None]:
        return self.keep(response)

    def keep(self, response: Response) -> Iterator[None]:
        self.found.append(response.url)
        return iter(())


def main() -> None:
    process = CrawlerProcess({**SETTINGS, "CLOSESPIDER_TIMEOUT": float(sys.argv[2])})
    crawler = process.create_crawler(Spider)
    process.crawl(crawler, url=sys.argv[1])
    process.start()
    requests = crawler.stats.get_value("downloader/request_count", 0)
    print(json.dumps({"requests": requests, "urls": crawler.spider.found}))


main()
