"""In rush hours the ranking and the sitemap rest; watching goes on."""

import os
import time
from pathlib import Path

import pytest

from sanderling_announce.errors import WrongUse
from sanderling_announce.quiet import Quiet, quiet_of
from tests.announcer.sites import SITE, ReportReader, WatchedSite
from tests.conftest import Run


def at(hour: int, minute: int = 0) -> float:
    return time.mktime((2026, 3, 4, hour, minute, 0, 0, 0, -1))


def test_times_of_the_day() -> None:
    quiet = quiet_of(["08:00-18:00", "23:30-1:00"], [])
    assert [quiet.now(at(*each)) for each in ((7, 59), (8, 0), (17, 59), (18, 0), (23, 30), (0, 59), (1, 0))] == [
        False, True, True, False, True, True, False,
    ]  # fmt: skip


def test_load(monkeypatch: pytest.MonkeyPatch) -> None:
    quiet = quiet_of([], ["load>2", "load > 3.5"])
    monkeypatch.setattr(os, "getloadavg", lambda: (2.0, 9.0, 9.0))
    assert not quiet.now(at(3))
    monkeypatch.setattr(os, "getloadavg", lambda: (2.1, 0.0, 0.0))
    assert quiet.now(at(3))


@pytest.mark.parametrize(("times", "when"), [(["8-18"], []), (["25:00-26:00"], []), ([], ["load<2"]), ([], ["load>"])])
def test_what_says_no_time_is_refused(times: list[str], when: list[str]) -> None:
    with pytest.raises(WrongUse):
        quiet_of(times, when)


def test_changes_are_announced_while_the_ranking_rests(tmp_path: Path) -> None:
    site = WatchedSite(tmp_path, quiet=Quiet(load=-1.0))
    site.write("index.html", '<a href="a.html">')
    site.write("a.html")
    site.settle()
    site.reader.news()
    site.write("a.html", "<p onclick='f()'>")
    site.write("b.html")
    site.announcer.source._next_scan = 0.0  # type: ignore[attr-defined]
    site.run_until(lambda: site.announcer.memory.cursor == 1)
    told = {change.url: change for change in site.reader.news()}
    assert set(told) == {f"{SITE}a.html", f"{SITE}b.html"}
    # By the ranking of before, without hints; and the sitemap is that of before.
    assert told[f"{SITE}a.html"].rank == 0.4 and not told[f"{SITE}a.html"].hints
    assert set(site.reader.listed()) == {SITE, f"{SITE}a.html"}
    site.finish()


def test_once_ends_in_rush_hours(tmp_path: Path, sanderling: Run) -> None:
    """The sitemap is that of before, which the deltas continue."""
    (tmp_path / "www").mkdir()
    again = ("announce", tmp_path / "www", "--site", SITE, "--state", tmp_path / "state", "--once")
    for number in range(2):
        (tmp_path / "www" / f"{number}.html").write_text(f"{number}")
        assert sanderling(*again, "--quiet", "00:00-24:00").code == 0
    reader = ReportReader(tmp_path / "www" / ".well-known" / "sanderling")
    assert set(reader.listed()) == {f"{SITE}0.html"} and reader.manifest().cursor == 1
    assert sanderling(*again).code == 0
    assert set(reader.listed()) == {f"{SITE}0.html", f"{SITE}1.html"}
