"""Visits that bring something else than the page: they count as failed, and are no versions."""

from collections import defaultdict
from collections.abc import Callable, Mapping

from msgspec.structs import replace

from sanderling.change.collapse import MOST_LETTERS, collapse
from sanderling.change.judging import known_fingerprint
from sanderling.documents.tree import Document
from sanderling.model import Before, Kind, Outcome, Stored, Task, Visit
from sanderling.model.reasons import reason
from sanderling.urls import origin

# So many pages of a site that differed and show the same text at once have lost their content.
SAME_TEXT = 3
_MOST_TEXTS = 1000


class Collapses:
    """Knows the texts that sites show in the place of their pages."""

    def __init__(self, document_at: Callable[[Stored], Document | None]) -> None:
        self._document_at = document_at
        self._texts: dict[tuple[str, bytes], None] = {}

    def as_failed(
        self, visits: list[Visit], tasks: Mapping[int, Task], before: Mapping[int, Before],
        accepts: Callable[[str], bool],
    ) -> list[Visit]:  # fmt: skip
        """The visits, with those that failed in this way as such. `accepts` says whether what a
        page shows has become its content."""
        changed = {
            visit.id
            for visit in visits
            if tasks[visit.id].kind == Kind.PAGE and _is_changed(visit, before.get(visit.id))
        }
        if not changed:
            return visits
        self._learn([visit for visit in visits if visit.id in changed], tasks, before)
        return [
            _failed(visit, why)
            if visit.id in changed
            and (why := self._why(visit, tasks[visit.id].url, before[visit.id]))
            and not accepts(tasks[visit.id].url)
            else visit
            for visit in visits
        ]

    def _learn(self, changed: list[Visit], tasks: Mapping[int, Task], before: Mapping[int, Before]) -> None:
        were: defaultdict[tuple[str, bytes], set[bytes]] = defaultdict(set)
        for visit in changed:
            if visit.text_digest and before[visit.id].text_digest != visit.text_digest:
                were[origin(tasks[visit.id].url), visit.text_digest].add(before[visit.id].text_digest)
        self._texts |= {text: None for text, old in were.items() if len(old) >= SAME_TEXT}
        while len(self._texts) > _MOST_TEXTS:
            del self._texts[next(iter(self._texts))]

    def _why(self, visit: Visit, url: str, before: Before) -> str:
        if (origin(url), visit.text_digest) in self._texts and before.text_digest != visit.text_digest:
            return "it shows the same text as other pages now"
        made = known_fingerprint(visit.fingerprint)
        if made is None or before.stored is None or visit.stored is None or made.mass().sum() > 100 * MOST_LETTERS:
            return ""
        old, new = self._document_at(before.stored), self._document_at(visit.stored)
        return collapse(old, new) if old is not None and new is not None else ""


def _is_changed(visit: Visit, before: Before | None) -> bool:
    whole = visit.outcome is Outcome.PAGE and not visit.mime.startswith("image/") and not visit.completes
    return whole and before is not None and before.there and visit.digest != before.digest


def _failed(visit: Visit, why: str) -> Visit:
    return replace(visit, outcome=Outcome.FAILED, reason=reason("collapsed", why), stored=None)
