"""Searches a crawl folder, also while a crawl is running in it.

with open_search(Folder(path)) as search:
    results = search.find(Query(text="sandpiper -gull", limit=20))

`find` searches the versions that are indexed, and says how many are not (`behind`). `catch_up`
indexes those.
"""

import threading
import time
from pathlib import Path
from typing import NamedTuple, Self

import tantivy
from msgspec import structs

from sanderling.errors import BadIndex, IndexInUse, UsageError
from sanderling.model import HitFacts
from sanderling.repository.folder import Folder
from sanderling.repository.opening import open_store
from sanderling.repository.store import IndexStore, Store
from sanderling.search import indexing, location, searchable, semantic
from sanderling.search.embedding import embedder
from sanderling.search.matching import Matcher
from sanderling.search.query import Hit, Query, Results
from sanderling.search.ranking import Candidate, Folded, fold, rank
from sanderling.search.schema import NEVER
from sanderling.search.snippets import Snipper
from sanderling.search.vectors import Near, Vectors, note_of
from sanderling.search.writing import IndexProgress, clean, hosts
from sanderling.settings import load

__all__ = ["Hit", "KeptIndex", "OnProgress", "Query", "Results", "Searcher", "open_search"]

OnProgress = indexing.OnProgress

# This many of the best documents get a final score with importance. Later pages of hits need more.
RERANKED = 300
DEEPEST = 10_000
MOST_A_PAGE = 1000
MOST_WITHIN = 10
# Word forms are searched in the most frequent languages of the index.
MOST_LANGUAGES = 6
MOST_NAMED = 5
_NO_VECTORS = ("the pages have not been read for their meaning yet: only the words were searched for",)


def open_search(folder: Folder) -> "Searcher":
    """Opens a crawl folder for searching. Raises BadFolder if it is not one."""
    folder.require()
    return Searcher(folder, open_store(folder, readonly=True))


class Searcher:
    """Answers queries, from several threads. `close` it, or use it in a `with` statement."""

    def __init__(self, folder: Folder, store: Store, index: "KeptIndex | None" = None) -> None:
        """`index` is an open index that outlives this object."""
        self._folder = folder
        self._store = store
        self._index = index or KeptIndex(folder)
        self._shows_all = load(folder.settings)[0].ignore_robots if folder.settings.exists() else False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._store.close()

    def behind(self) -> int:
        """How many versions are stored but not indexed yet."""
        opened = self._index.now(self._store)
        return self._behind(opened.progress if opened else IndexProgress())

    def catch_up(self, on_progress: OnProgress = lambda done, all: True) -> int:
        """Indexes the missing versions. Raises IndexInUse if another process does so already."""
        return indexing.catch_up(self._folder, self._store, on_progress)

    def catch_up_meaning(self, on_progress: OnProgress = lambda done, all: True) -> int:
        """Makes the vectors that are missing for a search by meaning. Raises UsageError if there is
        no model, and IndexInUse if another process makes them already."""
        opened = self._index.now(self._store)
        if opened is None:
            return 0
        return semantic.catch_up(self._folder, self._store, opened.searcher, opened.progress.number, on_progress)

    def find(self, asked: Query) -> Results:
        """Returns one page of hits. Raises BadIndex if the index cannot be used."""
        started = time.perf_counter()
        check(asked)
        opened = self._index.now(self._store)
        if opened is None:
            behind = self._behind(IndexProgress())
            notes = ["there is no index yet"] if behind else []
            return Results(total=0, hits=[], more=False, took_ms=0.0, documents=0, behind=behind, notes=notes)
        with location.read_errors(self._folder.index):
            return self._find(opened, asked, started)

    def _find(self, opened: "OpenIndex", asked: Query, started: float) -> Results:
        asked = structs.replace(
            asked, text=clean(asked.text), within=tuple(map(clean, asked.within)), host=clean(asked.host),
            language=clean(asked.language),
        )  # fmt: skip
        matcher = Matcher(opened.held, opened.searcher, [asked.language] if asked.language else opened.languages)
        first, last = (asked.page - 1) * asked.limit, asked.page * asked.limit
        semantically = asked.semantic and bool(asked.text.strip("* "))
        vectors = self._index.vectors() if semantically else None
        near = dict[int, Near]()
        if vectors is None:
            past = bool(asked.at or asked.versions)
            total, folded = self._ranked(opened.searcher, matcher.query(asked), last + 1, past)
        else:
            total, folded, near = self._by_meaning(opened, matcher, asked, vectors)
        snipper = Snipper(opened.searcher, matcher.highlights)
        return Results(
            total=total,
            hits=[self._hit(opened.searcher, each, snipper, near.get(each.best.number)) for each in folded[first:last]],
            more=len(folded) > last,
            took_ms=(time.perf_counter() - started) * 1000,
            documents=max(0, opened.searcher.num_docs - 1),
            behind=self._behind(opened.progress),
            notes=[*dict.fromkeys(matcher.notes), *(_NO_VECTORS if semantically and vectors is None else ())],
        )

    def _ranked(
        self, searcher: tantivy.Searcher, query: tantivy.Query, wanted: int, past: bool
    ) -> tuple[int, list[Folded]]:
        """Returns how many documents match, and at least `wanted` folded hits if there are as many.

        A search in the `past` also finds pages that left the collection.
        """
        looked_at = max(RERANKED, wanted * 2)
        while True:
            found = searcher.search(query, looked_at)
            total = int(found.count)  # type: ignore[attr-defined]  # the stub forgot it
            ranked = rank(searcher, found.hits, lambda pages: self._facts(pages, past))
            folded = fold(ranked)
            if len(folded) >= wanted or looked_at >= min(total, DEEPEST * 4):
                return total - (len(found.hits) - len(ranked)), folded  # what is not shown is not counted
            looked_at *= 4

    def _facts(self, pages: list[int], past: bool) -> dict[int, HitFacts]:
        found = searchable.facts(self._store, pages)
        return {
            page: each._replace(
                noindex=each.noindex and not self._shows_all, left_collection=each.left_collection and not past
            )
            for page, each in found.items()
        }

    def _by_meaning(
        self, opened: "OpenIndex", matcher: Matcher, asked: Query, vectors: Vectors
    ) -> tuple[int, list[Folded], dict[int, Near]]:
        """The best hits by words and by meaning, and the passages that mean the same."""
        past = bool(asked.at or asked.versions)
        near = {each.number: each for each in vectors.nearest(embedder().embed([asked.text])[0], semantic.MOST, past)}
        meanings = [
            each
            for each in self._candidates(opened.searcher, matcher.query_of_versions(asked, near), semantic.MOST, past)
            if each.number in near
        ]
        worded = structs.replace(asked, text=semantic.any_word(asked.text))
        words = self._candidates(opened.searcher, matcher.query(worded), semantic.MOST, past)
        both = semantic.fused(words, [(each, near[each.number].score) for each in meanings])
        for each in words:
            near.pop(each.number, None)  # its words are shown
        return len(both), fold(both), near

    def _candidates(self, searcher: tantivy.Searcher, query: tantivy.Query, most: int, past: bool) -> list[Candidate]:
        return rank(searcher, searcher.search(query, most).hits, lambda pages: self._facts(pages, past))

    def _hit(self, searcher: tantivy.Searcher, folded: Folded, snipper: Snipper, near: Near | None) -> Hit:
        best = folded.best
        document = searcher.doc(best.place)
        snippet = snipper.cut(document, near.ordinal if near else None)
        first = document.get_first
        url, until, state = str(first("url")), first("until"), first("state")
        names = hosts(url)
        return Hit(
            url=url, title=str(first("title") or ""), snippet_text=snippet.text, snippet_html=snippet.html,
            marks=list(snippet.marks), score=best.score, importance=best.facts.importance, host=names[0] if names else "",
            language=str(first("language") or ""), status=int(first("status") or 0), mime=str(first("mime") or ""),
            kinds=[str(each) for each in document.get_all("kind")], at=float(first("at") or 0),
            until=None if until is None or until >= NEVER else float(until), fetched_at=best.facts.fetched_at,
            version=int(first("version") or 0), current=state == "current", gone=state == "gone",
            folded=len(folded.others), also=self._named(searcher, folded.others, url),
        )  # fmt: skip

    @staticmethod
    def _named(searcher: tantivy.Searcher, others: list[Candidate], url: str) -> list[str]:
        found = (str(searcher.doc(other.place).get_first("url")) for other in others[:MOST_NAMED])
        return [each for each in dict.fromkeys(found) if each != url]

    def _behind(self, progress: IndexProgress) -> int:
        return indexing.behind(self._store, progress)


