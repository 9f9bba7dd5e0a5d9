"""Reads the reports in which sites announce changes (`announcements`), as far as they go beyond
what was read before.

Nothing here is believed because a report says so: it becomes messages, and visits find out.
Whatever is wrong with a report, nothing of it is taken.
"""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

import msgspec

from sanderling.announcements import (
    BadReport,
    Base,
    Manifest,
    Position,
    ReportedChange,
    chain,
    file_of_report,
    is_named_for,
    read_delta,
    read_manifest,
)
from sanderling.announcements.manifest import LONGEST_UNTIL
from sanderling.clock import DAY
from sanderling.documents import sitemaps
from sanderling.model import HintedEvent, Kind, NamedPage
from sanderling.network.one_request import Answer
from sanderling.urls import identity, origin
from sanderling_announce.change import MOST_HINTS

# Pages in one message to the crawl.
AT_ONCE = 10_000
# What one reading may take in.
MOST_BYTES = 256 * 1024**2
MOST_PAGES = 1_000_000
# No reservation of a site lasts longer, in seconds, whatever its report says.
LONGEST_TAKEN = 3600.0
# What the crawl remembers of a report begins with this, followed by its URL.
NOTE = "report "
# The note that lists the reports that were read, so that the next run reads them as well.
NOTED = "reports"
_LARGEST_MANIFEST = 256 * 1024 + 1

_OF_ITS_ELEMENT = re.compile(r"\b(?:this|event)\b")

# Asks for a URL: (URL, the most bytes of the answer, ETag or "").
Get = Callable[[str, int, str], Answer]


class ReportState(msgspec.Struct, frozen=True):
    """How far a report was read, as it is kept with the crawl."""

    log: str
    cursor: int
    generated: float
    key: str  # who signed it
    until: float  # there is a newer manifest by then
    named_key: str = ""  # the key that the user named for it


class Reading(NamedTuple):
    """What a report says beyond what was read before."""

    site: str
    pages: list[NamedPage]
    state: ReportState
    silence_until: float  # what it does not name did not change before this
    complete: bool  # it names all pages of the origin
    taken_until: float  # another crawler is at work there

    def batches(self) -> Iterator[list[NamedPage]]:
        """The pages in parts for one message each; one without pages when there are none."""
        yield from (self.pages[start : start + AT_ONCE] for start in range(0, max(1, len(self.pages)), AT_ONCE))


