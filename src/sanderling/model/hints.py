"""What a source outside the crawl says of a URL, such as a sitemap, a feed or a person."""

from typing import Literal, NamedTuple

# When a visited page is due that a person asked for: before all that is planned. No start of a run
# forgets it.
DUE_AT_ONCE = 1.0


class Hint(NamedTuple):
    """A URL is new, has changed or is gone, says a source. It may be wrong: only a visit finds
    out."""

    id: int
    url: str
    what: Literal["new", "changed", "gone"]
    at: float  # when that happened; 0 when the source does not say
    source: Literal["sitemap", "feed", "person", "indexnow", "websub", "report"]
    sure: float  # from 0 to 1; 1 is enough to visit the URL at once, less is evidence for when to visit it
