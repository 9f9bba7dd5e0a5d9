"""The share of pages that are updated on a day."""

import os
import subprocess
import time
from pathlib import Path

import pytest

from lab import updated_sites
from lab.updated import PUBLISHED, Updated, updated
from sanderling.clock import DAY
from tests.announcer.sites import WatchedSite
from tests.conftest import Run


def test_the_published_averages() -> None:
    """As printed, but for the fifth, of which 5 is printed and 6.5 follows from the counts."""
    averages = [round(Updated(name, pages, days, "").average, 1) for name, (pages, days) in PUBLISHED.items()]
    assert averages == [11.4, 10.1, 8.9, 5.9, 6.5, 2.8, 2.0]
    assert Updated("", 100, (10, 12, 8, 11, 9, 10, 10), "").interval == pytest.approx(1.19, abs=0.01)


def test_dates_of_files(tmp_path: Path) -> None:
    midday = (time.time() // DAY + 0.5) * DAY
    for number, ago in enumerate((1, 1, 3, 3, 3, 7, 8, 100)):
        path = tmp_path / f"{number}.html"
        path.write_text("")
        os.utime(path, (midday - ago * DAY,) * 2)
    (tmp_path / "style.css").write_text("")
    found = updated(tmp_path, 7)
    assert (found.pages, found.days) == (8, (1, 0, 0, 0, 3, 0, 2))


def test_commits(tmp_path: Path) -> None:
    def commit(days_ago: int, *names: str) -> None:
        for name in names:
            (tmp_path / name).write_text(f"{days_ago}")
        when = f"@{int((time.time() // DAY + 0.5 - days_ago) * DAY)} +0000"
        identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
        environment = {**os.environ, "GIT_COMMITTER_DATE": when, "GIT_AUTHOR_DATE": when}
        for arguments in (["init", "-q"], ["add", "."], [*identity, "commit", "-qm", "a"]):
            subprocess.run(["git", "-C", str(tmp_path), *arguments], check=True, env=environment)

    commit(9, "a.html", "b.html", "c.css")
    commit(2, "a.html", "b.html")
    commit(1, "a.html", "c.css")
    found = updated(tmp_path, 3)
    assert (found.pages, found.days, found.source) == (2, (0, 2, 1), "commits")


def test_an_announced_site_counts_each_page_once_a_day(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sanderling: Run
) -> None:
    site = WatchedSite(tmp_path)
    for name in ("a.html", "b.html", "c.html", "d.html"):
        site.write(name)
    site.settle()
    for day in (1, 2):
        monkeypatch.setenv("SANDERLING_AHEAD", str(day * DAY))
        for number in range(day + 1):
            site.write("a.html", f"{day} {number}")
            site.write(f"{'bc'[number % 2]}.html", f"{day}")
            site.settle()
    site.finish()
    assert updated(site.root, 2).days[1] == 3  # yesterday, on the clock of now
    ran = sanderling("lab", "updated", site.root, "--published", env={"SANDERLING_AHEAD": str(3 * DAY)})
    assert "11.4 ± 1.0 %" in ran.out and "its announcer" in ran.out


def test_the_announcer_counts_what_changed_on_each_day(tmp_path: Path) -> None:
    counted = updated_sites.counted(tmp_path, "site", pages=30, days=(3, 0, 5), seed=1)
    assert (counted.pages, counted.days, counted.source) == (30, (3, 0, 5), "its announcer")
