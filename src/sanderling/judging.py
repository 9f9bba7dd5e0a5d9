"""Connects the change detector with the client, which takes a page's parameters, and with intake, which judges by them."""

from collections.abc import Callable

import msgspec
import turbohtml

from sanderling.change import Noise, Parameters, Verdict, compare, learn, parameters, visible_text
from sanderling.model import Before, Change, ChangeKind, Outcome, State, Visit

_encode = msgspec.msgpack.Encoder().encode
_decode_parameters = msgspec.msgpack.Decoder(Parameters).decode
_decode_noise = msgspec.msgpack.Decoder(Noise).decode

_KINDS = {
    "structure": ChangeKind.STRUCTURE,
    "presentation": ChangeKind.PRESENTATION,
    "text": ChangeKind.TEXT,
    "image": ChangeKind.IMAGE,
}

# Parameters of an archived version, when those that were kept were made in another way.
Anew = Callable[[Before], bytes]


def fingerprint(document: turbohtml.Document, url: str, links: bytes) -> tuple[bytes, str]:
    """The parameters of a page, and its visible text."""
    text = visible_text(document)
    return _encode(parameters(document, visible=text, links=links)), text


def judge(visit: Visit, before: Before, anew: Anew) -> tuple[Change | None, bytes]:
    """What a visit to a known page found, None when that is no new version; and the noise known after it."""
    if visit.outcome in (Outcome.GONE, Outcome.REDIRECT):
        return _left(visit, before), before.noise
    if visit.outcome is Outcome.UNCHANGED and before.noise and before.parameters:
        same = _decode_parameters(before.parameters)
        return None, _encode(learn(_decode_noise(before.noise), same, same))
    if visit.outcome is not Outcome.PAGE:
        return None, before.noise
    if before.state == State.GONE or not 200 <= before.status < 300:
        return Change(ChangeKind.NEW, 1.0, "", "back"), before.noise
    if not visit.parameters or not before.parameters:
        kind = ChangeKind.IMAGE if visit.mime.startswith("image/") else ChangeKind.TEXT
        return Change(kind, 1.0, "", "the file is another one"), before.noise
    old, new = _decode_parameters(before.parameters), _decode_parameters(visit.parameters)
    if old.processing != new.processing and (made := anew(before)):
        old = _decode_parameters(made)
    noise = _decode_noise(before.noise) if before.noise else Noise()
    verdict = compare(old, new, known=noise)
    return _change(verdict), _encode(learn(noise, old, new))


def _change(verdict: Verdict) -> Change:
    kinds = ChangeKind(0)
    for kind in verdict.kinds:
        kinds |= _KINDS[kind]
    return Change(kinds, verdict.significance, str(verdict.degree), verdict.summary, verdict.news)


def _left(visit: Visit, before: Before) -> Change | None:
    """A tombstone, when there was a page before."""
    if before.state != State.FETCHED or not 200 <= before.status < 300:
        return None
    why = "redirects elsewhere" if visit.outcome is Outcome.REDIRECT else f"gone ({visit.status})"
    return Change(ChangeKind.GONE, 1.0, "", why)
