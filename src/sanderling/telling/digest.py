"""A summary of the changes on each site, short enough for an email. The most significant changes
come first."""

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

from msgspec import Struct

from sanderling.model import ChangeKind, VersionRow
from sanderling.telling.edits import edits
from sanderling.telling.selection import as_table, told
from sanderling.urls import hostname

MOST_PAGES = 10  # shown for each group of a site
GROUPS = ("changed", "new", "gone")


class PageDigest(Struct, frozen=True):
    """One page with its most significant change, and other pages with the same one. Several changes
    of a page are one line of the digest."""

    shown: VersionRow
    times: int  # how often it changed
    also: tuple[str, ...] = ()  # pages with the same change


class SiteDigest(Struct, frozen=True):
    host: str
    changed: list[PageDigest]
    new: list[PageDigest]
    gone: list[PageDigest]

    def pages(self, group: str) -> list[PageDigest]:
        found: list[PageDigest] = getattr(self, group)
        return found

    def count(self, group: str) -> int:
        """How many pages the group is about."""
        return sum(1 + len(page.also) for page in self.pages(group))


def digest(versions: Iterable[VersionRow]) -> list[SiteDigest]:
    """Groups versions by site. Sites with the most pages come first."""
    by_page = sorted(versions, key=lambda version: (hostname(version.url), version.url, version.number))
    sites = [_site(host, list(rows)) for host, rows in groupby(by_page, key=lambda version: hostname(version.url))]
    return sorted(sites, key=lambda site: (-sum(map(site.count, GROUPS)), site.host))


def _site(host: str, rows: list[VersionRow]) -> SiteDigest:
    site = SiteDigest(host, [], [], [])
    for _, of_page in groupby(rows, key=lambda version: version.url):
        history = list(of_page)
        changes = [version for version in history if not version.kinds & ChangeKind.NEW] or history
        group = _group(history[-1])
        most = max(changes, key=lambda version: (version.significance, version.number))
        site.pages(group).append(PageDigest(most if group == "changed" else history[-1], len(changes)))
    site.changed[:] = _merged(site.changed)
    for name in GROUPS:
        site.pages(name).sort(key=lambda page: (-page.shown.significance, -page.shown.at, page.shown.url))
    return site


def _merged(pages: list[PageDigest]) -> list[PageDigest]:
    """The same edit of many pages as one line."""
    times = {page.shown.number: page.times for page in pages}
    rows = sorted((page.shown for page in pages), key=lambda version: version.number, reverse=True)
    return [
        PageDigest(edit.shown, times[edit.shown.number], tuple(version.url for version in edit.others))
        for edit in edits(rows, len(rows) or 1)
    ]


def _group(last: VersionRow) -> str:
    """The group of a page whose last version is `last`.

    A page that was new and changed since is in "changed": at the first visit of a crawl, every page
    is new.
    """
    return "gone" if last.kinds & ChangeKind.GONE else "new" if last.kinds & ChangeKind.NEW else "changed"


def as_tables(sites: list[SiteDigest]) -> list[dict[str, Any]]:
    """All pages of all sites, for programs."""
    return [
        {
            "host": site.host,
            **{
                group: [{**as_table(page.shown), "times": page.times, "also": page.also} for page in site.pages(group)]
                for group in GROUPS
            },
        }
        for site in sites
    ]


def as_text(sites: list[SiteDigest], most: int = MOST_PAGES) -> Iterator[str]:
    for site in sites:
        yield f"{site.host}: {_counted(site)}"
        for group in GROUPS:
            for page in site.pages(group)[:most]:
                yield f"  {group:8} {page.shown.url}{_more(page)}"
                if line := _summary(page) if page.shown.summary != group else page.shown.title:
                    yield f"           {line}"
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
                yield f"- [{_plain(page.shown.title or page.shown.url)}](<{_target(page.shown.url)}>){_more(page)}: {_plain(_summary(page))}"
            if len(pages) > most:
                yield f"- … and {len(pages) - most:,} more"
        yield ""


def _counted(site: SiteDigest) -> str:
    return ", ".join(f"{site.count(group):,} {group}" for group in GROUPS if site.pages(group))


def _more(page: PageDigest) -> str:
    count = len(page.also)
    return f" and {count:,} more page{'s' * (count > 1)}" if count else ""


def _summary(page: PageDigest) -> str:
    again = f" ({page.times} changes)" if page.times > 1 else ""
    return told(page.shown) + again


def _plain(text: str) -> str:
    """Escapes text from the web, so that none of it is read as Markdown."""
    return re.sub(r"([\\`*_{}\[\]<>()#+!|&~-])", r"\\\1", " ".join(text.split()))


def _target(url: str) -> str:
    return url.replace("<", "%3C").replace(">", "%3E").replace("\\", "%5C")
