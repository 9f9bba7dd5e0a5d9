"""Sources that name single pages of a host: IndexNow, WebSub and the report of an announcer beside the site.

Visits score each source of each host by two questions. When it names a page, has the page changed? When it says nothing of
a page, has the page not changed? A source begins without credit for its silence. It earns it by visits to pages it did not
name, and these visits continue at a lower rate. So a source that begins to lie loses its credit by the same counts.
"""

import math
from typing import NamedTuple

# In the order of the columns in the store.
SOURCES = ("indexnow", "websub", "report")

# Counts fade to one half in 35 visits to named pages, and in 140 to others. A source that begins to lie is found out
# within so many visits.
_MEMORY_OF_WORDS, _MEMORY_OF_SILENCE = 0.98, 0.995
# The silence of a source that pushes counts for so many of its usual pauses, but at least and at most these days.
_PAUSES, _SHORTEST, _LONGEST = 5.0, 1 / 24, 30.0
# A word is never worth more, so that no page is due before everything else for ever.
_MOST_SURE = 0.99
# What it names is visited at once while this share of its words is true. Of pages that waited long, up to one half have
# changed anyway.
_HEEDED = 0.6
# Until a source was checked so often, only so many of the pages it names are visited at once.
TRIALS = 10
# A report that lists all pages of a host stands for it after so many true words, and while it was read in these days.
_PROVEN, _ALIVE = 20.0, 1 / 24


class SourceRecord(NamedTuple):
    """What visits found out about one source of one host. Times are in days."""

    since: float = 0.0  # when it was heard first
    heard: float = 0.0  # when it was heard last; a report that was read speaks also when it names nothing
    pause: float = 0.0  # usual time between two messages
    named: int = 0  # pages it named
    true: float = 0.0  # visits to named pages that found a change
    false: float = 0.0  # visits to named pages that found none
    missed: float = 0.0  # changes of pages it had not named
    unnamed: float = 0.0  # visits to pages it had not named
    expected: float = 0.0  # changes that were expected there if it announced none at all
    watched: float = 0.0  # days between visits, of all visits
    complete: bool = False  # it names all pages of its host

    @property
    def precision(self) -> float:
        """The share of true words, one half before anything is known."""
        return (self.true + 0.5) / (self.true + self.false + 1.0)

    @property
    def share_announced(self) -> float:
        """Of the changes that were found, those it announced. Visits go to what it names, so this flatters it."""
        return self.true / (self.true + self.missed + 1.0)

    @property
    def is_heeded(self) -> bool:
        """Whether a page that it names is visited at once."""
        return self.precision >= (0.5 if self.on_trial else _HEEDED)

    @property
    def on_trial(self) -> bool:
        return self.true + self.false < TRIALS

    def stands_for(self, now: float) -> bool:
        """Whether it is proven so well that pages it does not name need not be visited at all."""
        alive = self.complete and now - self.heard < _ALIVE
        return alive and self.true >= _PROVEN and self.share_announced >= 0.9 and self.precision >= 0.5

    @property
    def recall(self) -> float:
        """The share of changes it announces: what was missed, against what would be missed if it announced nothing.

        Who names the wrong pages is believed less in its silence, too. Otherwise it could draw all visits to pages that
        did not change, and nobody would see the others.
        """
        announced = 1 - min(1.0, (self.missed + 1.0) / (self.expected + 1.0))
        return announced * min(1.0, 2 * self.precision) ** 2

    @property
    def rate(self) -> float:
        """Changes a day of a page, as visits found them."""
        return (self.true + self.missed + 0.1) / (self.watched + 2.0)

    def silence_until(self, source: str) -> float:
        """Until when its silence says something."""
        if source == "report":
            return self.heard
        return self.heard + min(max(_PAUSES * self.pause, _SHORTEST), _LONGEST)


def hear(record: SourceRecord, at: float, named: int, until: float = 0.0, complete: bool = False) -> SourceRecord:
    """The record after a message that names so many pages. `until` is what its silence covers, if it says so."""
    if not record.since:
        return record._replace(since=at, heard=until or at, named=named, complete=complete)
    if until:
        heard = max(record.heard, until)
        return record._replace(heard=heard, named=record.named + named, complete=complete)
    pause = max(at - record.heard, 0.0)
    usual = 0.8 * record.pause + 0.2 * pause if record.pause else pause
    return record._replace(heard=max(record.heard, at), pause=usual, named=record.named + named)


def learn(
    record: SourceRecord, source: str, named_at: float, last_visit: float, visit: float, changed: bool, rate: float
) -> SourceRecord:
    """The record after a visit. `named_at` is when the source named the page last, 0 for never. `rate` is how often the
    page changes by its own visits, without this source."""
    elapsed = visit - last_visit
    if elapsed <= 0:
        return record
    if named_at > last_visit:
        fade = _MEMORY_OF_WORDS
        return record._replace(
            true=record.true * fade + changed,
            false=record.false * fade + (not changed),
            watched=record.watched * fade + elapsed,
        )
    # Only the time for which it answers counts: a change may also have come before or after it.
    covered = min(visit, record.silence_until(source)) - max(last_visit, record.since)
    if covered <= 0:
        return record
    fade = _MEMORY_OF_SILENCE
    return record._replace(
        missed=record.missed * fade + (covered / elapsed if changed else 0.0),
        unnamed=record.unnamed * fade + 1.0,
        expected=record.expected * fade + 1 - math.exp(-rate * covered),
        watched=record.watched * fade + elapsed,
    )


def expected_by_word(record: SourceRecord) -> float:
    """The changes that are expected because a source named a page, beyond those of pages it did not name.

    P(changed) = 1 - exp(-x). If named pages have not changed more often than others, its word means nothing.
    """
    others = (record.missed + 1.0) / (record.unnamed + 2.0)
    return max(0.0, math.log((1 - others) / (1 - min(record.precision, _MOST_SURE))))
