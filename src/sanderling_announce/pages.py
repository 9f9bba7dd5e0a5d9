"""Which files of a folder are pages of a site, and at which URLs."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Any, NamedTuple
from urllib.parse import quote

from sanderling_announce.errors import WrongUse, quoted
from sanderling_announce.paths import HERE, PathRules
from sanderling_announce.tools import PLAIN, Tools

# Endings of files that browsers and crawlers read as they are.
TYPES = (b"html", b"htm", b"xhtml", b"pdf")
INDEXES = (b"index.html", b"index.htm", b"index.xhtml")

# Names under which editors, browsers and copying programs keep what is not finished.
_TEMPORARY = re.compile(
    rb"(?:.*(?:~|\.(?:swp|swx|tmp|temp|part|partial|crdownload|bak|orig|rej|lock))|#.*#|4913|___jb_.*)", re.DOTALL
)
_WILD = re.compile(r"\*\*|\*")


class MapRule(NamedTuple):
    """A `--map`: paths that match a pattern are pages at a URL, or none."""

    pattern: Any
    url: str | None


class PageMap(NamedTuple):
    """Paths are bytes, as the file system has them, relative to the folder and with `/` between
    names."""

    site: str
    types: frozenset[bytes] | None = frozenset(TYPES)  # None: all of them
    rules: Sequence[MapRule] = ()
    extra: frozenset[str] = frozenset()  # URLs that are watched, whatever their type, such as feeds
    names: PathRules = HERE

    def url(self, path: bytes) -> str | None:
        """The URL of a file, or None when it is no page."""
        if is_hidden(path):
            return None
        text = self.names.written(os.fsdecode(path))
        path = os.fsencode(text)
        folder, slash, name = path.rpartition(b"/")
        is_index = self.names.is_one_of(name, INDEXES)
        for rule in self.rules:
            if found := rule.pattern.fullmatch(text):
                url = _filled(rule.url, found.groups()) if rule.url is not None else None
                # Who leaves extensions out does not mean /index.
                return url.removesuffix("index") if url and is_index and url.endswith("/index") else url
        url = self.site + quote(folder + slash if is_index else path, safe="/~!$&'()*+,;=:@")
        if self.types is not None and name.rpartition(b".")[2].lower() not in self.types and url not in self.extra:
            return None
        return url


def is_hidden(path: bytes) -> bool:
    """Whether a file is hidden, lies in a hidden folder, or is an editor's temporary file."""
    return path.startswith(b".") or b"/." in path or _TEMPORARY.fullmatch(path.rpartition(b"/")[2]) is not None


def site_of(text: str, tools: Tools = PLAIN) -> str:
    """The URL of a site as the user gave it; it ends with a slash."""
    url = tools.canonical(text)
    if url is None or "?" in url:
        raise WrongUse(f"{quoted(text)} is not the URL of a site, such as https://example.org/")
    return url if url.endswith("/") else f"{url}/"


def rule_of(text: str, site: str, tools: Tools = PLAIN) -> MapRule:
    """Reads `PATTERN=URL`: `*` in the pattern stands for any part of a name, `**` for any path; in
    the URL, in the same order, for what was found. A URL without a host is relative to the site.
    `PATTERN=-` names files that are no pages."""
    paths, equals, target = text.partition("=")
    if not equals or not paths or not target:
        raise WrongUse(f"{quoted(text)} is not a mapping PATTERN=URL, such as 'blog/**.html=blog/**'")
    wild = _WILD.findall(paths)
    spelled = [re.escape(part) for part in _WILD.split(paths)]
    gaps = ["(.*)" if each == "**" else "([^/]*)" for each in wild] + [""]
    matches = tools.pattern("(?s)" + "".join(part + gap for part, gap in zip(spelled, gaps)))
    if target == "-":
        return MapRule(matches, None)
    if len(_WILD.findall(target)) > len(wild):
        raise WrongUse(f"{quoted(text)} has more stars on its right side than on its left one")
    absolute = target if "://" in target else site + target.lstrip("/")
    url = tools.canonical(_WILD.sub("x", absolute))
    if url is None or not url.startswith(site):
        raise WrongUse(f"{quoted(text)} leads to {quoted(absolute)}, which is not below {site}")
    place = origin(url)
    return MapRule(matches, place + absolute.partition("://")[2].removeprefix(place.partition("://")[2]))


def _filled(url: str, found: Sequence[str]) -> str:
    parts = iter(found)
    return _WILD.sub(lambda _: quote(os.fsencode(next(parts)), safe="/~!$&'()*+,;=:@"), url)


def depth(url: str, site: str) -> int:
    """How many names lie between a site's main page and a page."""
    path = url[len(site) :].partition("?")[0]
    return sum(1 for name in path.split("/") if name)


def origin(url: str) -> str:
    """The scheme and host of a canonical URL."""
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{rest.partition('/')[0]}"
