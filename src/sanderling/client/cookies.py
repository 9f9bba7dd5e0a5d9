"""The cookies of one session. They are sent to its origin only, whatever they say of themselves."""

import time
from typing import NamedTuple
from urllib.parse import urlsplit

from sanderling.header_values import moment, whole_number
from sanderling.urls import hostname

# A server that sets more, or longer ones, gets no more. Browsers have about these limits.
MOST, LONGEST = 180, 4096
_ENDLESS = float("inf")


class Cookie(NamedTuple):
    value: str
    path: str
    until: float  # by the clock of the day


class CookieJar:
    """The cookies of one origin, by name and path."""

    def __init__(self, origin: str) -> None:
        self._host = hostname(origin + "/")
        self._secure = origin.startswith("https:")
        self._cookies: dict[tuple[str, str], Cookie] = {}

    def __len__(self) -> int:
        return len(self._cookies)

    def read(self, text: str) -> None:
        """Takes the cookies of a file in Netscape's format that are for this origin and have not
        expired."""
        for line in text.splitlines():
            parts = line.removeprefix("#HttpOnly_").split("\t")
            if line.startswith("# ") or len(parts) != 7:
                continue
            domain, deep, path, secure, expires, name, value = parts
            until = float(whole_number(expires) or _ENDLESS)
            if self._is_ours(domain, deep.upper() == "TRUE") and (self._secure or secure.upper() != "TRUE"):
                self._put(name, Cookie(value, path or "/", until))

    def take(self, header: str, url: str) -> None:
        """Takes a cookie that a response sets."""
        pair, *rest = header.split(";")
        name, equals, value = pair.partition("=")
        said = {key.strip().lower(): value.strip() for key, _, value in (each.partition("=") for each in rest)}
        if not equals or (said.get("domain") and not self._is_ours(said["domain"], True)):
            return
        path = said.get("path", "")
        if not path.startswith("/"):
            path = urlsplit(url).path.rpartition("/")[0] or "/"
        self._put(name.strip(), Cookie(value.strip(), path, _until(said)))

    def header(self, url: str) -> str:
        """The value of the Cookie header of a request; empty when there is none."""
        path, now = urlsplit(url).path or "/", time.time()
        fitting = [(name, each) for (name, _), each in self._cookies.items() if _covers(each.path, path)]
        fitting.sort(key=lambda item: -len(item[1].path))
        return "; ".join(f"{name}={each.value}" for name, each in fitting if each.until > now)

    def _put(self, name: str, cookie: Cookie) -> None:
        key = (name, cookie.path)
        text = f"{name}={cookie.value}"
        if cookie.until <= time.time():
            self._cookies.pop(key, None)
        elif (
            len(text) <= LONGEST
            and text.isprintable()
            and text.isascii()
            and (key in self._cookies or len(self) < MOST)
        ):
            self._cookies[key] = cookie

    def _is_ours(self, domain: str, deep: bool) -> bool:
        """Whether a cookie of a domain is also sent to this host."""
        name = domain.strip().lstrip(".").lower()
        return name == self._host or (deep and self._host.endswith("." + name))


def _covers(path: str, asked: str) -> bool:
    return asked == path or asked.startswith(path if path.endswith("/") else path + "/")


def _until(said: dict[str, str]) -> float:
    """When a cookie ends, by its attributes."""
    age = said.get("max-age", "")
    seconds = whole_number(age.removeprefix("-"))
    if seconds is not None:
        return time.time() + seconds if not age.startswith("-") else 0.0
    until = moment(said.get("expires", "").replace("-", " "))
    return _ENDLESS if until is None else until