class ReportReader:
    """One report that is read again and again."""

    def __init__(self, url: str, get: Get, key: str = "", before: ReportState | None = None, crawler: str = "") -> None:
        """`key` is the key that the user named: only then may the report speak for another
        origin. `crawler` is the name by which we reserve sites.
        """
        self._crawler = crawler
        self.url = url
        self._get = get
        self._key = key or (before.named_key if before is not None else "")
        self.state = before
        self._etag = ""
        self._last: Reading | None = None
        self._looked_at = 0.0

    def read(self, now: float) -> Reading | None:
        """Asks for what is new; None when there is no report. Raises BadReport when it is not to be
        believed.
        """
        answer = self._get(self.url, _LARGEST_MANIFEST, self._etag)
        looked_at, self._looked_at = self._looked_at, now
        if answer.status == 304 and self._last is not None:
            return self._last._replace(pages=[], silence_until=self._silence(self._last, now))
        if answer.status in (404, 410):
            return None
        if answer.status != 200:
            raise BadReport(f"it cannot be read: {answer.error or f'answered {answer.status}'}")
        manifest, key = self._manifest(answer.body, now)
        shift = _clock_error(manifest.generated, looked_at, now)
        pages = list(self._pages(manifest, now, shift))
        whole = manifest.complete and manifest.site == origin(manifest.site) + "/"
        state = ReportState(manifest.log, manifest.cursor, manifest.generated, key, manifest.until, self._key)
        is_ours = self._crawler and manifest.taken_by == self._crawler
        taken_until = 0.0 if is_ours else min(manifest.taken_until, now + LONGEST_TAKEN)
        reading = Reading(manifest.site, pages, state, 0.0, whole, taken_until)
        self._last = reading = reading._replace(silence_until=self._silence(reading, now))
        self._etag = answer.headers.get("etag", "")
        self.state = state
        return reading

    def forget(self) -> None:
        """What was read did not arrive: the next reading begins with the whole manifest."""
        self._etag = ""

    def _manifest(self, body: bytes, now: float) -> tuple[Manifest, str]:
        before = self.state
        # A site may lose its key with the machine that held it. The new one counts when the old one
        # has been silent.
        pinned = ""
        if before is not None and now < min(before.until, before.generated + LONGEST_UNTIL) + DAY:
            pinned = before.key
        seen = Position(before.log, before.cursor, before.generated) if before is not None else None
        manifest, key = read_manifest(body, self.url, now=now, seen=seen, key=self._key or pinned)
        if not self._key and origin(manifest.site) != origin(self.url):
            raise BadReport(f"it stands at {origin(self.url)} and speaks for {origin(manifest.site)}")
        return manifest, key

    def _pages(self, manifest: Manifest, now: float, shift: float) -> Iterator[NamedPage]:
        before = self.state
        cursor = before.cursor if before is not None and before.log == manifest.log else None
        steps = chain(manifest.deltas, cursor, manifest.cursor) if cursor is not None else None
        budget = _Budget()
        if steps is None and manifest.base is not None:
            yield from self._base(manifest.base, manifest.site, budget)
            cursor = manifest.base.cursor
            steps = chain(manifest.deltas, cursor, manifest.cursor)
        if steps is None:
            steps, cursor = list(manifest.deltas), 0
        for delta in steps:
            content = self._file(delta.name, delta.bytes, budget)
            for change in read_delta(delta, content, manifest.site, cursor or 0):
                at = min(change.at + shift, now)
                yield budget.page(
                    NamedPage(identity(change.url), change.url, change.what, at, _events(change), change.rank)
                )

    def _base(self, base: Base, site: str, budget: "_Budget") -> Iterator[NamedPage]:
        """All pages of a site: its sitemap index, and the parts of it."""
        for part in self._sitemap(base.name, budget):
            if part.kind != Kind.SOURCE:
                raise BadReport("its sitemap is no index of sitemaps")
            for entry in self._sitemap(part.url.rpartition("/")[2], budget):
                if entry.kind != Kind.PAGE or not entry.url.startswith(site):
                    raise BadReport(f"its sitemap names a URL outside {site}")
                yield budget.page(NamedPage(identity(entry.url), entry.url, "changed", entry.modified))

    def _sitemap(self, name: str, budget: "_Budget") -> Iterator[sitemaps.SitemapEntry]:
        content = self._file(name, sitemaps.MOST_BYTES, budget)
        if not is_named_for(name, content):
            raise BadReport(f"{name} has other content than the manifest says")
        try:
            yield from sitemaps.read(content)
        except sitemaps.NotASitemap as error:
            raise BadReport(f"{name} is no sitemap: {error}") from None

    def _file(self, name: str, most: int, budget: "_Budget") -> bytes:
        answer = self._get(file_of_report(self.url, name), most, "")
        if answer.status != 200 or answer.cut:
            raise BadReport(f"{name} cannot be read: {answer.error or f'answered {answer.status}'}")
        budget.bytes(len(answer.body))
        return answer.body

    def _silence(self, reading: Reading, now: float) -> float:
        """Until when the silence of a report says something: until now, while its announcer is
        alive.
        """
        return min(now, reading.state.until) if reading.complete else 0.0


def _events(change: ReportedChange) -> tuple[HintedEvent, ...]:
    """What the site groups leads to one state, unless it depends on the element."""
    groups: dict[tuple[str, str], int] = {}
    for number, hint in enumerate(change.hints, 1):
        for step in hint.steps():
            groups.setdefault(step, 0 if _OF_ITS_ELEMENT.search(hint.function) else number)
    return tuple(HintedEvent(*step, group) for step, group in groups.items())[:MOST_HINTS]


class _Budget:
    """What is left of the most that one reading takes in."""

    def __init__(self) -> None:
        self._bytes, self._pages = MOST_BYTES, MOST_PAGES

    def bytes(self, count: int) -> None:
        self._bytes -= count
        if self._bytes < 0:
            raise BadReport(f"what is new in it has more than {MOST_BYTES >> 20} MiB")

    def page(self, page: NamedPage) -> NamedPage:
        self._pages -= 1
        if self._pages < 0:
            raise BadReport(f"what is new in it names more than {MOST_PAGES:,} pages")
        return page


def _clock_error(generated: float, looked_at: float, now: float) -> float:
    """Seconds to add to the times of a report. It was written between our last look and now; a
    clock that says otherwise is wrong by the difference at least.
    """
    if generated > now:
        return now - generated
    return max(0.0, looked_at - generated)
