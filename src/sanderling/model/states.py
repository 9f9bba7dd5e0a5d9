"""The states of a URL, the outcomes of a visit and the kinds of a change."""

from enum import IntEnum, IntFlag

# Texts whose simhashes differ in at most this many of 64 bits are near-duplicates.
NEAR_BITS = 3


class State(IntEnum):
    """The stored state of a URL. Leases exist only in the server's memory, so a leased URL is
    stored as queued."""

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
    FAILED = 3  # failed for good: other 4xx, a forbidden address or scheme
    RETRY = 4  # time-out, broken connection, 429, 5xx: to be retried
    EXCLUDED = 5  # by robots rules or a filter of the user
    SOURCE = 6  # a sitemap was read
    UNCHANGED = 7  # since the last visit: 304, or the same bytes


# The state of a URL after each outcome. A RETRY without retries left becomes FAILED.
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
    """Why a URL is visited."""

    PAGE = 0
    SOURCE = 1  # a sitemap: read for the URLs in it, not kept as a page
    ANSWER = 2  # the answer to a form: likewise
    REQUISITE = 3  # a file that pages need to look as they do: kept like a page, and counted apart


class ChangeKind(IntFlag):
    """How a new version differs from the one before."""

    STRUCTURE = 1
    PRESENTATION = 2
    TEXT = 4
    IMAGE = 8
    NEW = 16  # the first version
    GONE = 32  # the page is gone; such a version has no content
    BEHAVIOUR = 64  # other scripts; news only for those who ask for it
    UNMATCHED = 128  # a selector that the user watches matches nothing any more
    # These say something of the site. Such a version has the content of the one before.
    DOWN = 256  # it stays away, or shows something else than its pages
    UP = 512  # it is back
    CERTIFICATE = 1024  # it is about to end, or was renewed

    @property
    def of_site(self) -> bool:
        return bool(self & (ChangeKind.DOWN | ChangeKind.UP | ChangeKind.CERTIFICATE))

    @property
    def names(self) -> list[str]:
        return [each.name.lower() for each in ChangeKind if each in self and each.name]
