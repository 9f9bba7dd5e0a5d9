"""How often reports are looked at: who names many pages is heard less often."""

from pathlib import Path

import pytest

from sanderling import clock
from sanderling.jobs.listen import LONGEST_PAUSE, Watched
from sanderling.model import NamedPage, Told
from sanderling.server.requests import remote
from sanderling.server.revisits.reports import Reading, ReportState
from sanderling.urls import identity

SITE = "http://e.org/"


class EndlessReport:
    """Names very many pages as changed, however often it is read."""

    url = f"{SITE}.well-known/sanderling/manifest.jsonl"
    state: ReportState | None = None

    def __init__(self, pages: int) -> None:
        self.pages = [NamedPage(identity(f"{SITE}a"), f"{SITE}a", "changed", 1.0)] * pages

    def read(self, now: float) -> Reading:
        return Reading(SITE, self.pages, ReportState("log", 1, now, "key", now), now, True, 0.0)


@pytest.mark.parametrize(("pages", "pause"), [(0, 10.0), (50_000, 500.0), (1_000_000, LONGEST_PAUSE)])
def test_a_report_that_names_many_pages_is_read_less_often(
    pages: int, pause: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[Told] = []
    monkeypatch.setattr(remote, "tell", lambda folder, message, seconds: told.append(message) or "")
    watched = Watched(EndlessReport(pages), 10.0)  # type: ignore[arg-type]
    now = clock.now()
    assert "announces its changes" in watched.look(tmp_path)
    assert sum(len(each.pages) for each in told) == pages
    assert max(len(each.pages) for each in told) <= 10_000
    assert watched.due >= now + 0.9 * pause
    # Only the last message says how far the report was read: a crash between them loses nothing.
    assert [bool(each.cursor) for each in told] == [False] * (len(told) - 1) + [True]
