"""The fields of the index, and how text becomes words.

Words are indexed as they are, in small letters and without accents; a question is widened to their forms instead
(`forms`), by the language it is asked in. That is a third cheaper than stemming every page, one index serves all
languages, and quoted words are exact. Scripts that do not separate words go to a field of their own, by the sign.
"""

import re

import tantivy
from tantivy import Filter, Tokenizer

# Raised whenever the fields or their meaning change; an index of another format is made anew.
FORMAT = 2

_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
# The same for Python, by the blocks of Unicode.
UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af]"
)

# Longer ones are no words.
LONGEST_WORD = 64

# Where a word is looked for, and what it counts there.
WEIGHTS = {"title": 3.0, "headings": 1.5, "text": 1.0, "signs": 1.0, "url": 1.0}
NEVER = 1e15  # the end of what has not ended


def _analyzer(tokenizer: Tokenizer) -> tantivy.TextAnalyzer:
    builder = tantivy.TextAnalyzerBuilder(tokenizer)
    for each in (Filter.remove_long(LONGEST_WORD), Filter.lowercase(), Filter.ascii_fold()):
        builder = builder.filter(each)
    return builder.build()


WORDS = _analyzer(Tokenizer.simple())
# The same words where there are spaces: a question is read by it, whatever it is put to. It takes four times as long, so
# that a text gets it only where it needs it.
SIGNS = _analyzer(Tokenizer.regex(rf"[{_UNSPACED}]|[[\p{{Alphabetic}}\p{{N}}]--[{_UNSPACED}]]+"))
ANALYZERS = {"words": WORDS, "signs": SIGNS}


def build() -> tantivy.Schema:
    schema = tantivy.SchemaBuilder()
    schema.add_text_field("title", stored=True, tokenizer_name="words")
    schema.add_text_field("headings", tokenizer_name="words")
    schema.add_text_field("text", stored=True, tokenizer_name="words")
    schema.add_text_field("signs", stored=True, tokenizer_name="signs")
    schema.add_text_field("url", stored=True, tokenizer_name="words")
    for name in ("host", "language", "state", "kind", "mime"):
        schema.add_text_field(name, stored=name != "host", tokenizer_name="raw", index_option="basic")
    for name in ("version", "status"):
        schema.add_unsigned_field(name, stored=True)
    for name in ("digest", "simhash", "name"):
        schema.add_unsigned_field(name, fast=True)
    # Not unsigned: of those, tantivy 0.27 does not find the documents to delete.
    schema.add_integer_field("number", indexed=True, fast=True)
    schema.add_integer_field("page", fast=True)
    for name in ("at", "until", "changed_at"):
        schema.add_float_field(name, stored=name != "changed_at", fast=True)
    # One document that is no page: how far the index is. It is replaced in the same commit as the pages are added.
    schema.add_text_field("progress", stored=True, tokenizer_name="raw", index_option="basic")
    schema.add_text_field("cursor", stored=True, tokenizer_name="raw", index_option="basic")
    return schema.build()


SCHEMA = build()


def register(index: tantivy.Index) -> tantivy.Index:
    for name, analyzer in ANALYZERS.items():
        index.register_tokenizer(name, analyzer)
    return index
