"""The live display of a crawl: one line that renews itself on a terminal, a plain line now and then
otherwise."""

import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table

from sanderling.model import Counts
from sanderling.presenting.screen import duration, many, rate_of, size
from sanderling.server.requests.status import CrawlProgress

PLAIN_EVERY = 5.0


class Display:
    """Shows how a crawl goes."""

    def __init__(self, plain_every: float = PLAIN_EVERY) -> None:
        self._stream = sys.stderr
        self._plain_every = plain_every
        self._live = None
        self._shown = time.monotonic()
        self._recent: list[tuple[float, int]] = []
        if self._stream.isatty():
            from rich.console import Console
            from rich.live import Live

            self._live = Live(console=Console(file=self._stream), refresh_per_second=5, transient=True)
            self._live.start()

    def show(self, progress: CrawlProgress) -> None:
        now = time.monotonic()
        self._recent = [(t, n) for t, n in self._recent if t > now - 5] + [(now, progress.counts.pages)]
        if self._live is not None:
            self._live.update(self._panel(progress))
        elif now - self._shown >= self._plain_every:
            self._shown = now
            self._stream.write(f"{self.line(progress)}{self._time_left(progress)}\n")
            self._stream.flush()

    def say(self, line: str) -> None:
        """A line that stays."""
        if self._live is not None:
            self._live.console.print(f"sanderling: {line}", markup=False, highlight=False)
        else:
            self._stream.write(f"sanderling: {line}\n")
            self._stream.flush()

    def close(self) -> None:
        if self._live is not None:
            self._live.stop()

    def rate(self) -> float:
        """Pages a second over the last seconds."""
        (t0, n0), (t1, n1) = self._recent[0], self._recent[-1]
        return (n1 - n0) / (t1 - t0) if t1 > t0 else 0.0

    def line(self, progress: CrawlProgress) -> str:
        counts = progress.counts
        parts = [
            many(counts.pages, "page"),
            rate_of(self.rate()),
            size(counts.bytes),
            f"{counts.queued:,} queued",
            many(progress.hosts, "host"),
            f"{counts.failed + counts.gone:,} failed or gone",
        ]
        if progress.away:
            parts.append("the network is away")
        return " · ".join(parts)

    def _time_left(self, progress: CrawlProgress) -> str:
        """The time until the run ends, if that can be told."""
        waits = self._waits(progress)
        return f" · {duration(min(waits))} left" if waits else ""

    def _waits(self, progress: CrawlProgress) -> list[float]:
        """How long it takes until each limit is met, going on at this rate."""
        waits = [] if progress.time_left is None else [progress.time_left]
        if rate := self.rate():
            counts = progress.counts
            if progress.pages_left is not None:
                waits.append(progress.pages_left / rate)
            if progress.bytes_left is not None and counts.bytes:
                waits.append(progress.bytes_left / (rate * counts.bytes / counts.pages))
        return waits

    def _panel(self, progress: CrawlProgress) -> "Table":
        from rich.spinner import Spinner
        from rich.table import Table
        from rich.text import Text

        clients = f"{many(progress.clients, 'client')}, {progress.leased:,} leased"
        text = Text(
            f"{self.line(progress)}\n{duration(progress.seconds)}{self._time_left(progress)} · {clients} · "
            "Ctrl-C stops; a second run resumes"
        )
        beside = Table.grid(padding=(0, 1))
        beside.add_row(Spinner("dots"), text)
        return beside


class RevisitDisplay(Display):
    """Shows how a run goes that visits every known page again. The number of pages says nothing
    about that."""

    def __init__(self, before: Counts, plain_every: float = PLAIN_EVERY) -> None:
        super().__init__(plain_every)
        self._before = before

    def line(self, progress: CrawlProgress) -> str:
        now, before = progress.counts, self._before
        done = self._done(progress)
        parts = [
            f"{done:,} of {many(done + _to_visit(progress), 'visit')}",
            f"{now.changed - before.changed:,} changed",
            f"{now.pages - before.pages:,} new",
            f"{now.vanished - before.vanished:,} gone",
            f"{size(now.bytes - before.bytes)} fetched",
            many(progress.hosts, "host"),
        ]
        return " · ".join([*parts, "the network is away"] if progress.away else parts)

    def _done(self, progress: CrawlProgress) -> int:
        return progress.counts.visits - self._before.visits

    def _waits(self, progress: CrawlProgress) -> list[float]:
        """Also how long the remaining visits take, at the mean rate of the run: a slow site has
        pauses of minutes."""
        done = self._done(progress)
        left = _to_visit(progress) if progress.refresh is None else 0
        visits = [left * progress.seconds / done] if done and left else []
        return super()._waits(progress) + visits


def _to_visit(progress: CrawlProgress) -> int:
    return progress.waiting + progress.leased
