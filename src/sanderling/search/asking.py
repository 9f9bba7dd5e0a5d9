"""What is asked of the search engine, and what it answers."""

from msgspec import Struct

from sanderling.model import ChangeKind


class Query(Struct, frozen=True, kw_only=True):
    """A question. Times are seconds since 1970, 0 for none."""

    text: str = ""  # in the query language; empty for everything that the filters leave
    host: str = ""  # this host and those below it
    language: str = ""  # two letters
    since: float = 0.0  # what the page says now it has said since then or later
    changed: float = 0.0  # the page changed since then; being new is no change
    kinds: ChangeKind = ChangeKind(0)  # the last change was of one of these kinds
    gone: bool = False  # pages that have left, by their last words
    at: float = 0.0  # what pages said at that time
    versions: bool = False  # older versions as well
    limit: int = 10
    page: int = 1


class Hit(Struct, frozen=True, kw_only=True):
    """One version of a page that answers the question; what is the same elsewhere is folded into it."""

    url: str
    title: str
    snippet_text: str
    snippet_html: str  # escaped, with the words in <mark>
    marks: list[tuple[int, int]]  # the words in `snippet_text`, from and to
    score: float
    importance: float  # 0 when it is not known
    host: str
    language: str
    status: int
    mime: str
    kinds: list[str]  # of the change that brought this version
    at: float  # when this version was first seen
    until: float | None  # when it was first seen to be another, or gone
    fetched_at: float  # the last visit to the page
    version: int  # as `history` counts them
    current: bool
    gone: bool
    folded: int  # how many more hits say the same
    also: list[str]  # the URLs of some of them


class Results(Struct, frozen=True, kw_only=True):
    """The hits on one page of an answer, the best first."""

    total: int  # documents that match, those that are folded or not shown included
    hits: list[Hit]
    more: bool  # there is another page
    took_ms: float
    documents: int  # how many versions are indexed
    behind: int  # how many versions are stored and not indexed yet
    notes: list[str]  # how the question was read, where it had to be bent
