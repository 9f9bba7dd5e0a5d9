"""The values that stores give to their readers, and how a store says that it is away."""

from collections.abc import Callable
from typing import NamedTuple

from sanderling.model import Host

# Called before each try to reach a database that went away, with the reason, and once with none
# when it is back. It takes its time, so that the database is not asked too often, and it may raise
# to end the waiting.
WhileAway = Callable[[str], None]


class Waiting(NamedTuple):
    """A host with URLs to visit."""

    host: Host
    queued: int


class UrlFacts(NamedTuple):
    """What ranking wants to know of a URL."""

    id: int
    host: int
    depth: int
    state: int
    rank: float
    alias: int


class ScopedUrl(NamedTuple):
    """An unvisited URL that scope has a say in."""

    id: int
    url: str
    host: int
    depth: int
    state: int
    reason: str


class TrailUrl(NamedTuple):
    """A URL as it was found on another page, and what it turned out to be."""

    id: int
    via: int
    url: str
    anchor: str
    state: int
    relevance: float  # of the page; 0 before it is visited


class Joins(NamedTuple):
    """How the tables of a store hang together, for queries in the words that SQLite and PostgreSQL
    share."""

    urls: str  # u, and p where it was visited
    versions: str  # v, with u, p and the WARC file w
    links: str  # l, with u
    failures: str  # f, with u
