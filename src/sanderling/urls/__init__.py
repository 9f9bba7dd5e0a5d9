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

__all__ = [
    "LONGEST",
    "SEEDABLE",
    "WEB",
    "as_written",
    "canonical",
    "hostname",
    "identity",
    "join",
    "one_way",
    "origin",
    "redirected",
    "request_identity",
    "unified",
]