class OpenIndex(NamedTuple):
    """An open index, as it was when it was last read."""

    where: Path
    stamp: tuple[int, int]
    held: tantivy.Index
    searcher: tantivy.Searcher
    progress: IndexProgress
    languages: list[str]


class KeptIndex:
    """The index of a crawl, kept open between queries. Threads may share it.

    It is read again after something was written to it, and opened again after another index
    replaced it.
    """

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._opened: OpenIndex | None = None
        self._vectors: Vectors | None = None

    def now(self, store: IndexStore) -> OpenIndex | None:
        """The index as it is now, or None if there is none."""
        with self._lock:
            for _ in range(3):
                where = location.current(self._folder.index)
                if where is None:
                    self._opened = None
                    return None
                try:
                    self._opened = self._look(where, store)
                except BadIndex:
                    self._opened = None
                    if location.current(self._folder.index) == where:
                        raise
                    continue  # another index replaced it in between
                return self._opened
        raise IndexInUse(f"{self._folder.index} is being replaced again and again")

    def vectors(self) -> Vectors | None:
        """The vectors as they are now, or None if there are none."""
        root = semantic.folder_of(self._folder)
        with self._lock:
            note = note_of(root)
            if not note.passages:
                return None
            if self._vectors is None or self._vectors.note != note:
                self._vectors = Vectors(root, note)
            return self._vectors

    def _look(self, where: Path, store: IndexStore) -> OpenIndex:
        stamp, kept = _stamp(where), self._opened
        if kept is not None and kept.where == where and kept.stamp == stamp:
            return kept
        with location.read_errors(self._folder.index):
            index = kept.held if kept is not None and kept.where == where else location.open_index(where)
            index.reload()
            searcher = index.searcher()
            languages = [each for each, _ in searcher.terms_with_prefix("language", "", limit=MOST_LANGUAGES)]
        return OpenIndex(where, stamp, index, searcher, indexing.checked(searcher, self._folder, store), languages)


def _stamp(where: Path) -> tuple[int, int]:
    try:
        found = (where / "meta.json").stat()
    except FileNotFoundError:
        return 0, 0
    return found.st_mtime_ns, found.st_size


def check(asked: Query) -> None:
    """Raises UsageError for a query that no index can answer."""
    if asked.limit < 1 or asked.limit > MOST_A_PAGE:
        raise UsageError(f"limit = {asked.limit} is not between 1 and {MOST_A_PAGE:,}")
    if asked.page < 1 or asked.page * asked.limit > DEEPEST:
        raise UsageError(f"page = {asked.page} is too far: only the first {DEEPEST:,} hits can be shown")
    if len(asked.within) > MOST_WITHIN:
        raise UsageError(f"a search can be within the results of at most {MOST_WITHIN} earlier ones")
