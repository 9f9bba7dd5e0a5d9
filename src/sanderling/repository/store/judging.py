"""For another model of the topic: what it judges again."""

from collections.abc import Iterable
from typing import Protocol

from sanderling.model import Rejudged
from sanderling.repository.store.background import RankingStore
from sanderling.repository.store.crawling import UnleasedUrls
from sanderling.repository.store.lookup import Notes, Totals
from sanderling.repository.store.people import ChangeStore, ViewStore


class JudgedStore(RankingStore, UnleasedUrls, Notes, ViewStore, ChangeStore, Totals, Protocol):
    """What is judged again by another model of the topic."""

    def judge_anew(self, judged: Rejudged) -> None:
        """Writes it as one."""

    def put_extracted(self, data: list[tuple[int, str | None]]) -> None:
        """Replaces the data of versions (by number); None removes it."""

    def judged_pages(self) -> Iterable[tuple[int, float, int | None]]:
        """Every page that answered, with its relevance and where it redirects to."""

    def unvisited(self, after: int, most: int) -> list[tuple[int, str, str]]:
        """(number, URL, anchor) of pages that are queued or held back, by number, from after a
        number on."""

    def unvisited_counts(self) -> Iterable[tuple[int, int, int, int, str]]:
        """(id, state, kind, pages off the topic before it, reason) of all that is queued or held
        back."""
