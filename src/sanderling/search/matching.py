"""Turns a parsed query into a query of tantivy."""

import contextlib
import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import NamedTuple

import tantivy
from msgspec import structs
from tantivy import FieldType, Occur
from tantivy import Query as Matching

from sanderling.model import ChangeKind
from sanderling.search.comparing import comparison
from sanderling.search.parsing import DATA, RELEVANCE, AllOf, AnyOf, Node, Not, Phrase, Word, parse
from sanderling.search.query import Query
from sanderling.search.schema import LONGEST_WORD, SCHEMA, SIGNS, UNSPACED, WEIGHTS
from sanderling.search.word_forms import forms

# The score of a word is its score in its best field, plus this share of its scores in the other
# fields.
_TIE = 0.3
# Another form of the word counts a little less than the word itself.
_OTHER_FORM = 0.8
# Shorter prefixes and shorter fuzzy words would match half of the index.
SHORTEST_PREFIX = 2
SHORTEST_FUZZY = 3
SHORTEST_FUZZY_TWICE = 5
# Words with a prefix that are marked in snippets, the most frequent first.
MOST_MARKED = 200
_RAW = {"host": "host", "lang": "language"}
_COMPARED = re.compile(r"(?P<sign>[<>]=?|=)?(?P<number>\d*\.?\d+)")


class Highlights(NamedTuple):
    """What to mark in a text: exact words, and fuzzy words with their greatest edit distance."""

    words: set[str]
    fuzzy: set[tuple[str, int]]


class Matcher:
    """Translates one query. `notes` says which parts of it could not be used."""

    def __init__(self, index: tantivy.Index, searcher: tantivy.Searcher, languages: Iterable[str]) -> None:
        """`languages` are those whose word forms are searched."""
        self._index = index
        self._searcher = searcher
        self._languages = list(languages)
        self.highlights = Highlights(set(), set())
        self.notes: list[str] = []

    def query(self, asked: Query) -> Matching:
        """Matches the words, the earlier queries and the filters. Only the words count for the
        score and are marked."""
        words = self._words(asked.text)
        marked = (set(self.highlights.words), set(self.highlights.fuzzy))
        earlier = [_unscored(each) for text in asked.within for each in self._words(text)]
        self.highlights = Highlights(*marked)
        return Matching.boolean_query([(Occur.Must, each) for each in (*_filters(asked), *earlier, *words)])

    def query_of_versions(self, asked: Query, numbers: Iterable[int]) -> Matching:
        """Those of some versions that pass the filters and the earlier queries."""
        some = [Matching.term_query(SCHEMA, "number", number, "basic") for number in numbers]
        unworded = structs.replace(asked, text="*")
        return Matching.boolean_query([(Occur.Must, self.query(unworded)), (Occur.Must, _any(some))])

    def _words(self, text: str) -> list[Matching]:
        """What a text in the query language asks for; nothing if it asks for everything."""
        tree, notes = parse(text)
        before, self.notes = self.notes, []
        words = self._all(tree.parts)
        if not words and not self.notes and text.strip() and "*" not in text:
            self.notes.append(f"there are no words to search for in {text.strip()[:40]!r}: '*' finds all pages")
        if not words and self.notes:  # no part of the query can be searched for
            words = [Matching.empty_query()]
        self.notes = [*before, *notes, *self.notes]
        return words

    def _all(self, parts: Iterable[Node]) -> list[Matching]:
        wanted = [query for part in parts if not isinstance(part, Not) and (query := self._node(part)) is not None]
        marked = (set(self.highlights.words), set(self.highlights.fuzzy))
        unwanted = [query for part in parts if isinstance(part, Not) and (query := self._node(part.part)) is not None]
        self.highlights = Highlights(*marked)  # excluded words are not marked
        if unwanted:
            rest = [(Occur.MustNot, query) for query in unwanted]
            wanted.append(Matching.boolean_query([(Occur.Must, _unscored(Matching.all_query())), *rest]))
        return wanted

    def _node(self, node: Node) -> Matching | None:
        if isinstance(node, Word):
            return self._word(node)
        if isinstance(node, Phrase):
            return self._phrase(node)
        if isinstance(node, AnyOf):
            alternatives = [query for part in node.parts if (query := self._node(part)) is not None]
            return Matching.boolean_query([(Occur.Should, query) for query in alternatives]) if alternatives else None
        parts = self._all(node.parts if isinstance(node, AllOf) else (node,))
        return Matching.boolean_query([(Occur.Must, query) for query in parts]) if parts else None

    def _word(self, word: Word) -> Matching | None:
        if word.field.startswith(DATA):
            if word.prefix or word.distance:
                self.notes.append(f"{word.field} takes whole words: {word.text!r} was looked for as one")
            return self._datum(Phrase(word.text, word.field))
        if word.field in _RAW:
            return _term(_RAW[word.field], word.text.strip(".").lower())
        if word.field == RELEVANCE:
            return self._relevance(word.text)
        tokens = SIGNS.analyze(word.text)
        if len(tokens) != 1 or UNSPACED.match(tokens[0]):
            return self._phrase(Phrase(word.text, word.field))
        token = tokens[0]
        fields = [word.field] if word.field else list(WEIGHTS)
        if word.prefix:
            if len(token) >= SHORTEST_PREFIX:
                for name in ("text", "signs"):
                    begun = self._searcher.terms_with_prefix(name, token, limit=MOST_MARKED)
                    self.highlights.words.update(each for each, _ in begun)
                return _best(Matching.regex_query(SCHEMA, name, f"{token}.*") for name in fields)
            self.notes.append(f"{word.text}* is too short for a prefix search: it was read as a word")
        elif word.distance and len(token) >= SHORTEST_FUZZY:
            distance = word.distance if len(token) >= SHORTEST_FUZZY_TWICE else 1
            self.highlights.fuzzy.add((token, distance))
            return _best(Matching.fuzzy_term_query(SCHEMA, name, token, distance) for name in fields)
        found = forms(self._searcher, token, self._languages)
        self.highlights.words.update(found)
        return _best(
            Matching.boost_query(
                Matching.term_query(SCHEMA, name, form), WEIGHTS[name] * (1 if form == token else _OTHER_FORM)
            )
            for name in fields
            for form in found
        )

    def _relevance(self, text: str) -> Matching | None:
        """Pages whose relevance for the topic of the crawl is above, below or at a number."""
        asked = _COMPARED.fullmatch(text.strip())
        if asked is None:
            self.notes.append(f"relevance takes a number such as relevance:>0.7, not {text[:40]!r}")
            return None
        sign, number = asked["sign"] or "=", float(asked["number"])
        low = number if sign[0] == ">" else number - 0.005 if sign == "=" else 0.0
        high = number if sign[0] == "<" else number + 0.005 if sign == "=" else 1.0
        return _unscored(
            Matching.range_query(
                SCHEMA, RELEVANCE, FieldType.Float, lower_bound=low, upper_bound=high, include_lower=sign != ">",
                include_upper=sign != "<",
            )
        )  # fmt: skip

    def _datum(self, phrase: Phrase) -> Matching | None:
        """A value in what extractors said; it counts alike wherever it is found."""
        compared = comparison(phrase.text)
        if isinstance(compared, str):
            self.notes.append(compared)
            return None
        if compared is not None:
            return _unscored(self._index.parse_query(compared.query(phrase.field.removeprefix(DATA))))
        queries = []
        for value in _as_values(phrase.text.strip()):
            with contextlib.suppress(ValueError, OverflowError):  # more than the index can hold
                queries.append(Matching.term_query(SCHEMA, phrase.field, value))
        tokens = SIGNS.analyze(phrase.text)
        if len(tokens) == 1:
            queries.append(Matching.term_query(SCHEMA, phrase.field, tokens[0]))
        elif tokens:
            queries.append(Matching.phrase_query(SCHEMA, phrase.field, list(tokens), phrase.slop))
        if not queries:
            self.notes.append(f"{phrase.text[:40]!r} has no letters or digits to look for")
            return None
        return Matching.const_score_query(Matching.disjunction_max_query(queries), 1.0)

    def _phrase(self, phrase: Phrase) -> Matching | None:
        if phrase.field.startswith(DATA):
            return self._datum(phrase)
        if phrase.field == RELEVANCE:
            return self._relevance(phrase.text)
        if phrase.field in _RAW:
            return _term(_RAW[phrase.field], phrase.text.strip().lower())
        tokens = SIGNS.analyze(phrase.text)
        if not tokens:
            if any(map(str.isalnum, phrase.text)):
                self.notes.append(f"words of more than {LONGEST_WORD} letters are not searched for")
            elif phrase.text.strip("*"):
                self.notes.append(f"{phrase.text[:40]!r} has no letters or digits to search for")
            return None
        self.highlights.words.update(tokens)
        fields = [phrase.field] if phrase.field else list(WEIGHTS)
        if len(tokens) == 1:
            found = [(name, Matching.term_query(SCHEMA, name, tokens[0])) for name in fields]
        else:
            found = [(name, Matching.phrase_query(SCHEMA, name, list(tokens), phrase.slop)) for name in fields]
        return _best(Matching.boost_query(query, WEIGHTS[name]) for name, query in found)


