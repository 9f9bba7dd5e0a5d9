"""What a focused crawl brings, and when it has brought enough: the harvest of the last pages, and
the share that is found.

The share is estimated as the number of fish in a lake is, from two samples. One are the examples of
the topic that are pages of the web and not seeds: somebody chose them without the crawl. The other
is what the crawl has found. The more of the examples it has come across by itself, the more of the
topic it has.
"""

import math
from collections import deque
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from sanderling.errors import UsageError
from sanderling.model import Kind, Outcome, State, Task, Visit
from sanderling.repository import views
from sanderling.repository.store import TopicStore, ViewStore
from sanderling.settings import Settings
from sanderling.urls import canonical, identity

if TYPE_CHECKING:  # loaded only by crawls with a topic
    from sanderling.topics.model import Topic

# The harvest is that of the last pages, this many.
WINDOW = 500
# With fewer examples the share cannot be said.
FEWEST_EXAMPLES = 5
SURE = 1.96
# Pages that are read at once to count those of each topic.
_AT_ONCE = 1000
# After this many pages the user is told of a topic that fits nearly all of them, or none.
STRANGE_AFTER, TOO_WIDE = 200, 0.95


class FoundShare(NamedTuple):
    """About how much of a topic is found, with the interval of 95 %."""

    low: float
    share: float
    high: float


class Harvest:
    """Counts the pages on the topic."""

    def __init__(self, store: TopicStore, settings: Settings, topic: "Topic", seeds: Iterable[str]) -> None:
        self._settings = settings
        self._last: deque[bool] = deque(maxlen=WINDOW)
        self._remarked = False
        self._examples = independent(topic, seeds)
        if settings.topic_share and len(self._examples) < FEWEST_EXAMPLES:
            raise UsageError(
                f"topic_share needs {FEWEST_EXAMPLES} examples that are URLs and not seeds, and the topic has "
                f"{len(self._examples)}: give more to `sanderling topic`, or fewer seeds"
            )
        self.relevant = store.relevant_pages(settings.relatedness)
        self._met = sum(1 for _, state in store.known([*self._examples]).values() if state == State.FETCHED)

    def see(self, visits: Iterable[tuple[Visit, Task]]) -> None:
        """Takes note of pages that were visited for the first time."""
        for visit, task in visits:
            if visit.outcome is Outcome.PAGE and task.kind == Kind.PAGE:
                fits = visit.relevance >= self._settings.relatedness
                self._last.append(fits)
                self.relevant += fits
                self._met += visit.id in self._examples

    @property
    def rate(self) -> float | None:
        """The share of the last pages that is on the topic; None before the first page."""
        return sum(self._last) / len(self._last) if self._last else None

    @property
    def share(self) -> FoundShare | None:
        if len(self._examples) < FEWEST_EXAMPLES:
            return None
        return found_share(len(self._examples), self.relevant, self._met)

    def remark(self) -> str:
        """What is strange about the topic after some hundred pages, once; empty when nothing is."""
        if self._remarked or len(self._last) < STRANGE_AFTER or self.rate is None:
            return ""
        self._remarked = True
        if self.rate > TOO_WIDE:
            return (
                f"{self.rate:.0%} of the pages are on the topic: it may be too wide; raise relatedness, or give "
                "counter-examples to `sanderling topic`"
            )
        if not self.rate:
            return "no page is on the topic so far: it may be too narrow; give more examples, or lower relatedness"
        return ""

    def enough(self) -> str:
        """Why the crawl has brought enough; empty when it has not."""
        rate, share = self.rate, self.share
        floor, wanted = self._settings.min_harvest, self._settings.topic_share
        if floor and rate is not None and len(self._last) == WINDOW and rate < floor:
            return f"{rate:.1%} of the last {WINDOW} pages are on the topic, less than min_harvest"
        if wanted and share is not None and share.share >= wanted:
            return f"about {share.share:.0%} of the topic are found ({share.low:.0%} to {share.high:.0%})"
        return ""


def by_topic(store: ViewStore, topic: "Topic", relatedness: float) -> dict[str, int]:
    """How many pages are on each of several topics; empty for one. Looks at every page."""
    if not topic.others:
        return {}
    found, last = dict.fromkeys((each.name for each in topic.all), 0), 0
    while rows := views.newest_versions(store, last, _AT_ONCE):
        last = rows[-1].number
        for row in rows:
            for name, relevance in (row.extracted or {}).get("topics", {}).items():
                found[name] = found.get(name, 0) + (relevance >= relatedness)
    return found


def independent(topic: "Topic", seeds: Iterable[str]) -> set[int]:
    """The examples that the crawl has to find by itself, by their identities."""
    named = set(seeds)
    urls = (
        canonical(each.source) for part in topic.all for each in part.examples if each.relevant and "://" in each.source
    )
    return {identity(url) for url in urls if url and url not in named}


def found_share(examples: int, found: int, both: int) -> FoundShare:
    """Chapman's estimate of how many there are in all, from the sizes of two samples and of what is
    in both."""
    total = (examples + 1) * (found + 1) / (both + 1) - 1
    spread = (examples + 1) * (found + 1) * (examples - both) * max(0, found - both)
    error = math.sqrt(spread / ((both + 1) ** 2 * (both + 2)))
    least = max(1.0, found + examples - both)
    low, middle, high = (max(least, total + SURE * step * error) for step in (1, 0, -1))
    return FoundShare(found / low, found / middle, found / high)
