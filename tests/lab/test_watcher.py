"""The parts of `lab watcher`; the experiment itself takes minutes."""

from pathlib import Path

import pytest

from sanderling.lab import revisits as watcher
from sanderling.lab.confidence import half_width
from sanderling.lab.news_site import NewsServer, NewsSite
from sanderling.lab.revisits import PublishedWatcher, VisitOfDay


def test_a_crawler_that_reads_the_report_finds_every_update(tmp_path: Path) -> None:
    site = NewsSite(tmp_path / "www", pages=60, daily=0.1, seed=3)
    assert len(site.pages) == 60
    before = {path: path.read_bytes() for path in (tmp_path / "www").rglob("*.html")}
    with NewsServer(tmp_path / "www", latency=0.0) as server:
        watcher._announce(tmp_path, server, 0)
        crawler = PublishedWatcher(server)
        crawler.begin(tmp_path)
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
    def days(found: float, seconds: float) -> list[VisitOfDay]:
        return [VisitOfDay(10, seconds, found)] * 2

    results = {
        "uniform": days(1.0, 10.0), "by rank, above 0.5": days(0.6, 4.0), "by rank, above 0.6": days(0.5, 1.0),
        "top 1 levels": days(0.7, 5.0), "top 2 levels": days(0.7, 4.0), "optimal": days(0.9, 1.0),
    }  # fmt: skip
    best = watcher._best(results)
    assert best == {"uniform", "by rank, above 0.5", "top 2 levels", "optimal"}
    assert "10.0x, 4.0x" in watcher.told({name: each for name, each in results.items() if name in best})


def test_intervals() -> None:
    assert half_width([1.0, 1.0, 1.0]) == 0.0
    assert half_width([1.0, 3.0]) == pytest.approx(12.71)
