"""Applies the user's rules: which parts of a page the change detector watches or ignores, by CSS
selector."""

from __future__ import annotations

import msgspec
from turbohtml import Document, SelectorSyntaxError, parse
from xxhash import xxh32_intdigest

from .page import PROCESSING


class ChangeRules(msgspec.Struct, frozen=True):
    """Selectors of parts to ignore and of parts to watch. If there are any to watch, only these
    count."""

    ignore: tuple[str, ...] = ()
    watch: tuple[str, ...] = ()


def processing(rules: ChangeRules) -> int:
    """The number of the processing with these rules. With other rules, versions get new
    fingerprints."""
    return xxh32_intdigest(msgspec.json.encode((PROCESSING, rules))) if rules.ignore or rules.watch else PROCESSING


def focus(document: Document, rules: ChangeRules) -> Document:
    """A copy of the page with only the parts that the rules leave. Without rules, the page
    itself."""
    if not (rules.ignore or rules.watch):
        return document
    copy = parse(document.html)
    if rules.watch:
        watched = copy.select(",".join(rules.watch))
        inner = {id(found) for found in watched}
        tops = [found for found in watched if not any(id(parent) in inner for parent in found.ancestors)]
        copy = parse("".join([found.html for found in tops]))
    for selector in rules.ignore:
        copy.remove(selector)
    return copy


def problem(selector: str) -> str | None:
    """Why a selector is not valid, as a message for the user. None if it is valid."""
    try:
        parse("").select(selector)
    except SelectorSyntaxError as error:
        return str(error)
    return None
