"""The experiment with one machine and several: its figures, and a tiny run with real crawls."""

import pytest

from lab.migrating import SHAPES, DataResult, MachinesResult, measure, report, shaped
from sanderling.cli import main


def test_the_webs_differ_in_shape() -> None:
    webs = [shaped(name, pages=60, latency=0.0) for name in SHAPES]
    assert len({(web.hosts, web.links, web.size, web.skew) for web in webs}) == len(SHAPES)
    assert all(web.pages == 60 for web in webs)


def test_the_report_has_means_beside_the_published_figures() -> None:
    results = [
        MachinesResult("a", 1, 10, 8.0, 1.0, 1.0, 0, 1000, 0.0),
        MachinesResult("a", 2, 10, 4.0, 2.0, 1.0, 0, 100, 0.9),
        MachinesResult("b", 1, 10, 8.0, 1.0, 1.0, 0, 1000, 0.0),
        MachinesResult("b", 2, 10, 2.0, 4.0, 2.0, 3, 300, 0.7),
    ]
    shown = report(results, [DataResult("a", 1000, 800, 200, 100, 100), DataResult("b", 1000, 900, 400, 300, 300)])
    assert "2 machines: 62% ±159% less time, 3 repeated URLs, 80% ±127% less data" in shown
    alone = report(results[:2], [DataResult("a", 1000, 800, 200, 100, 100)])
    assert "2 machines: 50% less time, 0 repeated URLs, 90% less data" in alone and "no interval" in alone
    assert "800 (-20%)" in shown
    assert "published: 50 % less time" in shown


def test_two_machines_repeat_nothing_and_send_less() -> None:
    pytest.importorskip("zstandard")
    web = shaped("few hosts", pages=24, latency=0.0)
    (alone, together), data = measure("few hosts", web, [2], connections=4)
    assert (alone.repeated, together.repeated) == (0, 0)
    assert alone.urls == together.urls > web.pages, "images are fetched, too"
    assert alone.sent == data.raw > data.html > max(data.compressed, data.both)
    # Perhaps one client did everything: on a fast web, the other may come too late.
    assert together.sent == data.streams >= data.both


def test_only_what_a_killed_machine_held_is_downloaded_again() -> None:
    pytest.importorskip("zstandard")
    web = shaped("few hosts", pages=60, latency=0.05)
    (_, together), _ = measure("few hosts", web, [2], connections=4, kill_every=1.0, kills=1)
    # What a client was leased after the look at it and before its death is not counted: at most as
    # much again.
    assert together.repeated <= together.leased + together.killed * 4 * 16


@pytest.mark.parametrize(
    "arguments",
    [["--machines", "1", "4"], ["--webs", "7"], ["--cluster", "auto", "--kill-every", "1"]],
)
def test_numbers_that_make_no_sense_are_refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lab", "migrating", *arguments]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
