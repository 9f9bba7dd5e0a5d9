"""How far one host can be believed: its sitemap's dates, its validators and its Last-Modified, in a few counts.

A 304 that lies cannot be seen from the answer. So now and then a page is asked for without conditions (an audit), and
what an audit finds stands for all the visits that were not audited.
"""

import msgspec

from sanderling.freshness.signals import SKEW, SignalRecord, Validators, check_date, check_validator, learn

# One visit in so many is sent without conditions: 2 % of the bytes that 304 saves.
AUDIT_EVERY = 50


class Trust(msgspec.Struct, frozen=True, array_like=True):
    sitemap: SignalRecord = SignalRecord()
    validators: Validators = Validators()

    @property
    def is_told(self) -> bool:
        """Its sitemap tells of most changes, as far as they were counted: silence then means something."""
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
    """Whether a date that a host gives a page says that it changed after our last visit; times in days."""
    return date > last_visit + SKEW


def after_announcement(trust: Trust, elapsed: float, alarm: bool, changed: bool) -> Trust:
    """After a visit to a page for which the host's sitemap gives a date."""
    return msgspec.structs.replace(trust, sitemap=learn(trust.sitemap, elapsed, int(alarm), changed))


def after_not_modified(trust: Trust) -> Trust:
    return msgspec.structs.replace(trust, validators=check_validator(trust.validators, False, False))


def after_body(trust: Trust, validator_changed: bool, content_changed: bool, audit: bool) -> Trust:
    """After an answer with a whole body to a page that has a validator."""
    checked = check_validator(trust.validators, validator_changed, content_changed)
    if audit and content_changed and not validator_changed:
        checked = checked._replace(stuck=checked.stuck + AUDIT_EVERY - 1)
    return msgspec.structs.replace(trust, validators=checked)


def after_date(trust: Trust, modified: float, answered_at: float, last_visit: float, changed: bool) -> Trust:
    """After an answer with a whole body and a Last-Modified; times in days."""
    checked = check_date(trust.validators, modified, answered_at, last_visit, changed)
    return msgspec.structs.replace(trust, validators=checked)
