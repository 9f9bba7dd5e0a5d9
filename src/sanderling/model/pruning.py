"""What leaves a crawl because it is not kept for ever."""

from typing import NamedTuple

from msgspec import Struct

from sanderling.model.messages import Stored
from sanderling.model.states import ChangeKind


class History(NamedTuple):
    """A version in the history of its page."""

    url: str
    number: int
    at: float
    kinds: ChangeKind
    stored: Stored
    until: float = 0.0  # when the next one came


class Pruned(NamedTuple):
    """Versions that leave, and archives that are replaced by one without them."""

    versions: list[int]  # by their numbers
    archive: str  # the new archive; empty if nothing stays
    size: int
    moved: list[tuple[str, int, Stored]]  # the archive and place of what stays, and its new place
    replaced: list[str]
    notes: dict[str, str]


class Forgotten(Struct, frozen=True):
    """What the search index has to forget, unless it has done so already."""

    number: int = 0  # of the last removal; the index remembers how far it is
    versions: list[int] = []
    pages: list[int] = []  # of these the other versions have other numbers now
    too_many: bool = False  # so that a new index is made
