"""Applies the user's rules: which parts of a page the change detector watches or ignores, by
selectors of parts and by patterns of lines."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from xxhash import xxh32_intdigest

from sanderling.documents.tree import Document, parse
from sanderling.documents.visible import visible_text
from sanderling.urls.patterns import pattern

from .conditions import Conditions
from .page import current_processing
from .selectors import matches, page_of, parts, problem, without

__all__ = ["ChangeRules", "focus", "matched", "problem", "processing", "unmatched"]


class ChangeRules(msgspec.Struct, frozen=True):
    """Selectors of parts to ignore and of parts to watch. If there are any to watch, only these
    count. Then patterns: lines of the text that are left out, and lines that alone count, or only
    the groups of the pattern in them."""

    ignore: tuple[str, ...] = ()
    watch: tuple[str, ...] = ()
    keep_text: tuple[str, ...] = ()
    ignore_text: tuple[str, ...] = ()
    conditions: Conditions = Conditions()

    @property
    def select(self) -> bool:
        """Whether they leave less than the whole page."""
        return bool(self.ignore or self.watch or self.keep_text or self.ignore_text)

    @property
    def chosen(self) -> bool:
        """Whether the user chose what counts, rather than what does not."""
        return bool(self.watch or self.keep_text)


def processing(rules: ChangeRules) -> int:
    """The number of the processing with these rules. With other rules, versions get new
    fingerprints."""
    if not rules.select:
        return current_processing()
    selecting = rules.ignore, rules.watch, rules.keep_text, rules.ignore_text
    return xxh32_intdigest(msgspec.json.encode((current_processing(), selecting)))


def focus(document: Document, rules: ChangeRules) -> Document:
    """A copy of the page with only the parts that the rules leave. Without rules, the page
    itself."""
    if not rules.select:
        return document
    left = without(parse(document.html), rules.ignore)
    if rules.watch:
        left = parse("".join(parts(left, rules.watch)))
    if rules.keep_text or rules.ignore_text:
        left = page_of(["\n".join(_lines(visible_text(left), rules))])
    return left


def _lines(text: str, rules: ChangeRules) -> Iterator[str]:
    ignored, kept = ([pattern(each) for each in some] for some in (rules.ignore_text, rules.keep_text))
    for line in text.splitlines():
        if any(each.search(line) for each in ignored):
            continue
        if not kept:
            yield line
            continue
        for each in kept:
            for found in each.finditer(line):
                yield " ".join(filter(None, found.groups())) if found.groups() else line
                if not found.groups():
                    break


def unmatched(document: Document, rules: ChangeRules) -> list[str]:
    """The watched selectors and patterns that match nothing on a page."""
    missing = [selector for selector in rules.watch if not matches(document, selector)]
    if rules.keep_text:
        text = visible_text(document)
        missing += [each for each in rules.keep_text if not pattern(each).search(text)]
    return missing


def matched(document: Document, rules: ChangeRules) -> list[str]:
    """The texts of the parts of a page that the rules leave, for a person who tries them."""
    if rules.watch and not (rules.keep_text or rules.ignore_text):
        left = parts(without(parse(document.html), rules.ignore), rules.watch)
        return [" ".join(parse(each).text.split()) for each in left]
    return [collapsed for line in visible_text(focus(document, rules)).splitlines() if (collapsed := line.strip())]
