"""What is known of pages that are visited again, and which of them are next."""

from struct import Struct
from typing import NamedTuple


class RevisitFacts(NamedTuple):
    """What the update module knows of a page, or of a sitemap, when it is visited again."""

    id: int
    host: int
    announced: float  # when the host says that it changed last; 0 when it says nothing
    at: float  # when its content was last made sure of
    size: int
    etag: str
    modified: str
    evidence: bytes
    interval: float
    failures: int


class Belief(NamedTuple):
    """What the update module keeps of a page that was visited again, in its own encoding."""

    id: int
    at: float
    since: float  # the visit before
    kinds: int  # of the changes that were found last
    evidence: bytes
    interval: float  # until the next visit, as policies that adapt it keep it
    tried: float  # the last visit, answered or not
    failures: int  # visits without an answer since the last with one


class Subject(NamedTuple):
    """A page, or a sitemap, that may be visited again, as the whole of them is read for planning."""

    id: int
    host: int
    depth: int
    state: int
    kind: int
    announced: float
    url: str
    status: int
    at: float
    size: int
    importance: float
    not_modified: int
    same: int
    since: float
    kinds: int
    evidence: bytes | None
    interval: float
    tried: float
    failures: int


class PlannedVisit(NamedTuple):
    """A visit that is planned; packed it takes 36 bytes (`TURN`)."""

    id: int
    host: int
    due: float
    wait: float  # until the one after it, in seconds
    gain: float  # of the collection's freshness
    cost: float  # expected, in the unit of the budget


PLANNED_VISIT = Struct("<qqdfff")
