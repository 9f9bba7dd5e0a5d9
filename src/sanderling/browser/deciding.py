"""Where a browser brings more: decided for each URL pattern of a host by a few samples, and looked
at again now and then.

A sample is a page that was rendered and compared with the document that was sent. Two samples that
agree decide, or two of three. One that could not be rendered says nothing. A pattern that is
rendered goes on being compared: when a run of pages brought nothing, it is rendered no more. A
pattern that is not rendered gets another sample after 50 more candidates, then after 100, and so
on.
"""

from enum import Enum, auto
from typing import NamedTuple

from msgspec.structs import replace

from sanderling.documents.html import HtmlPage
from sanderling.documents.unreadable import UNREADABLE
from sanderling.freshness.url_groups import url_pattern
from sanderling.model.rendering import RenderEvidence, RenderVerdict, decode_evidence, encode_evidence
from sanderling.urls import origin

AGREEING, SAMPLES = 2, 3
LOOK_AGAIN = 50
# This many pages in a row that brought nothing end the rendering of a pattern.
NOTHING_IN_A_ROW = 10
# After this many failed samples in a row a pattern gets no more of them in this run.
MOST_FAILED = 10
# More patterns of a host are one.
MOST_PATTERNS = 200
# A browser brings more if it brings a link, or this many more words and this many times as many.
# An empty document says at most that it is loading, or that it needs JavaScript. Then twice as many
# words are more.
MORE_WORDS, MORE_SHARE, EMPTY = 10, 1.2, 5


class Extent(NamedTuple):
    """How much a page says."""

    words: int
    links: int


class Next(Enum):
    """What is to be done with a page."""

    PLAIN = auto()
    RENDER = auto()
    SAMPLE = auto()
    WAIT = auto()  # for samples that are on their way


def extent(html: bytes, charset: str | None, url: str) -> Extent:
    """The words and links of a page."""
    try:
        page = HtmlPage(html, charset, url)
        links = len({*page.hrefs(True)})
        return Extent(len(page.text(spent=True).split()), links)
    except UNREADABLE:
        return Extent(0, 0)


def brings_more(sent: Extent, rendered: Extent) -> bool:
    if rendered.links > sent.links:
        return True
    if sent.words <= EMPTY and rendered.words > sent.words and rendered.words >= 2 * sent.words:
        return True
    return rendered.words >= sent.words + MORE_WORDS and rendered.words >= sent.words * MORE_SHARE


def with_sample(before: RenderEvidence, sent: Extent, rendered: Extent) -> RenderEvidence:
    """The evidence after one more sample, with the verdict that follows."""
    more = brings_more(sent, rendered)
    after = replace(
        before,
        samples=before.samples + 1,
        gains=before.gains + more,
        words=(before.words[0] + sent.words, before.words[1] + rendered.words),
        links=(before.links[0] + sent.links, before.links[1] + rendered.links),
    )
    return replace(after, verdict=_verdict(before.verdict, after, more), passed=0)


def _verdict(before: RenderVerdict, after: RenderEvidence, more: bool) -> RenderVerdict:
    if before == RenderVerdict.PLAIN:  # looked at again
        return RenderVerdict.RENDER if more else RenderVerdict.PLAIN
    if after.gains >= AGREEING:
        return RenderVerdict.RENDER
    if after.samples - after.gains >= AGREEING:
        return RenderVerdict.PLAIN
    return RenderVerdict.SAMPLING