def _as_values(text: str) -> Iterator[bool | int | float | datetime]:
    """What a text may be besides words: the index keeps numbers, truth and moments as what they
    are."""
    if text.lower() in ("true", "false"):
        yield text.lower() == "true"
    for kind in (int, float, datetime.fromisoformat):
        with contextlib.suppress(ValueError):
            yield kind(text)


def _filters(asked: Query) -> list[Matching]:
    """The conditions on a document that do not depend on its words."""
    found = []
    if asked.at:
        found.append(_from("until", asked.at, above=True))
        found.append(_until("at", asked.until, below=True) if asked.until else _until("at", asked.at))
    elif asked.gone or asked.kinds & ChangeKind.GONE:
        found.append(_term("state", "gone"))
    elif asked.versions:
        found.append(_any(_term("state", each) for each in ("current", "gone", "old")))
    else:
        found.append(_term("state", "current"))
    kinds = (asked.kinds & ~ChangeKind.GONE).names
    if kinds:
        found.append(_any(_term("kind", each) for each in kinds))
    if asked.host:
        found.append(_term("host", asked.host.strip().strip(".").lower()))
    if asked.language:
        found.append(_term("language", asked.language.strip().lower()))
    if asked.since:
        found.append(_from("at", asked.since))
    if asked.changed:
        found.append(_from("changed_at", asked.changed))
    return found


def _best(queries: Iterable[Matching]) -> Matching:
    return Matching.disjunction_max_query(list(queries), _TIE)


def _any(queries: Iterable[Matching]) -> Matching:
    return _unscored(Matching.boolean_query([(Occur.Should, each) for each in queries]))


def _term(field: str, value: str) -> Matching:
    return _unscored(Matching.term_query(SCHEMA, field, value, "basic"))


def _from(field: str, at: float, above: bool = False) -> Matching:
    return _unscored(Matching.range_query(SCHEMA, field, FieldType.Float, lower_bound=at, include_lower=not above))


def _until(field: str, at: float, below: bool = False) -> Matching:
    return _unscored(Matching.range_query(SCHEMA, field, FieldType.Float, upper_bound=at, include_upper=not below))


def _unscored(query: Matching) -> Matching:
    return Matching.const_score_query(query, 0.0)
