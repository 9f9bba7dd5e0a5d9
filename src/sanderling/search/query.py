"""A query to the search engine, and its results."""

from msgspec import Struct

from sanderling.model import ChangeKind


class Query(Struct, frozen=True, kw_only=True):
    """What to search for. Times are seconds since 1970; 0 means no limit."""

    text: str = ""  # in the query language; an empty text finds every page that passes the filters
    semantic: bool = False  # also by meaning, in other words
    within: tuple[str, ...] = ()  # earlier queries: only what each of them finds too
    host: str = ""  # this host and its subdomains
    language: str = ""  # two letters
    since: float = 0.0  # the version was first seen at this time or later
    changed: float = 0.0  # the page changed at this time or later; a new page has not changed
    kinds: ChangeKind = ChangeKind(0)  # the last change was of one of these kinds
    gone: bool = False  # pages that are gone, by their last version with content
    at: float = 0.0  # the versions that were current at this time
    until: float = 0.0  # with `at`: that were current at any time from `at` until before this
    versions: bool = False  # also older versions
    limit: int = 10
    page: int = 1


class Hit(Struct, frozen=True, kw_only=True):
    """One version of a page that matches. Other matches with the same text are folded into it."""

    url: str
    title: str
    snippet_text: str
    snippet_html: str  # escaped, with the words in <mark>
    marks: list[tuple[int, int]]  # start and end of each matching word in `snippet_text`
    score: float
    importance: float  # 0 if it is not known
    host: str
    language: str
    status: int
    mime: str
    kinds: list[str]  # of the change that made this version
    at: float  # when this version was first seen
    until: float | None  # when the next version was first seen, or the page was gone
    fetched_at: float  # the last visit to the page
    version: int  # numbered as in `sanderling history`
    current: bool
    gone: bool
    folded: int  # how many other matches have the same text
    also: list[str]  # the URLs of some of them


class Results(Struct, frozen=True, kw_only=True):
    """One page of hits, the best first."""

    total: int  # matching documents, including folded and hidden ones
    hits: list[Hit]
    more: bool  # there is another page
    took_ms: float
    documents: int  # how many versions are indexed
    behind: int  # how many versions are stored but not indexed yet
    notes: list[str]  # which parts of the query were read in another way than written
