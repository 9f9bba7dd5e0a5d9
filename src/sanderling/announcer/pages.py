"""Which files of a folder are pages of a site, and at which URLs."""

import os
import re
from collections.abc import Sequence
from typing import Any, NamedTuple
from urllib.parse import quote

from sanderling.errors import UsageError, quoted
from sanderling.urls import canonical, origin
from sanderling.urls.patterns import pattern

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

    pattern: Any  # of RE2
    url: str | None


class PageMap(NamedTuple):
    """Paths are bytes, as the file system has them, relative to the folder and with `/` between
    names."""

    site: str
    types: frozenset[bytes] | None = frozenset(TYPES)  # None: all of them
    rules: Sequence[MapRule] = ()
    extra: frozenset[str] = frozenset()  # URLs that are watched, whatever their type, such as feeds

    def url(self, path: bytes) -> str | None:
        """The URL of a file, or None when it is no page."""
        if is_hidden(path):
            return None
        text = os.fsdecode(path)
        folder, slash, name = path.rpartition(b"/")
        for rule in self.rules:
            if found := rule.pattern.fullmatch(text):
                url = _filled(rule.url, found.groups()) if rule.url is not None else None
                # Who leaves extensions out does not mean /index.
                return url.removesuffix("index") if url and name in INDEXES and url.endswith("/index") else url
        url = self.site + quote(folder + slash if name in INDEXES else path, safe="/~!$&'()*+,;=:@")
        if self.types is not None and name.rpartition(b".")[2].lower() not in self.types and url not in self.extra:
            return None
        return url


def is_hidden(path: bytes) -> bool:
    """Whether a file is hidden, lies in a hidden folder, or is an editor's temporary file."""
    return path.startswith(b".") or b"/." in path or _TEMPORARY.fullmatch(path.rpartition(b"/")[2]) is not None


def site_of(text: str) -> str:
    """The URL of a site as the user gave it; it ends with a slash."""
    url = canonical(text)
    if url is None or "?" in url:
        raise UsageError(f"{quoted(text)} is not the URL of a site, such as https://example.org/")
    return url if url.endswith("/") else f"{url}/"


def rule_of(text: str, site: str) -> MapRule:
    """Reads `PATTERN=URL`: `*` in the pattern stands for any part of a name, `**` for any path; in
    the URL, in the same order, for what was found. A URL without a host is relative to the site.
    `PATTERN=-` names files that are no pages."""
    paths, equals, target = text.partition("=")
    if not equals or not paths or not target:
        raise UsageError(f"{quoted(text)} is not a mapping PATTERN=URL, such as 'blog/**.html=blog/**'")
    wild = _WILD.findall(paths)
    spelled = [re.escape(part) for part in _WILD.split(paths)]
    gaps = ["(.*)" if each == "**" else "([^/]*)" for each in wild] + [""]
    matches = pattern("(?s)" + "".join(part + gap for part, gap in zip(spelled, gaps, strict=True)))
    if target == "-":
        return MapRule(matches, None)
    if len(_WILD.findall(target)) > len(wild):
        raise UsageError(f"{quoted(text)} has more stars on its right side than on its left one")
    absolute = target if "://" in target else site + target.lstrip("/")
    url = canonical(_WILD.sub("x", absolute))
    if url is None or not url.startswith(site):
        raise UsageError(f"{quoted(text)} leads to {quoted(absolute)}, which is not below {site}")
    return MapRule(matches, origin(url) + absolute.partition("://")[2].removeprefix(origin(url).partition("://")[2]))


def _filled(url: str, found: Sequence[str]) -> str:
    parts = iter(found)
    return _WILD.sub(lambda _: quote(os.fsencode(next(parts)), safe="/~!$&'()*+,;=:@"), url)


def depth(url: str, site: str) -> int:
    """How many names lie between a site's main page and a page."""
    path = url[len(site) :].partition("?")[0]
    return sum(1 for name in path.split("/") if name)
