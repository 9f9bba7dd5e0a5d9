"""The rules of a robots.txt for one crawler, by RFC 9309. Time and memory are linear in the text.

Only the groups that address the crawler are kept, however many others a file holds. `Crawl-delay`
and `Sitemap` are no part of the RFC but in wide use. As Google's reader does, a few common
misspellings are read as what was meant.
"""

import math
import re
from collections.abc import Iterator, Set
from typing import Literal, NamedTuple
from urllib.parse import quote

from sanderling.urls import one_way, origin

# A URL is compared with one wildcard rule after the other. Later ones count as far as their first
# wildcard: they forbid more than was asked for, never less. Sites have a few hundred at most.
MOST_WILDCARDS = 1000

Field = Literal["agent", "allow", "disallow", "delay", "sitemap"]
# As written, misspelled and mistyped.
_LINE = re.compile(
    r"^[ \t]*(user[ -]?agent|allow|dis{1,2}al{1,2}[oa]w|diasllow|crawl[ -]?delay|site-?maps?)"
    r"(?:[ \t]*:|[ \t])[ \t]*([^#\n]*)",
    re.IGNORECASE | re.MULTILINE,
)
_FIELDS: dict[str, Field] = {"u": "agent", "a": "allow", "d": "disallow", "c": "delay", "s": "sitemap"}
_TOKEN = re.compile(r"[^\s/]+")
_EVERYONE = "*"


class WildcardRule(NamedTuple):
    """A pattern with `*` or a final `$`."""

    rank: tuple[int, bool]
    parts: list[str]  # between the wildcards
    to_the_end: bool

    def matches(self, path: str) -> bool:
        """Takes the first place of each part, which leaves the most room for the next: no other
        need be tried."""
        first, *rest = self.parts
        if not rest or not path.startswith(first):
            return path == first
        last = rest.pop() if self.to_the_end else ""
        at = len(first)
        for part in rest:
            found = path.find(part, at)
            if found < 0:
                return False
            at = found + len(part)
        return path.endswith(last) and at + len(last) <= len(path)


class RobotsGroup:
    """What the groups that address a crawler say together. The rule with the most octets decides,
    on a tie Allow."""

    def __init__(self) -> None:
        self.prefixes: dict[str, tuple[int, bool]] = {}
        self.wildcards: list[WildcardRule] = []
        self.crawl_delay = 0.0
        self._lengths: list[int] = []

    def add(self, pattern: str, allow: bool) -> None:
        rank = (len(pattern.encode("utf-8", "replace")), allow)
        to_the_end = pattern.endswith("$")
        parts = _parts(pattern.removesuffix("$"))
        if len(parts) == 1 and not to_the_end:
            self._add_prefix(parts[0], rank)
        elif len(self.wildcards) < MOST_WILDCARDS:
            self.wildcards.append(WildcardRule(rank, parts, to_the_end))
        elif not allow:
            self._add_prefix(parts[0], rank)

    def _add_prefix(self, prefix: str, rank: tuple[int, bool]) -> None:
        self.prefixes[prefix] = max(rank, self.prefixes.get(prefix, rank))

    def ready(self) -> "RobotsGroup":
        """To be called when all rules are in."""
        self._lengths = sorted({len(prefix) for prefix in self.prefixes})
        self.wildcards.sort(key=lambda rule: rule.rank, reverse=True)
        return self

    def allows(self, url: str) -> bool:
        """Whether a canonical URL may be fetched."""
        written = url[len(origin(url)) :] or "/"
        if written == "/robots.txt":
            return True
        path = _spelled(written)
        verdict = self._rank(path)
        before, question, query = path.partition("?")
        if "%2F" in query or "%3F" in query:  # in a query they mean the same escaped and not
            verdict = max(verdict, self._rank(before + question + _unescaped(query)))
        return verdict[1]

    def _rank(self, path: str) -> tuple[int, bool]:
        """The rank of the rule that decides; without one, all is allowed."""
        best = (0, True)
        for length in self._lengths:
            found = self.prefixes.get(path[:length])
            if found is not None and found > best:
                best = found
        for rule in self.wildcards:
            if rule.rank <= best:
                break
            if rule.matches(path):
                return rule.rank
        return best


def group_for(text: str, names: Set[str]) -> RobotsGroup:
    """The rules of a robots.txt for the crawler of these product names in small letters, else those
    for everyone."""
    ours, everyones = RobotsGroup(), RobotsGroup()
    named = False
    current: set[RobotsGroup] = set()  # what the lines above address
    ruled = True  # the group has rules, so that the next User-agent line begins another one
    for field, value in _directives(text):
        if field == "agent":
            if ruled:
                current, ruled = set(), False
            token = _token(value)
            if token in names:
                named = True
                current.add(ours)
            elif token == _EVERYONE:
                current.add(everyones)
        elif field == "delay":
            for group in current:
                group.crawl_delay = max(group.crawl_delay, _seconds(value))
        elif field != "sitemap":
            ruled = True
            if value:
                for group in current:
                    group.add(value, field == "allow")
    return (ours if named else everyones).ready()


def sitemaps(text: str) -> Iterator[str]:
    """The addresses that the Sitemap lines of a robots.txt name, for all crawlers alike."""
    for field, value in _directives(text):
        if field == "sitemap" and value:
            yield value.split(maxsplit=1)[0]


def _directives(text: str) -> Iterator[tuple[Field, str]]:
    """The lines that are understood; all others count for nothing."""
    for line in _LINE.finditer(text.replace("\r", "\n")):
        yield _FIELDS[line[1][0].lower()], line[2].strip()


def _token(value: str) -> str:
    """The product that a User-agent line names: `Foo` of `Foo/1.0` and of `Foo Bar`."""
    found = _TOKEN.match(value)
    return (found[0].rstrip("*").lower() or _EVERYONE) if found else ""


def _seconds(value: str) -> float:
    try:
        seconds = float(value)
    except ValueError:
        return 0.0
    return seconds if math.isfinite(seconds) and seconds > 0 else 0.0


def _spelled(text: str, safe: str = "%/?") -> str:
    """One spelling to compare by: all is escaped but letters, digits, `-._~`, and `/` and `?`,
    which divide URLs."""
    text = quote(text, safe, errors="replace")
    return one_way(text) if "%" in text else text


def _parts(pattern: str) -> list[str]:
    """What stands between the wildcards of a pattern, as URLs spell it."""
    spelled = _spelled(pattern if pattern.startswith(("/", "*")) else f"/{pattern}", "%/?*")
    before, question, query = spelled.partition("?")
    return re.split(r"\*+", before + question + _unescaped(query))


def _unescaped(query: str) -> str:
    return query.replace("%2F", "/").replace("%3F", "?")
