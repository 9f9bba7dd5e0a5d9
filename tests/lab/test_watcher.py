"""The parts of `lab watcher`; the experiment itself takes minutes."""

from pathlib import Path

import pytest

from lab import revisits as watcher
from lab.confidence import half_width, plus_minus, repeated
from lab.news_site import NewsServer, NewsSite
from lab.revisits import PublishedWatcher, VisitOfDay


def test_a_crawler_that_reads_the_report_finds_every_update(tmp_path: Path) -> None:
    site = NewsSite(tmp_path / "www", pages=60, daily=0.1, seed=3)
    assert len(site.pages) == 60
    before = {path: path.read_bytes() for path in (tmp_path / "www").rglob("*.html")}
    with NewsServer(tmp_path / "www", latency=0.0) as server:
        watcher._announce(tmp_path, server, 0)
        crawler = PublishedWatcher(server.url)
        updated = site.day(1)
        changed = {path for path in (tmp_path / "www").rglob("*.html") if path.read_bytes() != before.get(path)}
        assert {path.relative_to(tmp_path / "www").as_posix().removesuffix("index.html") for path in changed} == updated
        assert 6 <= len(updated) <= 12
        watcher._announce(tmp_path, server, 1)
        server.taken()
        crawler.visit(1)
        visited, seconds = server.taken()
        assert visited == updated and seconds > 0
        crawler.visit(2)
        assert server.taken() == (set(), 0.0)


def test_the_best_threshold_counts() -> None:
    def days(visits: int, found: float, seconds: float) -> list[VisitOfDay]:
        return [VisitOfDay(visits, seconds, round(20 * found), found)] * 2

    results = {
        "uniform": days(100, 1.0, 10.0), "by rank, from 0.3": days(95, 1.0, 9.0), "by rank, from 0.5": days(40, 0.6, 4.0),
        "by rank, from 0.6": days(10, 0.5, 1.0), "top levels, 1": days(50, 0.7, 5.0), "optimal": days(10, 0.9, 1.0),
    }  # fmt: skip
    lines = {line.partition("  ")[0]: line for line in watcher.told(results).splitlines()}
    assert "10.0x, 4.0x" in lines["optimal"] and lines["optimal"].endswith("56 ms")
    assert "2.5x, 1.0x" in lines["by rank, from 0.5 (best)"]
    assert watcher._curves(results)["by rank"] == [(1.0, 0.5), (4.0, 0.6), (9.0, 1.0)]


def test_intervals() -> None:
    assert half_width([1.0, 1.0, 1.0]) == 0.0
    assert half_width([1.0, 3.0]) == pytest.approx(12.71)
    assert plus_minus([1.0, 3.0], ".1f") == " ±12.7" and plus_minus([1.0]) == ""
    assert repeated(1, "web") == "One web, once: no interval."
    assert repeated(3, "set of examples") == "Means of 3 sets of examples, with intervals at 95 %."
