"""Signals that a page has changed, and how reliable they are for each host.

Sitemap dates, feeds, validators, IndexNow and a watcher beside the site all announce changes.
Visits then score each kind of signal of a host by its recall (the share of changes it announced)
and its false rate (false alarms a day). No rule is needed against hosts with wrong signals: their
signals come at the same rate whether pages change or not. So the weight of such a signal, the log
ratio of its rates with and without a change, goes to zero.
"""

import math
from typing import NamedTuple

from sanderling.clock import DAY


class SignalRecord(NamedTuple):
    """How reliable one kind of signal of one host is. Every visit to its pages updates these
    counts.

    It begins with half a change announced, half a change missed and one false alarm in ten days, so
    that a signal counts little before visits have confirmed it.
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
        """The share of true alarms among all alarms for a page that changes at this rate."""
        return rate * self.recall / (rate * self.recall + self.false_rate)


# The counts of a host fade to one half in about 700 visits, because servers are replaced.
_MEMORY = 0.999


def learn(record: SignalRecord, elapsed: float, alarms: int, changed: bool) -> SignalRecord:
    """The record after a visit that came `elapsed` days after the last one, with `alarms` in
    between."""
    fade = _MEMORY
    return SignalRecord(
        record.announced * fade + (1.0 if changed and alarms else 0.0),
        record.missed * fade + (1.0 if changed and not alarms else 0.0),
        record.false * fade + max(alarms - (1 if changed else 0), 0),
        record.watched * fade + max(elapsed, 0.0),
    )


def expected_changes(rate: float, elapsed: float, alarms: int, record: SignalRecord) -> float:
    """The changes expected since the last visit:  lam (1 - rho) tau + k ln((nu + lam rho) / nu).

    Without signals it would be rate * elapsed. If a host with good signals is silent, fewer changes
    are expected. An alarm of such a host adds expected changes at once.
    """
    rho, nu = record.recall, max(record.false_rate, 1e-9)
    return rate * (1 - rho) * elapsed + alarms * math.log((nu + rate * rho) / nu)


class Validators(NamedTuple):
    """How reliable the ETags and Last-Modified dates of a host are, as counts of visits."""

    agreed: float = 1.0
    restless: float = 0.0  # the validator changed but the content did not, as with several servers behind one name
    stuck: float = 0.0  # the content changed but the validator did not, or the answer was 304
    dated: float = 1.0
    misdated: float = 0.0  # Last-Modified in the future, or "now" on content seen before

    @property
    def not_modified_is_true(self) -> bool:
        """Whether a 304 means "unchanged". Otherwise pages are always fetched in full."""
        return self.stuck <= 0.02 * (self.agreed + self.stuck) + 0.5

    @property
    def dates_are_true(self) -> bool:
        """Whether Last-Modified can date a change."""
        return self.dated >= 5 and self.misdated <= 0.02 * self.dated

    @property
    def saves(self) -> float:
        """The share of conditional requests for unchanged pages that are answered without a
        body."""
        return self.agreed / (self.agreed + self.restless)


# A clock may be wrong by this many days before its dates count as wrong.
SKEW = 300 / DAY


def check_validator(host: Validators, validator_changed: bool, content_changed: bool) -> Validators:
    """Compares the validator with the content, after a visit that received a whole body."""
    if validator_changed == content_changed:
        return host._replace(agreed=host.agreed * _MEMORY + 1)
    if validator_changed:
        return host._replace(restless=host.restless * _MEMORY + 1)
    return host._replace(stuck=host.stuck * _MEMORY + 1)


def check_date(
    host: Validators, last_modified: float, answered_at: float, last_visit: float, content_changed: bool
) -> Validators:
    """Checks a Last-Modified date. A true date is in the past. It is after the last visit if and
    only if the content changed since then. A date so close to the last visit that a wrong clock
    could explain it proves nothing."""
    future = last_modified > answered_at + SKEW
    if not future and abs(last_modified - last_visit) <= SKEW:
        return host
    moved = last_modified > last_visit
    wrong = future or moved != content_changed
    return host._replace(dated=host.dated * _MEMORY + 1, misdated=host.misdated * _MEMORY + (1.0 if wrong else 0.0))
