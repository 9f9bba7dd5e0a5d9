"""The keys of capture indexes: URLs with their host names reversed, so that sorting keeps a domain
together.

Replay tools look captures up by the same keys, so these have to be the ones that the Internet
Archive's rules give: what they take for one page gets one key.
"""

import re
from urllib.parse import quote_from_bytes, unquote_to_bytes

import can_ada

# What is not escaped, besides letters and digits: all that ASCII can show but `#`, `%` and the
# space.
_PLAIN = "!\"$&'()*+,-./:;<=>?@[\\]^_`{|}~"
_WWW = re.compile(r"^www\d*\.")
_ASP_SESSION = re.compile(r"/\((?:[a-z]\([0-9a-z]{24}\))+\)(?=/[^?]+\.aspx)|/\([0-9a-z]{24}\)(?=/[^?]+\.aspx)")
# From the last one in the query on, each is taken out once.
_SESSIONS = [
    re.compile(rf"^(.*)(?:{name})(?:&(.*))?$", re.IGNORECASE | re.DOTALL)
    for name in (
        "jsessionid=[0-9a-z]{32}",
        "phpsessid=[0-9a-z]{32}",
        "sid=[0-9a-z]{32}",
        "aspsessionid[a-z]{8}=[a-z]{24}",
        "cfid=[^&]+&cftoken=[^&]+",
    )
]


def surt(url: str) -> str:
    """The key of a canonical URL."""
    parsed = can_ada.parse(url)
    if parsed.protocol == "urn:":  # what was made of a page; its URL is part of the name
        named = _escaped(_unescaped(parsed.pathname)).lower().removesuffix("/")
        return f"urn:{named}{'?' * bool(parsed.search)}{_query(parsed.search[1:])}"
    labels = ",".join(reversed(_WWW.sub("", parsed.hostname.strip("[].")).split(".")))
    port = f":{parsed.port}" if parsed.port else ""
    query = _query(parsed.search[1:])
    return f"{labels}{port}){_path(parsed.pathname)}{'?' * bool(query)}{query}"


def _path(path: str) -> str:
    _, *steps = _unescaped(path).split(b"/")
    kept: list[bytes] = []
    for step in steps:
        if step == b".." and kept:
            kept.pop()
        elif step != b".":
            kept.append(step)
    *folders, last = kept or [b""]
    found = _escaped(b"/" + b"".join(step + b"/" for step in folders if step) + last).lower()
    found = _ASP_SESSION.sub("", found, count=1)
    return found.removesuffix("/") or "/"


def _query(query: str) -> str:
    found = _escaped(_unescaped(query))
    for session in _SESSIONS:
        if match := session.match(found):
            found = match[1] + (match[2] or "")
    # By name, then by value; a name without a value comes before the same name with an empty one.
    return "&".join("=".join(pair) for pair in sorted(pair.split("=", 1) for pair in found.lower().split("&")))


def _unescaped(text: str) -> bytes:
    """Without escapes, also those of escapes."""
    before, after = text.encode(), unquote_to_bytes(text)
    while after != before:
        before, after = after, unquote_to_bytes(after)
    return after


def _escaped(text: bytes) -> str:
    return quote_from_bytes(text, safe=_PLAIN)
