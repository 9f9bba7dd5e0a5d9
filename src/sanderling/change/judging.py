"""Connects the change detector with the client, which makes fingerprints, and with intake, which
compares them."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import msgspec

from sanderling.change import (
    ChangeRules,
    Noise,
    PageFingerprint,
    Verdict,
    compare,
    condense,
    fingerprint,
    focus,
    learn,
    learn_template,
    look,
    markup,
    processing,
    unlikeness,
)
from sanderling.change.aspects import Aspect
from sanderling.change.conditions import Conditions
from sanderling.change.image import Look
from sanderling.change.noise import are_volatile, learn_first, learn_image, steady
from sanderling.change.pixels import Decoder
from sanderling.change.rules import problem
from sanderling.change.textless import BYTES, SIZE, is_noisy, kind_of, learn_file, learn_kind
from sanderling.change.verdict import Texts
from sanderling.documents.tree import Document
from sanderling.errors import BadSetting
from sanderling.model import Before, Change, ChangeKind, Outcome, Visit
from sanderling.model.reasons import sentence
from sanderling.settings import Rule
from sanderling.urls import join
from sanderling.urls.patterns import pattern

_encode = msgspec.msgpack.Encoder().encode
_decode_fingerprint = msgspec.msgpack.Decoder(PageFingerprint).decode
_decode_noise = msgspec.msgpack.Decoder(Noise).decode
_decode_look = msgspec.msgpack.Decoder(Look).decode

_KINDS = {
    "structure": ChangeKind.STRUCTURE,
    "presentation": ChangeKind.PRESENTATION,
    "text": ChangeKind.TEXT,
    "image": ChangeKind.IMAGE,
    "behaviour": ChangeKind.BEHAVIOUR,
}

# With two unchanged visits for each change nothing is noise, so more of them make no difference.
_MOST_BETWEEN = 3

# Makes the fingerprint of an archived version, if none is stored or it was made with other rules.
Anew = Callable[[Before], bytes]


# Reads what it needs from a parsed page at a URL; then the tree may be freed. The function that it
# returns makes the encoded fingerprint from the visible text and the packed links.
Fingerprinter = Callable[[Document, str], Callable[[str, bytes], bytes]]


# Whether both versions of a file are equally large; False if that cannot be found out.
SameSize = Callable[[], bool]

# Turns the bytes of an image into its encoded `Look`. Empty if the image cannot be decoded.
DescribeImage = Callable[[bytes], bytes]


def image_describer(decoder: Decoder) -> DescribeImage:
    """Makes a function that reduces images to their looks. The process that decodes them starts
    with the first image."""

    def describe_image(body: bytes) -> bytes:
        colours = decoder.decode(body)
        return b"" if colours is None else _encode(look(colours))

    return describe_image


def fingerprinter(rules: Sequence[Rule]) -> Fingerprinter:
    """Makes a function that reduces pages to fingerprints. The first of the user's rules whose
    pattern matches applies."""
    rule_for = chooser(rules)

    def take(document: Document, url: str) -> Callable[[str, bytes], bytes]:
        if (selectors := rule_for(url)) and selectors.select:
            rest = focus(document, selectors)
            focused = fingerprint(rest, links=_links(rest, url), processing=processing(selectors))
            return lambda visible, links: _encode(focused)
        seen = markup(document)
        return lambda visible, links: _encode(condense(seen, visible, links=links))

    return take


def chooser(rules: Sequence[Rule]) -> Callable[[str], ChangeRules | None]:
    """Makes a function that finds the rule for a URL: the first one whose pattern matches."""
    chosen = [(_pattern(rule), _selectors(rule)) for rule in rules]
    return lambda url: next((selectors for urls, selectors in chosen if urls.search(url)), None)


def watcher(rules: Sequence[Rule]) -> Callable[[str], bool]:
    """Makes a function that says whether the user watches parts of the page at a URL."""
    rule_for = chooser(rules)
    return lambda url: bool((rule := rule_for(url)) and rule.chosen)


def _links(document: Document, url: str) -> bytes:
    """The targets of the links that the rules left on a page.

    It is never empty: empty means that links are not known, which differs from a page without
    links.
    """
    return _encode([join(url, link.attr("href") or "") for link in document.iter_elements(("a", "area"))])


def _pattern(rule: Rule) -> Any:
    try:
        return pattern(rule.urls)
    except BadSetting as error:
        raise BadSetting(f"rules: {error}") from None


def _selectors(rule: Rule) -> ChangeRules:
    for selector in (*rule.ignore, *rule.watch):
        if why := problem(selector):
            raise BadSetting(f"rules: {selector!r} is not a valid selector: {why}")
    for text in (*rule.keep_text, *rule.ignore_text, *rule.must, *rule.must_not):
        pattern(text)
    conditions = Conditions(rule.must, rule.must_not, rule.number)
    return ChangeRules(rule.ignore, rule.watch, rule.keep_text, rule.ignore_text, conditions)


def known_fingerprint(packed: bytes) -> PageFingerprint | None:
    """Decodes a stored fingerprint. None if there is none or it cannot be read."""
    try:
        return _decode_fingerprint(packed) if packed else None
    except msgspec.MsgspecError:  # made by an older version of this program
        return None


def known_noise(packed: bytes) -> Noise:
    """Decodes the stored noise of a page."""
    try:
        return _decode_noise(packed) if packed else Noise()
    except msgspec.MsgspecError:
        return Noise()


def rejudge(
    versions: Sequence[tuple[ChangeKind, bytes]], unchanged: int, watched: bool = False
) -> tuple[list[Change | None], bytes, bytes]:
    """Compares all versions of a page again, in order. A version is given by its stored kinds and
    its fingerprint. Nothing is noise on a page whose parts are `watched`.

    `unchanged` visits found no change, at unknown times. They are assumed to be evenly distributed
    between the versions. Without them, everything that ever changed would look as if it changed on
    every visit, and would not be news.

    Returns the new `Change` of each version (None if it stays), and the fingerprint and the noise
    after the last one.
    """
    changes: list[Change | None] = []
    between = min(unchanged // max(1, len(versions) - 1), _MOST_BETWEEN)
    noise = Noise()
    last: PageFingerprint | None = None
    for kinds, packed in versions:
        new = _decode_fingerprint(packed) if packed else None
        if last is None or new is None or kinds & (ChangeKind.NEW | ChangeKind.GONE):
            changes.append(None)
        else:
            changes.append(_change(compare(last, new, known=noise)))
            if not watched:
                noise = learn(noise, last, new)
                for _ in range(between):
                    noise = learn(noise, new, new)
        last = new or last
    return changes, _encode(last) if last else b"", _encode(noise)


class Judgement(NamedTuple):
    """The result of a visit to a known page. `change` is None if there is no new version."""

    change: Change | None
    noise: bytes
    template: Noise


def judge(
    visit: Visit, before: Before, anew: Anew, template: Noise, watched: bool = False, texts: Texts | None = None,
    same_size: SameSize = lambda: False,
) -> Judgement:  # fmt: skip
    """Compares a visit with the stored version. `template` is the known noise of the pages of the
    same site.

    What the user asked to watch is news whenever it changes: a price that falls at every visit, or
    an article that is sold out and in stock in turn. So nothing is learned from a page whose parts
    are `watched`, and nothing learned applies to it. `texts` reads the paragraphs of both versions,
    and `same_size` compares the sizes of files without text.

    Pages that never changed before have no stored fingerprint. So the places on them are counted
    apart, and need more changes to be noise.
    """
    if visit.outcome in (Outcome.GONE, Outcome.REDIRECT):
        return Judgement(_left(visit, before), before.noise, template)
    if visit.outcome is Outcome.UNCHANGED and before.noise and before.fingerprint:
        same = known_fingerprint(before.fingerprint)
        if same is None:  # an image
            return Judgement(None, _encode(learn_image(known_noise(before.noise), False)), template)
        learned = learn_template(template, same, same) if template.places else template
        return Judgement(None, _encode(learn(_decode_noise(before.noise), same, same)), learned)
    if visit.outcome is Outcome.UNCHANGED and not before.fingerprint and not watched:
        noise, kind = known_noise(before.noise), kind_of(before.mime)
        if kind or noise.files:
            learned = learn_kind(steady(template), kind, noise, set())
            return Judgement(None, _encode(learn_file(noise, set())), learned)
    if visit.outcome is not Outcome.PAGE:
        unchanged = visit.outcome is Outcome.UNCHANGED
        return Judgement(None, before.noise, steady(template) if unchanged else template)
    if not before.there:
        return Judgement(Change(ChangeKind.NEW, 1.0, "", "back" if before.ever else "new"), before.noise, template)
    if visit.completes:
        return Judgement(Change(ChangeKind.TEXT, 0.01, "", "the rest of it is stored now", news=False), b"", template)
    if visit.mime.startswith("image/"):
        return _image(visit, before, anew, template)
    kept = before.fingerprint or anew(before)
    if before.lost and not kept:
        return Judgement(_after_a_loss(visit, before), before.noise, template)
    if not visit.fingerprint and not kept and not watched:
        return _textless(before, template, same_size)
    if not visit.fingerprint or not kept:
        return Judgement(Change(ChangeKind.TEXT, 1.0, "", _ANOTHER), before.noise, template)
    try:
        old, new = _decode_fingerprint(kept), _decode_fingerprint(visit.fingerprint)
    except msgspec.MsgspecError:  # the version before was an image
        return Judgement(Change(ChangeKind.TEXT, 1.0, "", _ANOTHER), b"", template)
    if old.processing != new.processing and (made := anew(before)):
        old = _decode_fingerprint(made)
    if watched:
        return Judgement(_change(compare(old, new, texts=texts)), b"", template)
    noise = _decode_noise(before.noise) if before.noise else Noise()
    verdict = compare(old, new, known=noise, template=template, texts=texts)
    learned = (learn_template if before.fingerprint else learn_first)(template, old, new)
    return Judgement(_change(verdict), _encode(learn(noise, old, new)), learned)


def _after_a_loss(visit: Visit, before: Before) -> Change:
    """Compares a page with a copy that is lost: only the digests of its bytes and its text are
    left."""
    if visit.text_digest and visit.text_digest == before.text_digest:
        return Change(ChangeKind.STRUCTURE, 0.01, "", "the same text; the copy before is lost", news=False)
    return Change(ChangeKind.TEXT, 1.0, "", "another text; the copy before is lost")


_ANOTHER = "the file is another one"


def _textless(before: Before, template: Noise, same_size: SameSize) -> Judgement:
    """Compares two files of which only bytes and size are known. That one differs as it did at most
    visits is not news."""
    noise, kind = known_noise(before.noise), kind_of(before.mime)
    differs = {BYTES} if same_size() else {BYTES, SIZE}
    change = Change(ChangeKind.TEXT, 1.0, "", _ANOTHER)
    if is_noisy(differs, noise, template, kind):
        change = msgspec.structs.replace(change, summary=f"{_ANOTHER}, as on most visits", news=False)
    return Judgement(change, _encode(learn_file(noise, differs)), learn_kind(template, kind, noise, differs))


def _image(visit: Visit, before: Before, anew: Anew, template: Noise) -> Judgement:
    """Compares two image files with different bytes. A picture that is another one at most visits
    is not news."""
    noise = known_noise(before.noise)
    change = _redrawn(_known_look(before.fingerprint) or _known_look(anew(before)), _known_look(visit.fingerprint))
    if change.news and are_volatile({Aspect.IMAGES}, noise):
        change = msgspec.structs.replace(change, summary=f"{change.summary}, as on most visits", news=False)
    return Judgement(change, _encode(learn_image(noise, change.significance > _RESAVED)), template)


_RESAVED = 0.01


def _redrawn(old: Look | None, new: Look | None) -> Change:
    """Compares two image files. If both show the same picture, it is not news."""
    if old is None or new is None:
        return Change(ChangeKind.IMAGE, 1.0, "", _ANOTHER)
    unlike = unlikeness(old, new)
    if not unlike:
        return Change(ChangeKind.IMAGE, _RESAVED, "", "the same picture, saved again", news=False)
    return Change(ChangeKind.IMAGE, unlike, "", "another picture" if unlike == 1.0 else "the picture was altered")


def _known_look(packed: bytes) -> Look | None:
    """Decodes a stored look. None if there is none: it cannot be decoded, or the file is not an
    image."""
    try:
        return _decode_look(packed) if packed else None
    except msgspec.MsgspecError:
        return None


def _change(verdict: Verdict) -> Change:
    kinds = ChangeKind(0)
    for kind in verdict.kinds:
        kinds |= _KINDS[kind]
    return Change(kinds, verdict.significance, str(verdict.degree), verdict.summary, verdict.news)


def _left(visit: Visit, before: Before) -> Change | None:
    """A change that says the page is gone, if there was a page before."""
    if not before.there:
        return None
    if visit.outcome is Outcome.REDIRECT and visit.found:
        return Change(ChangeKind.GONE, 1.0, "", "redirects elsewhere", excerpt=f"→ {visit.found[0].url}")
    why = f"gone ({sentence(visit.reason) or visit.status})"
    return Change(ChangeKind.GONE, 1.0, "", why if visit.outcome is Outcome.GONE else "redirects elsewhere")
