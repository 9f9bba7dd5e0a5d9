"""The fields of the index, and how text is split into words.

Words are indexed in lower case and without accents, but not stemmed. A query is widened to other
forms of its words instead (`word_forms`). That is a third cheaper than stemming every page, one
index serves all languages, and quoted words match exactly. Text in scripts without spaces goes to
the field `signs`, which indexes single characters.
"""

import re

import tantivy
from tantivy import Filter, Tokenizer

from sanderling.search.comparing import MOMENTS, NUMBERS

# Increase it whenever the fields or their meaning change. An index of another format is replaced by
# a new one.
FORMAT = 6

_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
# The same scripts for Python's `re`, as Unicode blocks.
UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af]"
)

# Longer words are not indexed.
LONGEST_WORD = 64

# The fields that are searched for a word, and what a match in each counts.
WEIGHTS = {"title": 3.0, "headings": 1.5, "text": 1.0, "signs": 1.0, "url": 1.0}
NEVER = 1e15  # `until` of a version that is still current


def _analyzer(tokenizer: Tokenizer) -> tantivy.TextAnalyzer:
    builder = tantivy.TextAnalyzerBuilder(tokenizer)
    for each in (Filter.remove_long(LONGEST_WORD), Filter.lowercase(), Filter.ascii_fold()):
        builder = builder.filter(each)
    return builder.build()


WORDS = _analyzer(Tokenizer.simple())
# Splits text with spaces into the same words as WORDS, and text without spaces into characters.
# Queries always use it. It takes four times as long, so texts use it only if they need it.
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
    # What extractors said; a "." in a name is a step of the path, as it is in a question.
    schema.add_json_field("data", tokenizer_name="signs", expand_dots_enabled=True)
    # Its numbers and dates once more, to be compared.
    for name in (NUMBERS, MOMENTS):
        schema.add_json_field(name, tokenizer_name="raw", index_option="basic", fast=True, expand_dots_enabled=True)
    for name in ("version", "status"):
        schema.add_unsigned_field(name, stored=True)
    for name in ("digest", "simhash", "exact"):
        schema.add_unsigned_field(name, fast=True)
    # Not unsigned: tantivy 0.27 cannot delete documents by an unsigned field.
    schema.add_integer_field("number", indexed=True, fast=True)
    schema.add_integer_field("page", fast=True)
    for name in ("at", "until", "changed_at", "relevance"):
        schema.add_float_field(name, stored=name in ("at", "until"), fast=True)
    # One document is not a page: it records how far the index is. Each commit replaces it.
    schema.add_text_field("progress", stored=True, tokenizer_name="raw", index_option="basic")
    schema.add_text_field("cursor", stored=True, tokenizer_name="raw", index_option="basic")
    return schema.build()


SCHEMA = build()


def register(index: tantivy.Index) -> tantivy.Index:
    for name, analyzer in ANALYZERS.items():
        index.register_tokenizer(name, analyzer)
    return index
