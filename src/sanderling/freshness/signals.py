"""Hints that a page has changed, and how far each host's hints can be believed.

Sitemap dates, feeds, validators, IndexNow and a watcher beside the site all say "this page changed". Each kind is scored per
host by what visits then found: its recall (the share of changes it announced) and its false rate (how often it cried
wolf, per day). A host that lies is not refused by a rule: its hints come at the same rate whether pages change or
not, so their weight, the logarithm of how much likelier a hint is with a change than without, goes to nothing.
"""

import math
from typing import NamedTuple

from sanderling.clock import DAY


class SignalRecord(NamedTuple):
    """What is known of one kind of signal of one host: a few counts, updated at every visit of its pages.

    The beginning is half a change announced and half missed, and a false alarm in ten days: no signal is
    believed much before the host has earned it.
    """

    announced: float = 0.5
    missed: float = 0.5
    false: float = 1.0
    watched: float = 10.0

    @property
    def recall(self) -> float:
        return self.announced / (self.announced + self.missed)

    @property
    def false_rate(self) -> float:
        return self.false / self.watched

    def precision(self, rate: float) -> float:
        """The share of its alarms that are true on a page that changes at this rate."""
        return rate * self.recall / (rate * self.recall + self.false_rate)


# Old behaviour of a host is forgotten by half in about 700 visits: servers are replaced.
_MEMORY = 0.999


def learn(record: SignalRecord, elapsed: float, alarms: int, changed: bool) -> SignalRecord:
    """The record after a visit that came `elapsed` after the one before, with `alarms` in between."""
    fade = _MEMORY
    return SignalRecord(
        record.announced * fade + (1.0 if changed and alarms else 0.0),
        record.missed * fade + (1.0 if changed and not alarms else 0.0),
        record.false * fade + max(alarms - (1 if changed else 0), 0),
        record.watched * fade + max(elapsed, 0.0),
    )


def expected_changes(rate: float, elapsed: float, alarms: int, record: SignalRecord) -> float:
    """What stands in the place of rate * elapsed:  lam (1 - rho) tau + k ln((nu + lam rho) / nu).

    Silence of a good informant makes a page younger than its time, an alarm of one makes it old at once.
    """
    rho, nu = record.recall, max(record.false_rate, 1e-9)
    return rate * (1 - rho) * elapsed + alarms * math.log((nu + rate * rho) / nu)


class Validators(NamedTuple):
    """Whether a host's ETags and Last-Modified dates mean what they say. Counts of visits, by what they contradicted."""

    agreed: float = 1.0
    restless: float = 0.0  # the validator changed, the content did not: another server answered, or a clock did
    stuck: float = 0.0  # the content changed under the same validator, or behind a 304
    dated: float = 1.0
    misdated: float = 0.0  # Last-Modified in the future, or "now" on content seen before

    @property
    def not_modified_is_true(self) -> bool:
        """A 304 may be taken for "unchanged"; otherwise the page is fetched whole."""
        return self.stuck <= 0.02 * (self.agreed + self.stuck) + 0.5

    @property
    def dates_are_true(self) -> bool:
        """Last-Modified may date a change."""
        return self.dated >= 5 and self.misdated <= 0.02 * self.dated

    @property
    def saves(self) -> float:
        """The share of unchanged visits that a conditional request answers without a body."""
        return self.agreed / (self.agreed + self.restless)


# A clock may be off by this much, in days, before its dates count as wrong.
SKEW = 300 / DAY


def check_validator(host: Validators, validator_changed: bool, content_changed: bool) -> Validators:
    """After a visit with a whole body: what the validator said against what the content says."""
    if validator_changed == content_changed:
        return host._replace(agreed=host.agreed * _MEMORY + 1)
    if validator_changed:
        return host._replace(restless=host.restless * _MEMORY + 1)
    return host._replace(stuck=host.stuck * _MEMORY + 1)


def check_date(
    host: Validators, last_modified: float, answered_at: float, last_visit: float, content_changed: bool
) -> Validators:
    """After a visit that carried Last-Modified: true dates lie in the past, and behind the last visit if and only if
    the content changed since."""
    future = last_modified > answered_at + SKEW
    moved = last_modified > last_visit + SKEW
    wrong = future or moved != content_changed
    return host._replace(dated=host.dated * _MEMORY + 1, misdated=host.misdated * _MEMORY + (1.0 if wrong else 0.0))
