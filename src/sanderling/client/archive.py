"""Where a client puts what it fetched."""

from typing import Protocol

from sanderling.model import Exchange, Stored


class Archive(Protocol):
    """Keeps exchanges. What was added is safe after the next `flush`, which comes before the report
    that names it."""

    def add(self, exchange: Exchange) -> Stored:
        """Takes one exchange; returns where it will be found."""

    def flush(self) -> dict[str, int]:
        """Makes safe what was added; returns how far each part of the archive that grew is safe, by
        name."""

    def close(self) -> None: ...
