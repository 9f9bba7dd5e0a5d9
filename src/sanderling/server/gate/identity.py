"""What a host's pages teach about its URLs: parameters that do not count, and hosts that are one
under two names.

A parameter stops counting when at least three different contents came each under two values of it
(or with and without it), all else being equal, and no two values of it ever brought different ones.
A page that comes under every address, such as a demand to log in, is a single content and proves
nothing. One disagreement and the parameter counts for ever. Hosts that differ in `www.` or the
scheme are merged when four different contents are at the same path of both and none differs there,
or when four addresses of the one redirect for good to the same path of the other. The index page of
a folder and the folder itself are one page when they say the same.
"""

from collections.abc import Callable
from typing import NamedTuple

import msgspec

from sanderling.model import reasons
from sanderling.urls import identity, origin
from sanderling.urls.query import names_in, without

CONTENTS = 3
TWIN_CONTENTS = 4

# What servers answer with when a folder is asked for.
INDEX_PAGES = frozenset(
    f"{name}.{ending}"
    for name in ("index", "default", "Default")
    for ending in ("html", "htm", "shtml", "xhtml", "php", "asp", "aspx", "jsp")
)

# What is remembered of a host: undecided parameters and addresses of each.
MOST_PARAMETERS = 32
MOST_ADDRESSES = 256
MOST_FIRST = 10_000
# And what is kept of both between two runs.
MOST_KEPT_ADDRESSES = 128
MOST_KEPT_FIRST = 512
LONGEST_VALUE = 64
MOST_NAMES = 100_000

Look = Callable[[int], bytes]  # the text digest of a page that was visited


class KeptIdentity(msgspec.Struct, array_like=True):
    """What is kept of a host between two runs."""

    ignored: dict[str, str] = {}  # parameters that do not count, and the evidence
    counting: list[str] = []
    twin: str = ""  # the origin that this one is only another name of
    indexes: list[str] = []  # names of index pages that it has
    evidence: dict[str, dict[int, "ParameterValues"]] = {}  # of parameters that are not decided yet
    first: dict[int, int] = {}  # see `QueryParameters.first`


class ParameterValues(msgspec.Struct, array_like=True):
    """A URL without one of its parameters, and what came for the values of it."""

    digest: bytes
    pages: list[int]
    values: set[str]


class QueryParameters:
    """The parameters of one host."""

    def __init__(self, kept: KeptIdentity) -> None:
        self.ignored = dict(kept.ignored)
        self.counting = set(kept.counting)
        self.names = frozenset(self.ignored)
        self._evidence = {name: dict(addresses) for name, addresses in kept.evidence.items()}
        self._agreed = {
            name: {each.digest for each in addresses.values() if len(each.values) > 1}
            for name, addresses in kept.evidence.items()
        }
        # From URLs without an ignored parameter to a page that was visited with it.
        self.first = dict(kept.first)

    def keep(self, twin: str, indexes: set[str]) -> KeptIdentity:
        """What later runs have to know of the host."""
        evidence: dict[str, dict[int, ParameterValues]] = {}
        room = MOST_KEPT_ADDRESSES
        for name, addresses in self._evidence.items():
            short = [
                (rest, each)
                for rest, each in addresses.items()
                if all(len(value) <= LONGEST_VALUE for value in each.values)
            ]
            evidence[name] = dict(sorted(short, key=lambda pair: len(pair[1].values), reverse=True)[:room])
            room -= len(evidence[name])
        first = dict(list(self.first.items())[-MOST_KEPT_FIRST:])
        return KeptIdentity(self.ignored, sorted(self.counting)[:100], twin, sorted(indexes), evidence, first)

    def see(self, url: str, page: int, digest: bytes, look: Look) -> list[tuple[int, int]] | None:
        """Takes a visited page as evidence. When a parameter stops counting by it: which pages are
        the same.
        """
        if "?" not in url:
            for name, addresses in list(self._evidence.items()):
                address = addresses.get(page)
                if address is not None:
                    self._compare(name, address, page, "", digest)
            return self._conclude()
        names = names_in(url)
        if not self.names.isdisjoint(names):
            # It was on its way when the parameter stopped counting.
            first = self._first(identity(without(url, self.names)), page)
            return [(page, first)] if first != page else None
        for name in names:
            if not name or name in self.ignored or name in self.counting:
                continue
            known = self._evidence.get(name)
            if known is None:
                if len(self._evidence) >= MOST_PARAMETERS:
                    continue
                known = self._evidence[name] = {}
                self._agreed[name] = set()
            rest = identity(without(url, frozenset((name,))))
            value = _values(url, name)
            address = known.get(rest)
            if address is None:
                if len(known) >= MOST_ADDRESSES:
                    continue
                known[rest] = ParameterValues(digest, [page], {value})
                bare = look(rest)
                if bare:
                    self._compare(name, known[rest], rest, "", bare)
            else:
                self._compare(name, address, page, value, digest)
        return self._conclude()

    def _first(self, rest: int, page: int) -> int:
        if len(self.first) >= MOST_FIRST:
            del self.first[next(iter(self.first))]
        return self.first.setdefault(rest, page)

    @property
    def undecided(self) -> bool:
        """Whether there are parameters that may or may not count."""
        return bool(self._evidence)

    def take_back(self, name: str) -> None:
        """A parameter that was thought not to count does."""
        self.ignored.pop(name, None)
        self.names = frozenset(self.ignored)
        self.counting.add(name)

    def _compare(self, name: str, address: ParameterValues, page: int, value: str, digest: bytes) -> None:
        if address.digest != digest:
            if page in address.pages:  # the page itself has changed
                address.digest = digest
                return
            self.counting.add(name)
            del self._evidence[name], self._agreed[name]
            return
        if value not in address.values and page not in address.pages:
            address.values.add(value)
            address.pages.append(page)
            self._agreed[name].add(digest)

    def _conclude(self) -> list[tuple[int, int]] | None:
        same: list[tuple[int, int]] | None = None
        for name in [name for name, agreed in self._agreed.items() if len(agreed) >= CONTENTS]:
            addresses = self._evidence.pop(name)
            values = sum(len(address.values) for address in addresses.values() if len(address.values) > 1)
            self.ignored[name] = f"{len(self._agreed.pop(name))} contents, each the same under {values} values in all"
            same = same or []
            for rest, address in addresses.items():
                first, *others = address.pages if rest not in address.pages else [rest, *address.pages]
                self._first(rest, first)
                same += [(other, first) for other in dict.fromkeys(others) if other != first]
        self.names = frozenset(self.ignored)
        return same


