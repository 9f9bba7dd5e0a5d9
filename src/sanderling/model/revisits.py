"""What is known about pages that are visited again, and their planned visits."""

from struct import Struct
from typing import NamedTuple


class RevisitFacts(NamedTuple):
    """What is known about a page or a sitemap when it is visited again."""

    id: int
    host: int
    announced: float  # the date of the last change that the host gives; 0 for none
    at: float  # when its content was last confirmed
    size: int
    etag: str
    modified: str
    evidence: bytes
    interval: float
    failures: int
    # When sources named it, seconds since 1970; 0 for never.
    indexnow: float = 0.0
    websub: float = 0.0
    report: float = 0.0
    relevance: float = 0.0


class Belief(NamedTuple):
    """What is stored about a page that was visited again. The encoding of `evidence` belongs to
    `freshness`."""

    id: int
    at: float
    since: float  # the visit before
    kinds: int  # of the changes that were found last
    evidence: bytes
    interval: float  # until the next visit; only adaptive policies use it
    tried: float  # the last visit, answered or not
    failures: int  # visits without an answer since the last with one


class Subject(NamedTuple):
    """A page or a sitemap that may be visited again. A plan reads all of them."""

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
    # When sources named it, seconds since 1970; 0 for never.
    indexnow: float = 0.0
    websub: float = 0.0
    report: float = 0.0
    relevance: float = 0.0  # for the topic of the crawl; 0 without one


class PlannedVisit(NamedTuple):
    """A planned visit. Packed with `PLANNED_VISIT` it takes 36 bytes."""

    id: int
    host: int
    due: float
    wait: float  # until the visit after it, in seconds
    gain: float  # in the freshness of the collection
    cost: float  # expected, in the unit of the budget


PLANNED_VISIT = Struct("<qqdfff")
