"""Search by meaning: finds passages that say what a query asks, in whatever words.

Vectors are made of what the full-text index has, so they are never ahead of it, and only when they
are asked for. A search by meaning also searches the words, and the scores are added: names and rare
words are found by the index, paraphrases by the vectors.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

import tantivy
from tantivy import FieldType
from tantivy import Query as Matching
from xxhash import xxh3_64_intdigest

from sanderling.repository.folder import Folder
from sanderling.repository.pruning import forgotten
from sanderling.repository.store import IndexStore
from sanderling.search import searchable
from sanderling.search.embedding import embedder
from sanderling.search.passages import passages
from sanderling.search.ranking import Candidate
from sanderling.search.schema import SCHEMA
from sanderling.search.vectors import VectorNote, VectorWriter, note_of, writing

# The folder below that of the index.
FOLDER: Final = "meaning"
_BATCH: Final = 200
# Versions between two commits.
_COMMIT_EVERY: Final = 2000
# A passage that stands on more pages than this is a menu or an imprint, and says nothing of them.
_COMMON: Final = 8
# What each list gives to the common order.
MOST: Final = 200
# What a vector that points the same way counts beside the best match of words. More makes questions
# with known answers worse, and less leaves paraphrases behind every page that has one of the words
# (`python -m bench semantic`).
_SHARE: Final = 0.5

# With a larger share of vectors of versions that are not kept any more, all are made again.
_GONE: Final = 0.25

OnProgress = Callable[[int, int], bool]


def folder_of(folder: Folder) -> Path:
    return folder.index / FOLDER


def catch_up(
    folder: Folder, store: IndexStore, searcher: tantivy.Searcher, indexed: int,
    on_progress: OnProgress = lambda done, all: True,
) -> int:  # fmt: skip
    """Makes the vectors of versions up to the last indexed one that have none. Returns how many
    versions there were."""
    root, model, done = folder_of(folder), embedder(), 0
    with writing(root):
        note = note_of(root)
        if note.number and _seen(store, note.number) != note.seen:
            note = VectorNote()
        writer = VectorWriter(root, note)
        try:
            left = forgotten(store).number
            if note.forgotten != left and writer.share_without(_versions(store)) > _GONE:
                writer.begin_anew()
            counts, number = writer.text_counts(), writer.note.number
            while number < indexed and (found := _after(searcher, number)):
                owners, texts = list[tuple[int, int, int, int]](), list[str]()
                for number, page, title, text in found:
                    for ordinal, passage in passages(text):
                        digest = xxh3_64_intdigest(passage.encode("utf-8", "replace"))
                        counts[digest] = counts.get(digest, 0) + 1
                        if counts[digest] <= _COMMON:
                            owners.append((number, page, digest, ordinal))
                            texts.append(f"{title}\n{passage}")
                if owners:
                    writer.add(owners, model.embed(texts))
                done += len(found)
                going = on_progress(number, indexed)
                if done % _COMMIT_EVERY < len(found) or not going:
                    writer.commit(number, _seen(store, number), left)
                if not going:
                    return done
            if done:
                writer.commit(number, _seen(store, number), left)
        finally:
            writer.close()
    return done


def fused(words: list[Candidate], meanings: Iterable[tuple[Candidate, float]]) -> list[Candidate]:
    """Two lists of hits as one: the first in the order of their scores, and the second with how
    near they are, from 0 to 1."""
    best = words[0].score if words else 1.0
    found = {each.number: each._replace(score=each.score / best if best else 0.0) for each in words}
    for each, near in meanings:
        known = found.get(each.number)
        found[each.number] = each._replace(score=(known.score if known else 0.0) + _SHARE * near)
    return sorted(found.values(), key=lambda each: (-each.score, each.number))


def any_word(text: str) -> str:
    """A question as a query for any of its words. Queries with operators stay as they are."""
    words = text.strip().rstrip("?!.").split()
    plain = all(word.isalnum() and word not in ("OR", "AND", "NOT") for word in words)
    return " OR ".join(words) if plain else text


def _after(searcher: tantivy.Searcher, number: int) -> list[tuple[int, int, str, str]]:
    """Number, page, title and text of the indexed versions that come after one."""
    query = Matching.range_query(SCHEMA, "number", FieldType.Integer, lower_bound=number, include_lower=False)
    hits = searcher.search(query, _BATCH, order_by_field="number", order=tantivy.Order.Asc).hits
    places = [place for _, place in hits]
    numbers, pages = (searcher.fast_field_values(name, places) for name in ("number", "page"))
    found = []
    for place, its_number, page in zip(places, numbers, pages, strict=True):
        document = searcher.doc(place)
        text = document.get_first("text") or document.get_first("signs") or ""
        found.append((int(its_number or 0), int(page or 0), str(document.get_first("title") or ""), str(text)))
    return found


def _versions(store: IndexStore) -> set[int]:
    return {row[0] for row in store.select("SELECT number FROM versions")}


def _seen(store: IndexStore, number: int) -> str:
    there = searchable.after(store, number - 1, 1)
    return f"{there[0].at} {there[0].url}" if there and there[0].number == number else ""