def index_pairs(url: str, names: set[str]) -> list[tuple[int, int]]:
    """The (index page, folder) pairs that a visited URL may be part of.

    `names` are those of the index pages that its host has; a new one is added.
    """
    if url.endswith("/"):
        return [(identity(url + name), identity(url)) for name in names]
    folder, _, name = url.rpartition("/")
    if name not in INDEX_PAGES:
        return []
    names.add(name)
    return [(identity(url), identity(f"{folder}/"))]


class Merge(NamedTuple):
    """What two origins that are one change: those that stand for another now, and pages with the
    page each is.
    """

    origins: list[str]
    same: list[tuple[int, int]]


class Twins:
    """Origins with one name but for scheme and `www.`."""

    def __init__(self) -> None:
        self._by_name: dict[str, list[str]] = {}
        self._known: set[str] = set()
        self._agreed: dict[tuple[str, str], set[bytes]] = {}
        self._paths: dict[tuple[str, str], set[str]] = {}  # where they agreed
        self._moved: dict[tuple[str, str], set[int]] = {}
        self._apart: set[tuple[str, str]] = set()
        self._visits: dict[str, int] = {}
        self.merged: dict[str, str] = {}

    def know(self, home: str, twin: str = "") -> None:
        """An origin exists; `twin` when it was merged in an earlier run."""
        if twin:
            self.merged[home] = twin
        if home not in self._known and len(self._known) < MOST_NAMES:
            self._known.add(home)
            self._by_name.setdefault(_name(home), []).append(home)

    def others(self, home: str) -> list[str]:
        return [each for each in self._by_name.get(_name(home), ()) if each != home]

    def see(self, url: str, digest: bytes, look: Look) -> Merge:
        """Takes a visited page as evidence."""
        home = origin(url)
        path = url[len(home) :]
        self._visits[home] = self._visits.get(home, 0) + 1
        found = Merge([], [])
        for other in self.others(home):
            pair = (min(home, other), max(home, other))
            into = other if self.merged.get(home) == other else home if self.merged.get(other) == home else ""
            if pair in self._apart or (not into and (home in self.merged or other in self.merged)):
                continue
            theirs = look(identity(other + path))
            if not theirs:
                continue
            if theirs != digest:
                self._apart.add(pair)
            elif into:  # it was on its way when they became one
                lost = other if into == home else home
                found.same.append((identity(lost + path), identity(into + path)))
            else:
                agreed, paths = self._agreed.setdefault(pair, set()), self._paths.setdefault(pair, set())
                agreed.add(digest)
                if len(paths) < MOST_ADDRESSES:
                    paths.add(path)
                if len(agreed) >= TWIN_CONTENTS:
                    lost, into = self._better_last(pair)
                    found.same.extend((identity(lost + each), identity(into + each)) for each in self._paths.pop(pair))
                    found.origins.extend(self._merge(lost, into))
        return found

    def moved(self, url: str, target: str) -> list[str]:
        """Takes a permanent redirect as evidence, as `see` does a page."""
        home, other = origin(url), origin(target)
        if home in self.merged or _name(home) != _name(other) or url[len(home) :] != target[len(other) :]:
            return []
        if (min(home, other), max(home, other)) in self._apart or self.merged.get(other) == home:
            return []
        moved = self._moved.setdefault((home, other), set())
        moved.add(identity(url))
        return self._merge(home, other) if len(moved) >= TWIN_CONTENTS else []

    def _better_last(self, pair: tuple[str, str]) -> tuple[str, str]:
        one, two = sorted(pair, key=lambda home: (home.startswith("https://"), self._visits.get(home, 0)))
        return one, two

    def _merge(self, home: str, into: str) -> list[str]:
        changed = [home, *(each for each, goal in self.merged.items() if goal == home)]
        self.merged |= dict.fromkeys(changed, into)
        return changed


class Meant(NamedTuple):
    """The URL that another one stands for, and why."""

    url: str
    reason: str


def meant(url: str, merged: dict[str, str], ignored: frozenset[str]) -> Meant | None:
    """What a URL is only another name of, by what was learned; None when it is nothing but
    itself.
    """
    home = origin(url)
    into = merged.get(home)
    reason = ""
    if into is not None:
        url = into + url[len(home) :]
        reason = reasons.reason("merged-host", home, into)
    if ignored and "?" in url:
        shorter = without(url, ignored)
        if shorter != url:
            names = ", ".join(sorted(ignored.intersection(names_in(url))))
            return Meant(shorter, reasons.reason("merged-parameters", names))
    return Meant(url, reason) if reason else None


def _values(url: str, name: str) -> str:
    parts = url.partition("?")[2].split("&")
    return "&".join(part.partition("=")[2] + "=" for part in parts if part.partition("=")[0] == name)


def _name(home: str) -> str:
    """What twins have in common; a port that is not the usual one is part of it."""
    return home.partition("://")[2].removeprefix("www.")
