"""What a user wants watched or ignored, by CSS selector: the page as the change detector is to see it."""

from __future__ import annotations

import msgspec
from turbohtml import Document, SelectorSyntaxError, parse
from xxhash import xxh32_intdigest

from .page import PROCESSING


class ChangeRules(msgspec.Struct, frozen=True):
    """Selectors of parts to ignore, and, if any, of the only parts to watch."""

    ignore: tuple[str, ...] = ()
    watch: tuple[str, ...] = ()


def processing(rules: ChangeRules) -> int:
    """The number of a processing with these rules: another rule, and versions are evaluated anew."""
    return xxh32_intdigest(msgspec.json.encode((PROCESSING, rules))) if rules.ignore or rules.watch else PROCESSING


def focus(document: Document, rules: ChangeRules) -> Document:
    """A copy of the page with only what the rules leave; the page itself where there are none."""
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
    """Why a selector cannot be used, for the one who wrote it; nothing where it can."""
    try:
        parse("").select(selector)
    except SelectorSyntaxError as error:
        return str(error)
    return None
