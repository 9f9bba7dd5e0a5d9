"""One canonical form for every URL, and what its query parameters and the user's patterns mean."""

from sanderling.urls.canonical import (
    LONGEST,
    SEEDABLE,
    WEB,
    as_written,
    canonical,
    hostname,
    identity,
    join,
    one_way,
    origin,
    redirected,
    request_identity,
    unified,
)
from sanderling.urls.fragments import document_of, fragment_of, is_route, is_state, with_fragment
from sanderling.urls.posting import posted, posting

__all__ = [
    "LONGEST",
    "SEEDABLE",
    "WEB",
    "as_written",
    "canonical",
    "document_of",
    "fragment_of",
    "hostname",
    "identity",
    "is_route",
    "is_state",
    "join",
    "one_way",
    "origin",
    "posted",
    "posting",
    "redirected",
    "request_identity",
    "unified",
    "with_fragment",
]
