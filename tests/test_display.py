"""The progress display of a crawl."""

import io

import pytest
from rich.console import Console

from sanderling.cli.progress import Display
from sanderling.crawling.status import CrawlProgress
from sanderling.model import Counts


def progress(pages: int, **limits: float) -> CrawlProgress:
    return CrawlProgress(Counts(pages=pages, bytes=1000 * pages), 0, 1, 2, 0, 1.0, **{"left": None, **limits})  # type: ignore[arg-type]


def shown(capsys: pytest.CaptureFixture[str], **limits: float) -> str:
    display = Display(plain_every=0.0)
    for pages in (1, 100):
        display.show(progress(pages, **limits))
    return capsys.readouterr().err.splitlines()[-1]


@pytest.mark.parametrize("limit", ["left", "time_left", "bytes_left"])
def test_how_long_it_takes_until_any_limit_is_met(capsys: pytest.CaptureFixture[str], limit: str) -> None:
    assert "left" not in shown(capsys)
    assert shown(capsys, **{limit: 0}).endswith(" · 0.0 s left")


def test_the_first_limit_counts(capsys: pytest.CaptureFixture[str]) -> None:
    assert shown(capsys, time_left=90, left=10**12, bytes_left=10**15).endswith(" · 1 min 30 s left")


def test_a_narrow_terminal_keeps_the_wheel_beside_the_text() -> None:
    terminal = io.StringIO()
    display = Display(plain_every=0.0)
    display.show(progress(100))
    Console(file=terminal, width=60, force_terminal=True).print(display._panel(progress(100)))
    assert "100 pages" in terminal.getvalue().splitlines()[0]
