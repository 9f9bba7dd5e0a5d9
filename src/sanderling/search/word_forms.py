"""Finds the other forms of a word: words of the index that have the same stem in a language.

A search for "crawlers" also finds crawler and crawling. Two words count as forms of one word if
they begin with the same letters and the stemmer of the language gives them the same stem.
"""

from collections.abc import Iterable
from functools import cache

import tantivy
from tantivy import Filter, Tokenizer

STEMMERS = {
    "ar": "arabic", "da": "danish", "de": "german", "el": "greek", "en": "english", "es": "spanish", "fi": "finnish",
    "fr": "french", "hu": "hungarian", "it": "italian", "nl": "dutch", "no": "norwegian", "nb": "norwegian",
    "nn": "norwegian", "pt": "portuguese", "ro": "romanian", "ru": "russian", "sv": "swedish", "ta": "tamil",
    "tr": "turkish",
}  # fmt: skip

MOST_CANDIDATES = 2000  # words with the same beginning that are stemmed, the most frequent first
MOST_FORMS = 12
_SHORTEST = 3


@cache
def _stemmer(name: str) -> tantivy.TextAnalyzer:
    return tantivy.TextAnalyzerBuilder(Tokenizer.whitespace()).filter(Filter.stemmer(name)).build()


def forms(searcher: tantivy.Searcher, word: str, languages: Iterable[str]) -> list[str]:
    """Returns the word itself, then its other forms."""
    found = {word: None}
    if len(word) >= _SHORTEST and not any(map(str.isdigit, word)):
        for name in dict.fromkeys(STEMMERS[each] for each in languages if each in STEMMERS):
            found |= dict.fromkeys(_forms(searcher, word, _stemmer(name)))
    return list(found)[:MOST_FORMS]


def _forms(searcher: tantivy.Searcher, word: str, stemmer: tantivy.TextAnalyzer) -> list[str]:
    stem = "".join(stemmer.analyze(word))
    if not stem:
        return []
    alike = max(2, min(len(stem), len(word)) - 1)  # one letter less, because the last one may differ: stud|y, stud|ies
    candidates: dict[str, int] = {}
    for start in {word[:alike], stem[:alike]}:
        for field in ("text", "title"):
            candidates |= dict(searcher.terms_with_prefix(field, start, limit=MOST_CANDIDATES))
    terms = list(candidates)
    stems = stemmer.analyze(" ".join(terms))
    if len(stems) != len(terms):
        return []
    return sorted(
        (term for term, other in zip(terms, stems, strict=True) if other == stem), key=lambda t: -candidates[t]
    )
