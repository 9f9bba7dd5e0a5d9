"""Sources that name single pages of a host: IndexNow, WebSub and the report of an announcer beside
the site.

Visits score each source of each host by two questions. When it names a page, has the page changed?
When it says nothing of a page, has the page not changed? A source begins without credit for its
silence. It earns it by visits to pages it did not name, and these visits continue at a lower rate.
So a source that begins to lie loses its credit by the same counts.

Counts that fade would still take weeks to unlearn a month of truth. So each record also holds two
doubts: how much more likely the last visits were if the word, or the silence, of the source meant
nothing, than if it were as good as before (the CUSUM test for a change). When a doubt reaches a
limit, what was earned is forgotten.
"""

import math
from typing import NamedTuple

# In the order of the columns in the store.
SOURCES = ("indexnow", "websub", "report")

# Counts fade to one half in 35 visits to named pages, and in 27 changes that were to be expected of
# others.
_MEMORY_OF_WORDS, _MEMORY_OF_SILENCE = 0.98, 0.975
# A source as good as before reaches this doubt once in 400 visits at most (e^6), and then has to
# prove itself again. One that begins to lie reaches it with two to four lies.
_DOUBTED = 6.0
# What it has to outweigh after that: false words, and changes that it missed.
_FALSE_THEN, _MISSED_THEN = 10.0, 2.0
# The silence of a source that pushes counts for this many of its usual pauses, but at least and at
# most these days.
_PAUSES, _SHORTEST, _LONGEST = 5.0, 1 / 24, 30.0
# Over how many days words are counted, to see whether it names fewer pages than usual.
_USUALLY, _LATELY = 20.0, 1.0
# A word is never worth more, so that no page is due before everything else for ever.
_MOST_SURE = 0.99
# What it names is visited at once while this share of its words is true. Of pages that waited long,
# up to one half have changed anyway.
_HEEDED = 0.6
# Until a source was checked this often, only this many of the pages it names are visited at once.
# After that, this many for each that was right, until it has been right this often.
TRIALS, _FOR_EACH, _KNOWN_TO_BE_RIGHT = 10, 4, 40.0
# That many visits count less, because counts fade.
_TRIED = 0.9 * TRIALS
# A report that lists all pages of a host stands for it after this many true words, while its
# silence covers this share of changes, and while it was read in these days.
_PROVEN, _STANDING, _ALIVE = 20.0, 0.75, 1 / 24


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
    words: float = 0.0  # pages it names a day, over the last weeks
    words_lately: float = 0.0  # and over the last day
    forecast: float = 0.0  # changes that were to be expected in visits to named pages, without its word
    word_doubt: float = 0.0  # how much more likely the last visits are if its word means nothing: a logarithm
    silence_doubt: float = 0.0  # and if its silence means nothing
    taken: float = 0.0  # until when another crawler has the site, as its report said last

    @property
    def precision(self) -> float:
        """The share of true words, one half before anything is known."""
        return (self.true + 0.5) / (self.true + self.false + 1.0)

    @property
    def is_heeded(self) -> bool:
        """Whether a page that it names is visited at once."""
        return self.precision >= (0.5 if self.on_trial else _HEEDED)

    @property
    def on_trial(self) -> bool:
        return self.true + self.false < _TRIED

    @property
    def allowance(self) -> float:
        """How many of the pages that it names may wait for their visits at the same time. It grows
        with what was right, so a source that lies costs few visits."""
        if self.on_trial:
            return TRIALS
        return max(TRIALS, _FOR_EACH * self.true) if self.true < _KNOWN_TO_BE_RIGHT else math.inf

    def stands_for(self, now: float) -> bool:
        """Whether it is proven so well that links it does not name need not be followed."""
        alive = self.complete and now - self.heard < _ALIVE
        return alive and self.true >= _PROVEN and self.precision >= 0.5 and self.recall >= _STANDING

    def spares_visits(self, now: float) -> bool:
        """Whether pages that it does not name are visited only to check it."""
        return self.stands_for(now) and not self.is_short_of_words

    @property
    def is_short_of_words(self) -> bool:
        """Whether it names far fewer pages than usual: less than half, and less than chance
        explains."""
        usual = self.words / -math.expm1(-max(self.heard - self.since, 1e-3) / _USUALLY)
        return usual - self.words_lately > max(usual / 2, math.sqrt(2 * usual))

    @property
    def recall(self) -> float:
        """The share of changes it announces: what was missed, against what would be missed if it
        announced nothing.

        Who names the wrong pages is believed less in its silence, too. Otherwise it could draw all
        visits to pages that did not change, and the others would not be seen.
        """
        return self.silence_recall * min(1.0, 2 * self.precision) ** 2

    @property
    def silence_recall(self) -> float:
        """The same by visits to pages that it did not name alone."""
        return 1 - min(1.0, (self.missed + 1.0) / (self.expected + 1.0))

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
    """The record after a message that names `named` pages. `until` is what its silence covers, if
    it says so."""
    if not record.since:  # the first report names all pages, which says nothing about the next ones
        return record._replace(since=at, heard=until or at, named=named, complete=complete)
    pause = max((until or at) - record.heard, 0.0)
    record = record._replace(
        heard=record.heard + pause,
        named=record.named + named,
        words=_smoothed(record.words, named, pause, _USUALLY),
        words_lately=_smoothed(record.words_lately, named, pause, _LATELY),
    )
    if until:
        return record._replace(complete=complete)
    usual = 0.8 * record.pause + 0.2 * pause if record.pause else pause
    return record._replace(pause=usual)


