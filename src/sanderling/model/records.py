"""What the store takes in, and what it gives back."""

from typing import NamedTuple

from msgspec import UNSET, Struct, UnsetType

from sanderling.model.live import Counts
from sanderling.model.messages import Robots, Stored, Visit
from sanderling.model.revisits import Belief
from sanderling.model.states import ChangeKind, Kind, State


class NewUrl(NamedTuple):
    """A row of AllUrls to be."""

    id: int
    url: str
    host: int
    depth: int
    state: State
    rank: float
    via: int
    hops: int
    anchor: str
    reason: str
    kind: int = Kind.PAGE
    modified: float = 0.0
    alias: int = 0  # the URL that this one is only another name of
    relevance: float = 0.0  # of the link that led to it


class Change(Struct, frozen=True, array_like=True):
    """What the change detector says of a new version."""

    kinds: ChangeKind
    significance: float
    degree: str
    summary: str
    news: bool = True  # worth telling: not only what changes on every visit


class Before(NamedTuple):
    """What is kept of a page's last version to compare the next one with."""

    fingerprint: bytes
    noise: bytes
    state: int
    status: int
    stored: Stored | None
    ever: bool  # whether it has a version at all: some addresses only ever answered 404, or with a redirect

    @property
    def there(self) -> bool:
        """Whether our copy stands, also while the page is only out of reach, or has just left the collection."""
        return self.ever and self.state != State.GONE and not 300 <= self.status < 400


class Settled(NamedTuple):
    """The state a visit leaves its URL in; `due` is when to try again, 0 for never or at once."""

    id: int
    state: State
    attempts: int
    due: float
    reason: str


class Reworked(NamedTuple):
    """A URL that was not visited and is seen in another light: held back, let go, or another name of `alias`."""

    id: int
    state: State
    reason: str
    alias: int = 0


class PageFacts(NamedTuple):
    """What tells whether two URLs are one page; no status and digest for one that never answered."""

    state: int
    alias: int
    status: int
    text_digest: bytes
    simhash: int


class Host(Struct):
    """What the store knows about an origin."""

    id: int
    origin: str
    robots: Robots | None = None
    not_before: float = 0.0
    interval: float = 0.0
    learned: bytes = b""  # what the dispatcher learned about its URLs, in its own encoding


class Commit(Struct):
    """Everything one report changes, for one transaction."""

    client: str
    number: int
    urls: list[NewUrl]
    settled: list[Settled]
    visits: list[Visit]
    hosts: list[Host]
    warcs: dict[str, int]
    counts: Counts
    homes: list[str] | None = None  # all URLs that scope is measured from, when there are new ones
    changes: dict[int, Change] = {}  # of the visits that brought a new version
    noise: dict[int, bytes] = {}  # what is known about the noise of the pages visited again
    aliases: list[tuple[int, int]] = []  # URLs that turned out to be only other names, and of which
    dated: list[tuple[int, float]] = []  # known URLs with the date that a sitemap or feed gives
    beliefs: list[Belief] = []  # of the pages that were visited again
    trust: list[tuple[int, bytes]] = []  # what the update module has learned about hosts, in its own encoding


class PageRow(Struct, frozen=True, kw_only=True):
    """The current facts of a URL, as `sanderling pages --json` prints them; one that never answered has no status."""

    url: str
    status: int = 0
    state: str
    depth: int
    fetched_at: float = 0.0
    changed_at: float = 0.0
    visits: int = 0
    changes: int = 0
    importance: float = 0.0
    relevance: float | UnsetType = UNSET  # of the page, or else of the link to it; not printed when nobody said it
    digest: str = ""
    title: str = ""
    mime: str = ""
    charset: str = ""
    language: str = ""
    size: int = 0
    truncated: bool = False
    noindex: bool = False
    redirect: str | None = None
    permanent: bool = False  # a redirect that will not change
    same_as: str | None = None  # the URL that this one is only another name of
    simhash: str = ""  # 64 bits in hexadecimal; near-duplicates differ in 3 of them or fewer
    near: str | None = None  # a page with almost the same text, when one was looked for
    reason: str
    reason_code: str = ""  # the same for programs, `code` or `code:argument`
    warc: str | None = None
    offset: int = 0
    length: int = 0


class VersionRow(Struct, frozen=True, kw_only=True):
    """One version of a page, as `history` and `changes` show it."""

    number: int
    url: str
    at: float
    status: int
    kinds: ChangeKind
    significance: float
    degree: str
    summary: str
    news: bool
    digest: str
    size: int
    mime: str
    warc: str
    offset: int
    length: int
    title: str = ""  # as it is now

    @property
    def stored(self) -> Stored:
        return Stored(self.warc, self.offset, self.length)


class Searchable(NamedTuple):
    """A version as the search index needs it."""

    number: int
    page: int  # the number of its URL in the store
    version: int  # which of the page's versions, from 1
    url: str
    at: float
    until: float | None  # when the next version was seen; None for the last one
    status: int
    kinds: ChangeKind
    changed_at: float  # the last change of the page that was worth telling, up to this version; 0 for none
    gone: bool  # the page has left since, and not come back
    text_digest: bytes
    simhash: int  # 0 for versions that are not the last one
    noindex: bool | None  # None: not known but from the document
    mime: str
    stored: Stored


class HitFacts(NamedTuple):
    """What a search wants to know of a page as it is now."""

    importance: float
    fetched_at: float
    noindex: bool
    alias: bool  # it is only another name of a page
