"""What many readers look up, one thing at a time."""

from typing import Protocol

from sanderling.model import Counts, Host


class UrlLookup(Protocol):
    """Known URLs by their ids."""

    def known(self, ids: list[int]) -> dict[int, tuple[str, int]]:
        """Text and state of those ids that are known."""

    def number(self, id: int) -> int | None:
        """The number of a URL's row, which says when it was found."""


class HostLookup(Protocol):
    """Hosts by their ids."""

    def host(self, id: int) -> Host | None: ...


class Notes(Protocol):
    """Texts under a name, for whoever has something to remember."""

    def note(self, key: str, value: str) -> None:
        """Remembers a text under a name."""

    def noted(self, key: str) -> str:
        """A text that was remembered, empty when none was."""


class Totals(Protocol):
    """What the crawl as a whole is: its seeds and how far it is."""

    def counts(self) -> Counts: ...

    def seeds(self) -> list[str]:
        """What the user named."""
