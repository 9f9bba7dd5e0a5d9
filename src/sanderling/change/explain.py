"""What changed, with both versions at hand: the same verdict as from the fingerprints, and what
words and nodes say."""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from itertools import islice
from typing import Final

import msgspec

from sanderling.documents.tree import Document, collapse
from sanderling.documents.visible import visible_text

from . import behaviour, facts, image, presentation, structure, text
from .blocks import Alignment, align
from .noise import without
from .page import fingerprint, paragraph_hash
from .pairing import by_words
from .verdict import AspectKind, Degree, TextEdit, Verdict, compare, counted, degree, summary
from .wording import steps

# Word by word only where a person could follow; beyond, paragraphs speak for themselves.
MAX_EDITED: Final = 50
MAX_WORDS: Final = 600
MAX_EDITS: Final = 12
# A longer page has the rest of its text in its last paragraph.
MAX_PARAGRAPHS: Final = 20_000
# How alike two texts are is told by their first words, and what an element or a picture was
# exchanged for by the first elements. Pages are rarely longer.
MAX_SHINGLES: Final = 100_000
MAX_ELEMENTS: Final = 20_000
_SHOWN: Final = 40
_NAMED: Final = 3
_SHINGLE: Final = 4
_RULE: Final = re.compile(r"[^}]+\}?")


def plainly(old: Document, new: Document) -> Verdict:
    """The verdict on two parsed versions that a crawl gives without any noise known."""
    return compare(
        fingerprint(old, links=hrefs(old)),
        fingerprint(new, links=hrefs(new)),
        texts=lambda: (paragraphs(old), paragraphs(new)),
    )


def explain(old: Document, new: Document, volatile: Set[int] = frozenset()) -> Verdict:
    """The verdict on two parsed versions, with the words that were replaced, and the nodes inserted
    and deleted.

    What changed in `volatile` places (`noise.volatile_places`) is not named and not counted.
    """
    verdict = plainly(old, new)
    if AspectKind.STRUCTURE not in verdict.kinds and structure.nesting(old) != structure.nesting(new):
        # Fingerprints hold the order of the tags, not their nesting: only here a moved closing tag
        # is seen.
        verdict = msgspec.structs.replace(
            verdict,
            kinds=(AspectKind.STRUCTURE, *verdict.kinds),
            significance=verdict.significance or 0.01,
            degree=Degree.NO_TEXT if verdict.degree == Degree.NONE else verdict.degree,
        )
    if not verdict.changed:
        return verdict
    if AspectKind.TEXT in verdict.kinds:
        before, after = paragraphs(old), paragraphs(new)
        hashes = [*map(paragraph_hash, before)], [*map(paragraph_hash, after)]
        whole = align(*hashes, by_words(before, after))
        rest = without(*hashes, whole, volatile)
        if rest is not whole and rest.changes:
            verdict = counted(verdict, fingerprint(old), fingerprint(new), rest)
        edits = tuple(_edits(before, after, rest))[:MAX_EDITS]
        verdict = msgspec.structs.replace(
            verdict,
            edits=edits or (() if volatile else verdict.edits),
            degree=degree(resemblance(" ".join(before), " ".join(after))),
        )
    if AspectKind.STRUCTURE in verdict.kinds:
        found = structure.difference(structure.tree(old), structure.tree(new))
        verdict = msgspec.structs.replace(
            verdict,
            levels=found.levels,
            inserted=tuple(node.name for node in found.inserted[: structure.MAX_NAMES]),
            deleted=tuple(node.name for node in found.deleted[: structure.MAX_NAMES]),
        )
    details = {
        AspectKind.STRUCTURE: _nodes(verdict),
        AspectKind.PRESENTATION: exchanged_looks(old, new) if AspectKind.PRESENTATION in verdict.kinds else "",
        AspectKind.IMAGE: exchanged_images(old, new) if AspectKind.IMAGE in verdict.kinds else "",
        AspectKind.BEHAVIOUR: exchanged_scripts(old, new) if AspectKind.BEHAVIOUR in verdict.kinds else "",
    }
    return msgspec.structs.replace(verdict, summary=summary(verdict, details))


def hrefs(document: Document) -> bytes:
    """Where the links of a page lead, packed; never empty, so that a page that lost them all is
    told from others."""
    return msgspec.msgpack.encode([link.attr("href") for link in document.iter_elements(("a", "area"))])


def paragraphs(document: Document) -> list[str]:
    """The paragraphs of a page as text, title first, and the last ones of a very long page as
    one."""
    title = document.find("title")
    head = [collapse(title.text)] if title is not None else []
    found = [*filter(None, head), *text.paragraphs(visible_text(document))]
    if len(found) > MAX_PARAGRAPHS:
        rest = found[MAX_PARAGRAPHS - 1 :]
        found[MAX_PARAGRAPHS - 1 :] = [f"({len(rest):,} paragraphs, compared as one:) {' '.join(rest)}"]
    return found


