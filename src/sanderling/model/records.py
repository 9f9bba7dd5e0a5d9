"""What the store writes, and what it returns."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import UNSET, Struct, UnsetType

from sanderling.model.form_facts import FormRecord, Submission
from sanderling.model.live import Counts
from sanderling.model.messages import Robots, Stored, Visit
from sanderling.model.revisits import Belief
from sanderling.model.states import ChangeKind, Kind, State


class NewUrl(NamedTuple):
    """A URL to add to the store."""

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
    alias: int = 0  # the URL of the page, if this is only another name of it
    relevance: float = 0.0  # of the link that led to it
    off_topic: int = 0  # pages off the topic of the crawl that lead to it since the last one on it


class Change(Struct, frozen=True, array_like=True):
    """The result of the change detector for a new version."""

    kinds: ChangeKind
    significance: float
    degree: str
    summary: str
    news: bool = True  # worth reporting: not only noise, which changes on every visit
    excerpt: str = ""  # the change itself, before → after


class MarkedPage(NamedTuple):
    """A page that changed without a visit: an image that it shows is a different picture."""

    id: int
    at: float
    change: Change


class Before(NamedTuple):
    """What is stored about a page's last version, to compare the next one with it."""

    fingerprint: bytes
    noise: bytes
    state: int
    status: int
    stored: Stored | None
    ever: bool  # whether it has any version; some URLs have only ever answered 404 or a redirect
    digest: bytes = b""  # of the last version
    text_digest: bytes = b""  # likewise
    lost: bool = False  # its copy cannot be read and is to be fetched again
    mime: str = ""  # of the last version

    @property
    def there(self) -> bool:
        """Whether our copy is valid. It is so while the page cannot be reached, or if it left the
        collection.
        """
        return self.ever and self.state != State.GONE and not 300 <= self.status < 400


class Settled(NamedTuple):
    """The state of a URL after a visit. `due` is the time of the retry; 0 means never or at
    once.
    """

    id: int
    state: State
    attempts: int
    due: float
    reason: str


class Reworked(NamedTuple):
    """A URL that gets another state without a visit: held back, released, or known as another name
    of `alias`.
    """

    id: int
    state: State
    reason: str
    alias: int = 0


class Rejudged(NamedTuple):
    """What another model of the topic says of what is stored."""

    pages: Sequence[tuple[int, float]] = ()  # by the number of the newest version
    links: Sequence[tuple[int, float]] = ()  # to URLs that were not visited, by their number
    off_topic: Sequence[tuple[int, int]] = ()  # pages off the topic that lead to a URL, by its id
    relatedness: float = 1.0  # a page that was cut short and has as much is asked for whole
    notes: Mapping[str, str] = {}


class PageFacts(NamedTuple):
    """What shows whether two URLs are one page. A URL that never answered has no status and no
    digest.
    """

    state: int
    alias: int
    status: int
    text_digest: bytes
    simhash: int
    language: str = ""


class Host(Struct):
    """What the store knows about an origin."""

    id: int
    origin: str
    robots: Robots | None = None
    not_before: float = 0.0
    interval: float = 0.0
    learned: bytes = b""  # what the dispatcher learned about its URLs, in its own encoding
    rendering: bytes = b""  # what rendering its pages brings (`model.rendering`)


class FormChanges(Struct):
    """What to keep about forms."""

    records: list[FormRecord] = []
    submissions: list[Submission] = []
    learned: list[tuple[int, bytes]] = []  # by form, in the encoding of `forms`


class Commit(Struct):
    """All changes of one report, for one transaction."""

    client: str
    number: int
    urls: list[NewUrl]
    settled: list[Settled]
    visits: list[Visit]
    hosts: list[Host]
    warcs: dict[str, int]
    counts: Counts
    homes: list[str] | None = None  # all URLs that the scope starts from, if there are new ones
    changes: dict[int, Change] = {}  # of the visits that found a new version
    marked: list[MarkedPage] = []  # pages that show an image that changed
    noise: dict[int, bytes] = {}  # the noise of pages that were visited again
    aliases: list[tuple[int, int]] = []  # URLs that are only other names, and their pages
    dated: list[tuple[int, float]] = []  # known URLs with their dates in a sitemap or feed
    # Queued URLs that more pages link to: how many pages off the topic lead to each, and its rank,
    # unless that stays.
    off_topic: dict[int, tuple[int, float | None]] = {}
    beliefs: list[Belief] = []  # of the pages that were visited again
    trust: list[tuple[int, bytes]] = []  # how reliable hosts are, in the encoding of `freshness`
    forms: FormChanges | None = None  # what was learned about forms, and what is sent next
    notes: dict[str, str] = {}  # by key
    requisites: list[int] = []  # known links that are files of pages from now on
    restored: list[Visit] = []  # that brought the content of a lost copy once more


class HintCommit(Struct, frozen=True):
    """All that one message of a source changes, for one transaction."""

    source: str
    named: list[tuple[int, float]]  # known URLs, and when they changed as the source says
    urls: list[NewUrl]
    reworked: list[Reworked]
    hosts: list[Host]
    trust: list[tuple[int, bytes]]
    counts: Counts
    notes: dict[str, str]  # how far the source was read


class PageRow(Struct, frozen=True, kw_only=True):
    """The current facts of a URL, as `sanderling pages --json` prints them. A URL that never
    answered has no status.
    """

    url: str
    status: int = 0
    state: str
    depth: int
    fetched_at: float = 0.0
    changed_at: float = 0.0
    visits: int = 0
    changes: int = 0
    importance: float = 0.0
    relevance: float | UnsetType = UNSET  # of the page, or else of the link to it; not printed without a topic
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
    login: bool = False  # it was read in a session of the user's
    same_as: str | None = None  # the URL of the page, if this is only another name of it
    simhash: str = ""  # 64 bits in hexadecimal; near-duplicates differ in 3 of them or fewer
    state_of: str | UnsetType = UNSET  # the page that this is a state of; only printed for states
    near: str | None = None  # a near-duplicate, if the caller asked for one
    reason: str
    reason_code: str = ""  # the same for programs, `code` or `code:argument`
    warc: str | None = None
    offset: int = 0
    length: int = 0
    extracted: dict[str, Any] | None = None  # what the user's extractors said of the newest version


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
    extracted: dict[str, Any] | None = None  # what the user's extractors said
    login: bool = False  # its page was read in a session of the user's
    excerpt: str = ""  # the change itself, before → after

    @property
    def stored(self) -> Stored:
        return Stored(self.warc, self.offset, self.length)

    def marks(self, before: "VersionRow") -> bool:
        """Whether the page is as in the version before: only an image that it shows changed."""
        return self.stored == before.stored


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
    changed_at: float  # the last news of the page up to this version; 0 for none
    gone: bool  # the page is gone since then
    text_digest: bytes
    simhash: int  # 0 for versions that are not the last one
    noindex: bool | None  # None: only the document says it
    mime: str
    stored: Stored
    extracted: str | None  # what extractors said, in JSON
    relevance: float  # of the page as it is now


class HitFacts(NamedTuple):
    """The current facts of a page that a search needs."""

    importance: float
    fetched_at: float
    noindex: bool
    alias: bool  # it is only another name of a page
    relevance: float = 0.0  # for the topic of the crawl; 0 without one
    left_collection: bool = False  # it is not in the collection of the crawl any more
