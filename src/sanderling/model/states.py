"""What a URL, a visit and a version can be."""

from enum import IntEnum, IntFlag

# Texts whose simhashes differ in at most this many of 64 bits are near-duplicates.
NEAR_BITS = 3


class State(IntEnum):
    """Where a URL stands. A lease lives in the server's memory only: after a crash it is queued again."""

    KNOWN = 0
    QUEUED = 1
    FETCHED = 3
    FAILED = 4
    GONE = 5
    EXCLUDED = 6


class Outcome(IntEnum):
    """How one visit ended."""

    PAGE = 0  # an answer with content, stored
    REDIRECT = 1
    GONE = 2  # 404 or 410
    FAILED = 3  # refused for good: other 4xx, an address or a scheme we do not go to
    RETRY = 4  # time-out, broken connection, 429, 5xx: worth another try
    EXCLUDED = 5  # robots rules or a filter of the user
    SOURCE = 6  # a sitemap was read
    UNCHANGED = 7  # as it was at the last visit: 304, or the same bytes


# The only ways from a lease to a settled state; a RETRY without tries left is settled as FAILED.
SETTLED = {
    Outcome.PAGE: State.FETCHED,
    Outcome.REDIRECT: State.FETCHED,
    Outcome.GONE: State.GONE,
    Outcome.FAILED: State.FAILED,
    Outcome.RETRY: State.QUEUED,
    Outcome.EXCLUDED: State.EXCLUDED,
    Outcome.SOURCE: State.FETCHED,
    Outcome.UNCHANGED: State.FETCHED,
}


class Kind(IntEnum):
    """What a URL is visited for."""

    PAGE = 0
    SOURCE = 1  # a sitemap: read for the URLs in it, not kept as a page


class ChangeKind(IntFlag):
    """What a new version differs in from the one before."""

    STRUCTURE = 1
    PRESENTATION = 2
    TEXT = 4
    IMAGE = 8
    NEW = 16  # the first version
    GONE = 32  # the page has left: the version is a tombstone

    @property
    def names(self) -> list[str]:
        return [each.name.lower() for each in ChangeKind if each in self and each.name]
