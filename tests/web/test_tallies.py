"""The URLs of each host by state. For large crawls, a thread counts them."""

from pathlib import Path

import pytest

from sanderling.web import tallies
from sanderling.web.shelf import Shelf
from sanderling.web.tallies import Tallies
from tests.waiting import until


def test_many_urls_are_counted_beside(crawled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf, counted = Shelf([crawled]), Tallies()
    with shelf.reading("small") as (folder, store):
        at_once = counted.of(folder, store)
        assert at_once.at and sum(map(sum, (each.values() for each in at_once.states.values()))) == store.counts().known
        monkeypatch.setattr(tallies, "AT_ONCE", 0)
        assert counted.of(folder, store) == tallies.Tally({})
        later = until(lambda: tally if (tally := counted.of(folder, store)).at else None)
        assert later.states == at_once.states
        assert counted.of(folder, store) is later
    shelf.close_idle(0)