class Decisions:
    """What is known about the patterns of all hosts that this client visits."""

    def __init__(self) -> None:
        self._hosts: dict[str, dict[str, RenderEvidence]] = {}
        self._in_flight: dict[str, int] = {}  # samples by pattern
        self._in_vain: dict[str, int] = {}  # pages in a row that rendering brought nothing to, by pattern
        self._failed: dict[str, int] = {}  # samples in a row that could not be rendered, by pattern
        self._changed: set[str] = set()

    def hear_of(self, home: str, encoded: bytes) -> None:
        """What the server knows about a host, unless this client knows more."""
        if home not in self._hosts:
            self._hosts[home] = {each.pattern: each for each in decode_evidence(encoded)}

    def changed(self) -> dict[str, bytes]:
        """The hosts about which something was learned since the last call."""
        changed, self._changed = self._changed, set()
        return {home: encode_evidence([*self._hosts[home].values()]) for home in changed}

    def is_rendered(self, url: str) -> bool:
        """Whether pages like this one are rendered, whatever their document looks like."""
        return bool(self._hosts.get(origin(url))) and self._evidence(url).verdict == RenderVerdict.RENDER

    def is_plain(self, url: str) -> bool:
        """Whether it was found that a browser brings nothing to pages like this one."""
        return self._evidence(url).verdict == RenderVerdict.PLAIN

    def decide(self, url: str) -> Next:
        """What to do with a page that may need a browser, or whose pattern is rendered."""
        known = self._evidence(url)
        if known.verdict == RenderVerdict.RENDER:
            return Next.RENDER
        if known.verdict == RenderVerdict.PLAIN:
            self._keep(url, replace(known, passed=known.passed + 1))
            if known.passed + 1 < LOOK_AGAIN << max(0, known.samples - SAMPLES):
                return Next.PLAIN
        elif known.samples + self._in_flight.get(known.pattern, 0) >= SAMPLES:
            return Next.WAIT
        self._in_flight[known.pattern] = self._in_flight.get(known.pattern, 0) + 1
        return Next.SAMPLE

    def learn(self, url: str, how: Next, sent: Extent, rendered: Extent) -> bool:
        """Takes the result of a page that was rendered; returns whether the rendered page is to be
        kept."""
        known, more = self._evidence(url), brings_more(sent, rendered)
        if how is Next.SAMPLE:
            self._end_sample(known.pattern)
            self._failed.pop(known.pattern, None)
            self._keep(url, with_sample(known, sent, rendered))
            return more
        in_vain = 0 if more else self._in_vain.get(known.pattern, 0) + 1
        self._in_vain[known.pattern] = in_vain
        if in_vain >= NOTHING_IN_A_ROW:
            self._keep(url, replace(known, verdict=RenderVerdict.PLAIN, passed=0))
        else:
            self._keep(url, replace(known, pages=known.pages + 1))
        return True

    def spare(self, url: str) -> None:
        """A page was not rendered again, because nothing that it is made from has changed."""
        known = self._evidence(url)
        self._keep(url, replace(known, spared=known.spared + 1))

    def give_up(self, url: str, how: Next) -> None:
        """A page could not be rendered. That says nothing about its pattern."""
        pattern = self._evidence(url).pattern
        if how is Next.SAMPLE:
            self._end_sample(pattern)
            self._failed[pattern] = self._failed.get(pattern, 0) + 1

    def keeps_failing(self, url: str) -> bool:
        """Whether no more samples are taken in this run, because too many failed."""
        known = self._evidence(url)
        undecided = known.verdict == RenderVerdict.SAMPLING
        return undecided and self._failed.get(known.pattern, 0) >= MOST_FAILED

    def _end_sample(self, pattern: str) -> None:
        left = self._in_flight.get(pattern, 0) - 1
        if left > 0:
            self._in_flight[pattern] = left
        else:
            self._in_flight.pop(pattern, None)

    def _evidence(self, url: str) -> RenderEvidence:
        known, name = self._hosts.setdefault(origin(url), {}), url_pattern(url)
        if name not in known and len(known) >= MOST_PATTERNS:
            name = origin(url).partition("://")[2] + "/..."
        return known.get(name) or RenderEvidence(name)

    def _keep(self, url: str, evidence: RenderEvidence) -> None:
        home = origin(url)
        self._hosts[home][evidence.pattern] = evidence
        self._changed.add(home)
