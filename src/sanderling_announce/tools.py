"""What other libraries do better: `sanderling announce` passes them in. The small package does with
what Python has."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple, Optional
from urllib.parse import urljoin, urlsplit, urlunsplit

from sanderling_announce.errors import WrongUse, quoted

# Longer URLs are data or traps.
LONGEST_URL = 8192
_ESCAPED = re.compile(r"[^!#-;=?-_a-z~%]+|%(?![0-9A-Fa-f]{2})")
_PORTS = {"http": 80, "https": 443}
# Of a request, in seconds.
_PATIENCE = 30.0


class PostAnswer(NamedTuple):
    """How an address answered. The status is 0 if it did not answer."""

    status: int = 0
    complaint: str = ""
    retry_after: float = 0.0

    @property
    def taken(self) -> bool:
        return 200 <= self.status < 300


Post = Callable[[str, "dict[str, str]", bytes], PostAnswer]


def canonical(text: str) -> Optional[str]:
    """The usual form of an absolute URL of the web, without its fragment; None when it is none."""
    try:
        parts = urlsplit(text.strip())
        host = (parts.hostname or "").encode("idna").decode().lower()
        port = parts.port
    except ValueError:
        return None
    if parts.scheme not in _PORTS or not host or len(text) > LONGEST_URL:
        return None
    place = f"[{host}]" if ":" in host else host
    if port is not None and port != _PORTS[parts.scheme]:
        place = f"{place}:{port}"
    path = urlsplit(urljoin("http://x/", escaped(parts.path) or "/")).path if parts.path else "/"
    return urlunsplit((parts.scheme, place, path, escaped(parts.query), ""))


def escaped(text: str) -> str:
    return _ESCAPED.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8", "replace")), text)


def join(base: str, reference: str) -> Optional[str]:
    """A reference of a page, as a canonical URL."""
    try:
        return canonical(urljoin(base, reference.strip()))
    except ValueError:
        return None


def pattern(text: str) -> Any:
    """A compiled regular expression, for text and for bytes."""
    return _Pattern(text)


class _Pattern:
    def __init__(self, text: str) -> None:
        try:
            self._text, self._bytes = re.compile(text), re.compile(text.encode())
        except re.error as error:
            raise WrongUse(f"{quoted(text)} is not a valid pattern: {error}") from None

    def fullmatch(self, text: str) -> Any:
        return self._text.fullmatch(text)

    def sub(self, instead: bytes, content: bytes) -> bytes:
        return self._bytes.sub(instead, content)


def post(url: str, headers: dict[str, str], body: bytes) -> PostAnswer:
    """Sends a request that is answered or not. Redirects are not followed."""
    import urllib.error
    import urllib.request

    class NoRedirect(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *_: Any) -> None:
            return None

    request = urllib.request.Request(url, body, {"User-Agent": "sanderling-announce", **headers})
    try:
        with urllib.request.build_opener(NoRedirect).open(request, timeout=_PATIENCE) as answer:
            return PostAnswer(answer.status)
    except urllib.error.HTTPError as error:
        wait = error.headers.get("Retry-After", "")
        error.close()
        return PostAnswer(error.code, f"it answered {error.code}", float(wait) if wait.isdecimal() else 0.0)
    except (OSError, ValueError) as error:
        return PostAnswer(0, str(getattr(error, "reason", error)))


class Tools(NamedTuple):
    canonical: Callable[[str], Optional[str]] = canonical
    join: Callable[[str, str], Optional[str]] = join
    pattern: Callable[[str], Any] = pattern
    post: Post = post


PLAIN = Tools()