def _smoothed(a_day: float, more: int, days: float, memory: float) -> float:
    fade = math.exp(-days / memory)
    return a_day * fade + more * ((1 - fade) / days if days else 1 / memory)


def learn(
    record: SourceRecord, source: str, named_at: float, last_visit: float, visit: float, changed: bool, rate: float
) -> SourceRecord:
    """The record after a visit. `named_at` is when the source named the page last, 0 for never.
    `rate` is how often the page changes by its own visits, without this source."""
    elapsed = visit - last_visit
    if elapsed <= 0:
        return record
    if named_at > last_visit:
        return _learn_word(record, changed, _chance(rate * elapsed), elapsed)
    # Only the time for which it answers counts: a change may also have come before or after it.
    covered = min(visit, record.silence_until(source)) - max(last_visit, record.since)
    if covered <= 0:
        return record
    return _learn_silence(record, covered / elapsed if changed else 0.0, _chance(rate * covered), elapsed)


def _chance(expected: float) -> float:
    """Of at least one change, when `expected` are expected. Nothing is certain."""
    return min(max(-math.expm1(-expected), 0.001), 0.95)


def _learn_word(record: SourceRecord, changed: bool, chance: float, elapsed: float) -> SourceRecord:
    fade, before = _MEMORY_OF_WORDS, min(record.precision, _MOST_SURE)
    learned = record._replace(
        true=record.true * fade + changed,
        false=record.false * fade + (not changed),
        forecast=record.forecast * fade + chance,
        watched=record.watched * fade + elapsed,
    )
    if before <= chance:  # nothing to lose
        return learned._replace(word_doubt=0.0)
    doubt = max(0.0, record.word_doubt + math.log(chance / before if changed else (1 - chance) / (1 - before)))
    if doubt < _DOUBTED:
        return learned._replace(word_doubt=doubt)
    # Who lies in one thing is not believed in the other.
    return _without_silence(learned._replace(true=0.0, false=_FALSE_THEN, forecast=_FALSE_THEN / 2, word_doubt=0.0))


def _learn_silence(record: SourceRecord, missed: float, chance: float, elapsed: float) -> SourceRecord:
    """After a visit to a page that it did not name; `missed` is 1 for a change, or less if it may
    not answer for it."""
    fade, before = _MEMORY_OF_SILENCE**chance, record.silence_recall
    learned = record._replace(
        missed=record.missed * fade + missed,
        unnamed=record.unnamed * fade + 1.0,
        expected=record.expected * fade + chance,
        watched=record.watched * fade + elapsed,
    )
    doubt = record.silence_doubt
    doubt += -math.log(1 - before) * missed if missed else math.log((1 - chance) / (1 - (1 - before) * chance))
    if doubt < _DOUBTED:
        return learned._replace(silence_doubt=max(0.0, doubt))
    return _without_silence(learned)


def _without_silence(record: SourceRecord) -> SourceRecord:
    return record._replace(missed=_MISSED_THEN, expected=_MISSED_THEN, silence_doubt=0.0)


def odds_by_word(record: SourceRecord) -> float:
    """How many times more likely a page has changed, as odds, because the source named it: 1 when
    its word means nothing.

    That is the odds of its words against those that its pages had anyway. So who names everything
    says nothing.
    """
    others = max(record.true + record.false - record.forecast, 0.0)
    return max(1.0, (record.true + 0.5) / (record.false + 0.5) * (others + 0.5) / (record.forecast + 0.5))
