"""Cuts the part of a page that contains the words of a query, and marks the words."""

import re
from html import escape
from typing import NamedTuple

import tantivy
from tantivy import Occur
from tantivy import Query as Matching

from sanderling.documents.main_content import weight_of
from sanderling.search.matching import Highlights
from sanderling.search.passages import passages
from sanderling.search.schema import SCHEMA, WORDS

LENGTH = 220
_SPACE = re.compile(r"\s+")
# Shorter lines are mostly menus and headings. On 225 pages of strangers 87 % of a snippet was main
# content when it was cut from the whole text, and 92 % from such lines; of a snippet without words
# of the query 11 and 65 %.
_RUNNING = 100
_MOST_RUNNING = 20_000  # characters


class Snippet(NamedTuple):
    text: str = ""
    marks: tuple[tuple[int, int], ...] = ()

    @property
    def html(self) -> str:
        """Escaped, with the words in <mark>."""
        parts, last = [], 0
        for start, end in self.marks:
            parts += [escape(self.text[last:start]), "<mark>", escape(self.text[start:end]), "</mark>"]
            last = end
        return "".join([*parts, escape(self.text[last:])])


class Snipper:
    """Cuts snippets for one query."""

    def __init__(self, searcher: tantivy.Searcher, wanted: Highlights) -> None:
        self._searcher = searcher
        self._wanted = wanted
        self._generators: dict[tuple[str, frozenset[str]], tantivy.SnippetGenerator] = {}

    def cut(self, document: tantivy.Document, passage: int | None = None) -> Snippet:
        """`passage` is the one to begin with, instead of the words."""
        for field in ("text", "signs"):
            text = document.get_first(field)
            if text and passage is not None and (found := passages(text)[passage : passage + 1]):
                return tidy(found[0].text[:LENGTH], [])
            if text:
                return self._cut(document, field, text)
        return Snippet()

    def _cut(self, document: tantivy.Document, field: str, text: str) -> Snippet:
        words = frozenset(self._wanted.words | self._fuzzy_matches(text) if self._wanted.fuzzy else self._wanted.words)
        running = running_text(text)
        if words:
            generator = self._generator(field, words)
            for each in (tantivy.Document(**{field: running}), document) if running else (document,):
                found = generator.snippet_from_doc(each)
                if fragment := found.fragment():
                    data = fragment.encode()
                    # The library counts in bytes.
                    marks = [
                        (len(data[: each.start].decode()), len(data[: each.end].decode()))
                        for each in found.highlighted()
                    ]
                    return tidy(fragment, marks)
        start = (running or text)[:LENGTH]
        return tidy(start if len(text) <= LENGTH else start.rpartition(" ")[0] or start, [])

    def _fuzzy_matches(self, text: str) -> set[str]:
        """The words of a text that match a fuzzy word of the query."""
        words = set(WORDS.analyze(text))
        return {word for other, distance in self._wanted.fuzzy for word in words if near(word, other, distance)}

    def _generator(self, field: str, words: frozenset[str]) -> tantivy.SnippetGenerator:
        key = (field, words)
        if key not in self._generators:
            terms = [(Occur.Should, Matching.term_query(SCHEMA, field, word)) for word in words]
            made = tantivy.SnippetGenerator.create(self._searcher, Matching.boolean_query(terms), SCHEMA, field)
            made.set_max_num_chars(LENGTH)
            self._generators[key] = made
        return self._generators[key]


def running_text(text: str) -> str:
    """The lines of a text that are sentences rather than menus."""
    return "\n".join(line for line in text[:_MOST_RUNNING].splitlines() if weight_of(line) >= _RUNNING)


def tidy(text: str, marks: list[tuple[int, int]]) -> Snippet:
    """Replaces every run of white space with one space, and moves the marks accordingly."""
    parts: list[str] = []
    moved: list[tuple[int, int]] = []
    length = 0
    last = 0
    for start, end in sorted(marks):
        if start < last:
            continue
        before = _SPACE.sub(" ", text[last:start])
        parts += [before, text[start:end]]
        length += len(before)
        moved.append((length, length + end - start))
        length += end - start
        last = end
    parts.append(_SPACE.sub(" ", text[last:]))
    joined = "".join(parts)
    lead = len(joined) - len(joined.lstrip())
    return Snippet(joined.strip(), tuple((start - lead, end - lead) for start, end in moved))


def near(one: str, two: str, most: int) -> bool:
    """Whether at most `most` edits make one word the other. An edit adds, drops, changes or swaps
    letters."""
    if abs(len(one) - len(two)) > most or len(set(one) ^ set(two)) > 2 * most:
        return False
    before: list[int] = []
    row = list(range(len(two) + 1))
    for i, a in enumerate(one, 1):
        new = [i]
        for j, b in enumerate(two, 1):
            cost = min(row[j] + 1, new[j - 1] + 1, row[j - 1] + (a != b))
            if before and j > 1 and a == two[j - 2] and one[i - 2] == b:
                cost = min(cost, before[j - 2] + 1)
            new.append(cost)
        if min(new) > most:
            return False
        before, row = row, new
    return row[-1] <= most
