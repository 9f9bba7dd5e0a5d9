"""The progress display of a crawl."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from sanderling.cli.crawl import what_was_found
from sanderling.cli.progress import Display, RevisitDisplay
from sanderling.model import Counts
from sanderling.server.requests.status import CrawlProgress


def progress(pages: int, **limits: float) -> CrawlProgress:
    return CrawlProgress(Counts(pages=pages, bytes=1000 * pages), 0, 1, 2, 0, 1.0, **{"pages_left": None, **limits})  # type: ignore[arg-type]


def shown(capsys: pytest.CaptureFixture[str], **limits: float) -> str:
    display = Display(plain_every=0.0)
    for pages in (1, 100):
        display.show(progress(pages, **limits))
    return capsys.readouterr().err.splitlines()[-1]


@pytest.mark.parametrize("limit", ["pages_left", "time_left", "bytes_left"])
def test_how_long_it_takes_until_any_limit_is_met(capsys: pytest.CaptureFixture[str], limit: str) -> None:
    assert "left" not in shown(capsys)
    assert shown(capsys, **{limit: 0}).endswith(" · 0.0 s left")


def test_the_first_limit_counts(capsys: pytest.CaptureFixture[str]) -> None:
    assert shown(capsys, time_left=90, pages_left=10**12, bytes_left=10**15).endswith(" · 1 min 30 s left")


def test_a_narrow_terminal_keeps_the_wheel_beside_the_text() -> None:
    terminal = io.StringIO()
    display = Display(plain_every=0.0)
    display.show(progress(100))
    Console(file=terminal, width=60, force_terminal=True).print(display._panel(progress(100)))
    assert "100 pages" in terminal.getvalue().splitlines()[0]


def revisiting(visits: int, waiting: int, changed: int = 0) -> CrawlProgress:
    counts = Counts(pages=5000, visits=5000 + visits, changed=7 + changed)
    return CrawlProgress(counts, 2, 1, 2, 0, 60.0, None, waiting=waiting)


def test_a_second_round_shows_visits_and_how_long_the_rest_takes(capsys: pytest.CaptureFixture[str]) -> None:
    display = RevisitDisplay(Counts(pages=5000, visits=5000, changed=7), plain_every=0.0)
    display.show(revisiting(0, 4998))
    assert "0 of 5,000 visits · 0 changed · 0 new · 0 gone" in capsys.readouterr().err
    display.show(revisiting(30, 58, changed=4))
    assert capsys.readouterr().err == (
        "30 of 90 visits · 4 changed · 0 new · 0 gone · 0 B fetched · 1 host · 2 min 00 s left\n"
    )


@pytest.mark.parametrize(
    ("found", "told"),
    [
        (Counts(visits=1, changed=1), "1 visit in x, 1.0 s: 1 changed, 0 new,"),
        (
            Counts(visits=9, same=4, vanished=1),
            "4 with the same bytes, 4 other (redirects, errors, pages still gone)\n",
        ),
        (Counts(visits=2, same=2, missed=3), "5 visits in x, 1.0 s: 0 changed, 0 new, 0 gone, 0 not modified (304), "),
    ],
)
def test_the_parts_of_a_summary_add_up_to_its_visits(found: Counts, told: str) -> None:
    progress = CrawlProgress(found, 0, 0, 0, 0, 1.0, None)
    assert told in what_was_found(Counts(), progress, Path("x"))
