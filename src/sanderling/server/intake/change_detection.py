"""Compares pages that are visited again with their last version.

The change detector takes longer to load than all the rest of the server, and a first crawl has no
use for it. So it is loaded with the first page that is visited again (`comparing`).
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from sanderling.model import Before, Change, Kind, Outcome, Task, Visit
from sanderling.repository.store import ComparingStore
from sanderling.settings import Settings

if TYPE_CHECKING:
    from sanderling.server.intake.comparing import Comparing


class ChangeDetection:
    """The change detector, from the moment it is needed."""

    def __init__(self, store: ComparingStore, settings: Settings, warcs: Path) -> None:
        self._store = store
        self._settings = settings
        self._warcs = warcs
        self._loaded: Comparing | None = None
        self._watches = any(rule.watch or rule.keep_text for rule in settings.rules)

    def close(self) -> None:
        if self._loaded is not None:
            self._loaded.close()

    def apply_rules(self) -> list[str]:
        """Judges all versions again from the archive when the user's rules have changed; returns
        what the user should know. A rule that is wrong raises."""
        if self._settings.rules:
            self._comparing()
        rules = msgspec.json.encode(self._settings.rules).decode()
        if rules == (self._store.noted("rules") or "[]"):
            return []
        count = self._comparing().compare_all_anew()
        self._store.note("rules", rules)
        judged = f"the rules changed: the history of {count:,} pages was judged again"
        return [judged, *self._comparing().check_selectors()]

    def remarks(self) -> list[str]:
        """What the user should know of the rules since the last call."""
        return self._loaded.remarks() if self._loaded is not None else []

    def without_collapsed(
        self, visits: list[Visit], tasks: Mapping[int, Task], before: Mapping[int, Before],
        accepts: Callable[[str], bool],
    ) -> list[Visit]:  # fmt: skip
        """The visits, with those as failed that bring something else than the page."""
        return self._comparing().collapses.as_failed(visits, tasks, before, accepts) if before else visits

    def compare(
        self, visits: list[Visit], tasks: Mapping[int, Task], before: Mapping[int, Before]
    ) -> tuple[dict[int, Change], dict[int, bytes]]:
        """How those pages changed that did, and the noise of all; `before` is what was kept of
        them."""
        if self._watches:
            for visit in visits:
                if visit.outcome is Outcome.PAGE and visit.id not in before and tasks[visit.id].kind == Kind.PAGE:
                    self._comparing().look_at_new(tasks[visit.id].url, visit.stored)
        return self._comparing().compare(visits, tasks, before) if before else ({}, {})

    def _comparing(self) -> "Comparing":
        if self._loaded is None:
            from sanderling.server.intake.comparing import Comparing

            self._loaded = Comparing(self._store, self._settings, self._warcs)
        return self._loaded