def resemblance(before: str, after: str) -> float:
    """The share of word shingles that two texts have in common."""
    one, other = _shingles(before), _shingles(after)
    if not one or not other:
        return 0.0
    shared = len(one & other)
    # A share of 1 would say "nothing changed" of a text whose repetitions did.
    return min(0.999, shared / len(one | other))


def _shingles(words: str) -> set[tuple[str, ...]]:
    split = words.split(maxsplit=MAX_SHINGLES)[:MAX_SHINGLES]
    size = min(_SHINGLE, max(1, len(split) // 4))
    return set(zip(*(split[at:] for at in range(size)), strict=False))


def _edits(before: list[str], after: list[str], alignment: Alignment) -> Iterator[TextEdit]:
    """The replaced words, named where they are a price, a date or a number; those first."""
    edited = [(before[one], after[other]) for one, other in alignment.edited[:MAX_EDITED]]
    found = [edit for both in edited for edit in word_edits(*both)]
    yield from sorted(found, key=lambda edit: edit.what == "")


def word_edits(before: str, after: str) -> list[TextEdit]:
    """What was replaced by what between two versions of a paragraph."""
    old, new = (words.split(maxsplit=MAX_WORDS)[:MAX_WORDS] for words in (before, after))
    edits = []
    for step in steps(old, new):
        if step.same:
            continue
        gone, came = " ".join(old[step.old]), " ".join(new[step.new])
        around = " ".join(old[max(0, step.old.start - 3) : step.old.stop + 3])
        edits.append(TextEdit(facts.name(gone, came, around), _short(gone), _short(came)))
    return edits


def _short(words: str) -> str:
    return words if len(words) <= _SHOWN else words[: _SHOWN - 1] + "…"


def exchanged_looks(old: Document, new: Document) -> str:
    """The elements, rules and style sheets of a page that left, and those that came for them."""
    return _exchanged(_looks(old), _looks(new))


def exchanged_images(old: Document, new: Document) -> str:
    return _exchanged(_images(old), _images(new))


def exchanged_scripts(old: Document, new: Document) -> str:
    return _exchanged(_scripts(old), _scripts(new))


def exchanged_links(old: Document, new: Document) -> str:
    return _exchanged(_targets(old), _targets(new))


def _targets(document: Document) -> list[str]:
    return [link.attr("href") or "" for link in islice(document.iter_elements(("a", "area")), MAX_ELEMENTS)]


def _looks(document: Document) -> list[str]:
    """The elements of a page as their looks name them: "p.note", "h1[color: red]"; its style sheets
    by their files, and its own rules as they are written: ".price { color: red }"."""
    found = []
    for element in islice(document.iter_elements(), MAX_ELEMENTS):
        if element.tag == "style":
            found += _rules(element.text)
            continue
        if element.tag == "link" and (sheet := presentation.sheet(element)):
            found.append(sheet.rpartition("/")[2])
            continue
        style = element.attr("style")
        classes = ".".join(["", *(element.attr("class") or "").split()])
        found.append(f"{element.tag}{classes}{f'[{collapse(style)}]' if style else ''}")
    return found


def _rules(css: str) -> list[str]:
    """The rules of a `style` element, one each. Those inside of another are parts of it."""
    pieces = islice(_RULE.finditer(css), MAX_ELEMENTS)
    return [rule for piece in pieces if (rule := collapse(piece.group()))]


def _images(document: Document) -> list[str]:
    """The names of the pictures of a page; a drawing has none."""
    names = []
    for each in islice(document.iter_elements(image.TAGS), MAX_ELEMENTS):
        tag = each.tag
        drawn = tag == "svg"
        if image.is_pixel(each):
            continue
        names.append("a drawing" if drawn else image.reference(each, tag).partition("?")[0].rpartition("/")[2])
    return names


def _scripts(document: Document) -> list[str]:
    """The names of the scripts of a page."""
    return [*map(behaviour.name, islice(document.iter_elements(("script",)), MAX_ELEMENTS))]


def _exchanged(before: list[str], after: list[str]) -> str:
    """The first names that left, and those that came for them."""
    alignment = align(before, after)
    gone = [*(before[one] for one, _ in alignment.edited), *(before[at] for at in alignment.removed)]
    came = [*(after[other] for _, other in alignment.edited), *(after[at] for at in alignment.added)]
    shown = [", ".join([_short(name) for name in dict.fromkeys(names)][:_NAMED]) for names in (gone, came)]
    return (
        " -> ".join(shown) if all(shown) else f"{shown[0]} left" if shown[0] else f"{shown[1]} came" if shown[1] else ""
    )


def _nodes(verdict: Verdict) -> str:
    parts = []
    if verdict.inserted:
        parts.append(f"{_some(verdict.inserted)} inserted")
    if verdict.deleted:
        parts.append(f"{_some(verdict.deleted)} deleted")
    if verdict.levels:
        numbers = [str(each.level) for each in verdict.levels[:8]]
        parts.append(f"level{'s' * (len(verdict.levels) > 1)} {', '.join(numbers)}")
    if AspectKind.STRUCTURE in verdict.kinds and not parts:
        parts.append("links lead elsewhere")
    return ", ".join(parts)


def _some(names: tuple[str, ...]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
