"""How reliable one host is: the dates in its sitemap, its validators and its Last-Modified dates,
as a few counts.

A wrong 304 cannot be recognised by itself. So now and then a page is requested without conditions
(an audit). The result of an audit counts for all visits that were not audited.
"""

from collections.abc import Mapping

import msgspec

from sanderling.freshness import sources
from sanderling.freshness.evidence import NONE, rough_rate
from sanderling.freshness.signals import SKEW, SignalRecord, Validators, check_date, check_validator, learn
from sanderling.freshness.sources import SourceRecord

# One visit in this many is sent without conditions. It costs 2 % of the bytes that 304 saves.
AUDIT_EVERY = 50


class Trust(msgspec.Struct, frozen=True, array_like=True):
    sitemap: SignalRecord = SignalRecord()
    validators: Validators = Validators()
    sources: dict[str, SourceRecord] = {}  # of those that name single pages, by name

    @property
    def announces_changes(self) -> bool:
        """Whether its sitemap announces most changes, so that no announcement means no change."""
        return self.sitemap.recall > 0.5 and self.sitemap.announced >= 3

    @property
    def may_ask_conditionally(self) -> bool:
        return self.validators.not_modified_is_true


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Trust).decode


def pack(trust: Trust) -> bytes:
    return _encode(trust)


def unpack(packed: bytes) -> Trust:
    return _decode(packed) if packed else Trust()


def announced(date: float, last_visit: float) -> bool:
    """Whether the date of a page in the sitemap is after our last visit. Times are in days."""
    return date > last_visit + SKEW


def after_announcement(trust: Trust, elapsed: float, alarm: bool, changed: bool) -> Trust:
    """The trust after a visit to a page that has a date in the host's sitemap."""
    return msgspec.structs.replace(trust, sitemap=learn(trust.sitemap, elapsed, int(alarm), changed))


def after_message(
    trust: Trust, source: str, at: float, named: int, until: float = 0.0, complete: bool = False, taken: float = 0.0
) -> Trust:
    """The trust after a source named `named` pages. Times are in days."""
    record = sources.hear(trust.sources.get(source, SourceRecord()), at, named, until, complete)
    return msgspec.structs.replace(trust, sources=trust.sources | {source: record._replace(taken=taken)})


def after_visit(
    trust: Trust, told: Mapping[str, float], last_visit: float, visit: float, changed: bool, seen: bytes = NONE
) -> Trust:
    """The trust after a visit to a page that sources named at these times. Times are in days;
    `seen` is the evidence of the page's earlier visits."""
    if not trust.sources:
        return trust
    learned = {
        source: sources.learn(
            record, source, told.get(source, 0.0), last_visit, visit, changed, rough_rate(seen, record.rate)
        )
        for source, record in trust.sources.items()
    }
    return msgspec.structs.replace(trust, sources=learned)


def after_not_modified(trust: Trust) -> Trust:
    return msgspec.structs.replace(trust, validators=check_validator(trust.validators, False, False))


def after_body(trust: Trust, validator_changed: bool, content_changed: bool, audit: bool) -> Trust:
    """The trust after a visit that received a whole body of a page with a validator."""
    checked = check_validator(trust.validators, validator_changed, content_changed)
    if audit and content_changed and not validator_changed:
        checked = checked._replace(stuck=checked.stuck + AUDIT_EVERY - 1)
    return msgspec.structs.replace(trust, validators=checked)


def after_date(trust: Trust, modified: float, answered_at: float, last_visit: float, changed: bool) -> Trust:
    """The trust after a visit that received a whole body and a Last-Modified date. Times are in
    days."""
    checked = check_date(trust.validators, modified, answered_at, last_visit, changed)
    return msgspec.structs.replace(trust, validators=checked)
