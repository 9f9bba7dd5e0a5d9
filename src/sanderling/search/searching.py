"""Searches a crawl folder, which may be crawled into at the same time.

with open_search(Folder(path)) as search:
    results = search.find(Query(text="sandpiper -gull", limit=20))

`find` answers from what is indexed and says how many versions are `behind`; `catch_up` indexes them.
"""

import threading
import time
from pathlib import Path
from typing import NamedTuple, Self

import tantivy
from msgspec import structs

from sanderling.errors import BadIndex, IndexInUse, UsageError
from sanderling.model import HitFacts
from sanderling.repository import searchable
from sanderling.repository.folder import Folder
from sanderling.repository.opening import open_store
from sanderling.repository.store import Store
from sanderling.search import indexing, place
from sanderling.search.asking import Hit, Query, Results
from sanderling.search.matching import Matcher
from sanderling.search.parsing import parse
from sanderling.search.ranking import Candidate, Folded, fold, weigh
from sanderling.search.schema import NEVER
from sanderling.search.snippets import Snipper
from sanderling.search.writing import IndexProgress, clean, hosts
from sanderling.settings import load

__all__ = ["Hit", "KeptIndex", "OnProgress", "Query", "Results", "Searcher", "open_search"]

OnProgress = indexing.OnProgress

# So many of the best documents are weighed anew by importance; more only for a page of hits far down.
WEIGHED = 300
DEEPEST = 10_000
MOST_A_PAGE = 1000
# Words are taken to be of the languages that most pages are in.
MOST_LANGUAGES = 6
MOST_NAMED = 5


def open_search(folder: Folder) -> "Searcher":
    """A crawl folder for searching; BadFolder when it is none."""
    folder.require()
    return Searcher(folder, open_store(folder, readonly=True))


class Searcher:
    """Answers questions from several threads; `close` it, or use it in a `with` statement."""

    def __init__(self, folder: Folder, store: Store, index: "KeptIndex | None" = None) -> None:
        """`index` is one that is kept open longer than this."""
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
        """How many versions are stored and not indexed yet."""
        opened = self._index.now(self._store)
        return self._behind(opened.progress if opened else IndexProgress())

    def catch_up(self, on_progress: OnProgress = lambda done, all: True) -> int:
        """Indexes what is missing; IndexInUse when another process does so already."""
        return indexing.catch_up(self._folder, self._store, on_progress)

    def find(self, asked: Query) -> Results:
        """The hits on one page of an answer. BadIndex when the index cannot be used."""
        started = time.perf_counter()
        check(asked)
        opened = self._index.now(self._store)
        if opened is None:
            behind = self._behind(IndexProgress())
            notes = ["there is no index yet"] if behind else []
            return Results(total=0, hits=[], more=False, took_ms=0.0, documents=0, behind=behind, notes=notes)
        with place.legible(self._folder.index):
            return self._find(opened, asked, started)

    def _find(self, opened: "OpenIndex", asked: Query, started: float) -> Results:
        asked = structs.replace(asked, text=clean(asked.text), host=clean(asked.host), language=clean(asked.language))
        tree, notes = parse(asked.text)
        matcher = Matcher(opened.searcher, [asked.language] if asked.language else opened.languages)
        query = matcher.query(tree, asked)
        first, last = (asked.page - 1) * asked.limit, asked.page * asked.limit
        total, folded = self._ranked(opened.searcher, query, last + 1)
        snipper = Snipper(opened.searcher, matcher.wanted)
        return Results(
            total=total,
            hits=[self._hit(opened.searcher, each, snipper) for each in folded[first:last]],
            more=len(folded) > last,
            took_ms=(time.perf_counter() - started) * 1000,
            documents=max(0, opened.searcher.num_docs - 1),
            behind=self._behind(opened.progress),
            notes=list(dict.fromkeys(notes + matcher.notes)),
        )

    def _ranked(self, searcher: tantivy.Searcher, query: tantivy.Query, wanted: int) -> tuple[int, list[Folded]]:
        """How many documents match, and the best of them until there are enough that differ."""
        looked_at = max(WEIGHED, wanted * 2)
        while True:
            found = searcher.search(query, looked_at)
            total = int(found.count)  # type: ignore[attr-defined]  # the stub forgot it
            folded = fold(weigh(searcher, found.hits, self._facts))
            if len(folded) >= wanted or looked_at >= min(total, DEEPEST * 4):
                return total, folded
            looked_at *= 4

    def _facts(self, pages: list[int]) -> dict[int, HitFacts]:
        found = searchable.facts(self._store, pages)
        return {page: each._replace(noindex=False) for page, each in found.items()} if self._shows_all else found

    def _hit(self, searcher: tantivy.Searcher, folded: Folded, snipper: Snipper) -> Hit:
        best = folded.best
        document = searcher.doc(best.place)
        snippet = snipper.cut(document)
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
        return max(0, self._store.newest_version() - progress.number)


class OpenIndex(NamedTuple):
    """An index as it was at one moment."""

    where: Path
    stamp: tuple[int, int]
    held: tantivy.Index
    searcher: tantivy.Searcher
    progress: IndexProgress
    languages: list[str]


class KeptIndex:
    """The index of a crawl, open from one question to the next; for many threads.

    It is read anew when it was written to, and opened anew when another one took its place.
    """

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._opened: OpenIndex | None = None

    def now(self, store: Store) -> OpenIndex | None:
        """The index as it is now; None when there is none."""
        with self._lock:
            for _ in range(3):
                where = place.current(self._folder.index)
                if where is None:
                    self._opened = None
                    return None
                try:
                    self._opened = self._look(where, store)
                except BadIndex:
                    self._opened = None
                    if place.current(self._folder.index) == where:
                        raise
                    continue  # another one took over in between
                return self._opened
        raise IndexInUse(f"{self._folder.index} is made anew again and again")

    def _look(self, where: Path, store: Store) -> OpenIndex:
        stamp, kept = _stamp(where), self._opened
        if kept is not None and kept.where == where and kept.stamp == stamp:
            return kept
        with place.legible(self._folder.index):
            index = kept.held if kept is not None and kept.where == where else place.open_index(where)
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
    """Refuses what no index can answer."""
    if asked.limit < 1 or asked.limit > MOST_A_PAGE:
        raise UsageError(f"limit = {asked.limit} is not between 1 and {MOST_A_PAGE:,}")
    if asked.page < 1 or asked.page * asked.limit > DEEPEST:
        raise UsageError(f"page = {asked.page} is out of reach: the first {DEEPEST:,} hits can be shown")
