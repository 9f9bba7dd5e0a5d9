"""What happened on each site over some time, short enough for a mail: the most significant first."""

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

from msgspec import Struct

from sanderling.model import ChangeKind, VersionRow
from sanderling.telling.selection import as_table
from sanderling.urls import hostname

MOST_PAGES = 10  # of a site, of each sort
GROUPS = ("changed", "new", "gone")


class PageDigest(Struct, frozen=True):
    """A page of a site, with its last change; several in the same time are one line."""

    last: VersionRow
    significance: float  # the greatest of its changes
    times: int  # that it changed


class SiteDigest(Struct, frozen=True):
    host: str
    changed: list[PageDigest]
    new: list[PageDigest]
    gone: list[PageDigest]

    def pages(self, group: str) -> list[PageDigest]:
        found: list[PageDigest] = getattr(self, group)
        return found


def digest(versions: Iterable[VersionRow]) -> list[SiteDigest]:
    """The sites of these versions, those with the most pages first."""
    by_page = sorted(versions, key=lambda version: (hostname(version.url), version.url, version.number))
    sites = [_site(host, list(rows)) for host, rows in groupby(by_page, key=lambda version: hostname(version.url))]
    return sorted(sites, key=lambda site: (-sum(len(site.pages(group)) for group in GROUPS), site.host))


def _site(host: str, rows: list[VersionRow]) -> SiteDigest:
    site = SiteDigest(host, [], [], [])
    for _, group in groupby(rows, key=lambda version: version.url):
        story = list(group)
        changes = [version for version in story if not version.kinds & ChangeKind.NEW] or story
        page = PageDigest(story[-1], max(version.significance for version in changes), len(changes))
        site.pages(_became(story[-1])).append(page)
    for name in GROUPS:
        site.pages(name).sort(key=lambda page: (-page.significance, -page.last.at, page.last.url))
    return site


def _became(last: VersionRow) -> str:
    """A page that came and changed since is told as changed: the first visit of a crawl makes all pages new."""
    return "gone" if last.kinds & ChangeKind.GONE else "new" if last.kinds & ChangeKind.NEW else "changed"


def as_tables(sites: list[SiteDigest]) -> list[dict[str, Any]]:
    """Everything, for programs."""
    return [
        {
            "host": site.host,
            **{group: [{**as_table(page.last), "times": page.times} for page in site.pages(group)] for group in GROUPS},
        }
        for site in sites
    ]


def as_text(sites: list[SiteDigest], most: int = MOST_PAGES) -> Iterator[str]:
    """Lines of plain text."""
    for site in sites:
        yield f"{site.host}: {_counted(site)}"
        for group in GROUPS:
            for page in site.pages(group)[:most]:
                yield f"  {group:8} {page.last.url}"
                if said := _said(page) if page.last.summary != group else page.last.title:
                    yield f"           {said}"
            if len(site.pages(group)) > most:
                yield f"  ... and {len(site.pages(group)) - most:,} more {group}"
        yield ""


def as_markdown(sites: list[SiteDigest], most: int = MOST_PAGES) -> Iterator[str]:
    for site in sites:
        yield f"## {_plain(site.host)}: {_counted(site)}"
        for group in GROUPS:
            pages = site.pages(group)
            if pages:
                yield from ("", f"### {group.capitalize()}", "")
            for page in pages[:most]:
                yield f"- [{_plain(page.last.title or page.last.url)}](<{_target(page.last.url)}>): {_plain(_said(page))}"
            if len(pages) > most:
                yield f"- … and {len(pages) - most:,} more"
        yield ""


def _counted(site: SiteDigest) -> str:
    return ", ".join(f"{len(site.pages(group)):,} {group}" for group in GROUPS if site.pages(group))


def _said(page: PageDigest) -> str:
    again = f" ({page.times} changes)" if page.times > 1 else ""
    return page.last.summary + again


def _plain(text: str) -> str:
    """Text from the web in which nothing is markup."""
    return re.sub(r"([\\`*_{}\[\]<>()#+!|&~-])", r"\\\1", " ".join(text.split()))


def _target(url: str) -> str:
    return url.replace("<", "%3C").replace(">", "%3E").replace("\\", "%5C")
