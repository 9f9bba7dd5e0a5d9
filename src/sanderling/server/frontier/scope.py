"""Step 2 of a page's life: decides for each URL, once, whether it is ours to visit."""

import re
from collections.abc import Callable, Iterable, Iterator

from publicsuffixlist import PublicSuffixList

from sanderling.errors import BadSeed, quoted
from sanderling.model import NewUrl, State, reasons
from sanderling.settings import Settings
from sanderling.urls import LONGEST, SEEDABLE, WEB, canonical, hostname, identity, origin
from sanderling.urls.patterns import pattern

# A chain of redirects longer than browsers follow leads nowhere.
MAX_HOPS = 20

Rank = Callable[[int], float]
# Why a URL, of this origin, is not followed; empty when it is.
UrlFilter = Callable[[str, str], str]

# /logout.php, /users/sign_out, ?action=logoff, Special:UserLogout; not
# /how-to-log-out-of-everything.
_ENDS_SESSION = re.compile(r"(?:[/?&=;:_.]|user)(?:log|sign)[-_]?(?:out|off)(?![\w%+-])", re.IGNORECASE)
# /items/5/delete, ?action=remove, ?delete=5; not /how-to-delete.
_CHANGES = re.compile(
    r"[/?&;=@:](?:delete|remove|destroy|erase|purge|revoke|retire|unsubscribe|cancel|approve|reject|vote)(?:\.\w+)?/?(?=$|[?&;=])",
    re.IGNORECASE,
)


def canonical_seed(text: str) -> str:
    """The canonical form of what the user typed as a seed; a bare host name gets a scheme."""
    stripped = text.strip()
    if re.search(r"[\t\r\n]", stripped):  # URL parsers take these out, and so would make one URL of two
        raise BadSeed(f"{quoted(text)} cannot be a seed: there is a tab or the end of a line in it")
    if "://" not in stripped and re.match(r"[\w.-]+(:\d+)?(/|$)", stripped) and stripped[0] not in "/.-":
        stripped = "https://" + stripped
    url = canonical(stripped, SEEDABLE)
    if url is None:
        scheme = stripped.partition("://")[0]
        if "://" in stripped and scheme.lower() not in ("http", "https", "ftp", "gopher"):
            raise BadSeed(f"{text!r} cannot be a seed: the scheme {scheme!r} is not http, https, ftp or gopher")
        if len(stripped) > LONGEST:
            raise BadSeed(f"{quoted(stripped)} cannot be a seed: it is longer than {LONGEST:,} characters")
        raise BadSeed(f"{quoted(text)} cannot be a seed: it is not a valid URL")
    if "@" in re.split(r"[/\\?#]", stripped.partition("://")[2], maxsplit=1)[0]:
        raise BadSeed(f"{url} cannot be a seed with a user name or a password: they are not sent; leave them out")
    return url


class Scope:
    """Which URLs a crawl follows: a chain of filters, made of the seeds' hosts, domains or
    prefixes, the user's patterns and the user's own functions."""

    def __init__(self, seeds: Iterable[str], settings: Settings, filters: Iterable[UrlFilter] = ()) -> None:
        """`filters` are the user's own; they are asked last."""
        self._kind = settings.scope
        self._suffixes = PublicSuffixList() if self._kind == "domain" else None
        self._homes: set[str] = set()
        self._prefixes: tuple[str, ...] = ()
        self._domain_of: dict[str, str] = {}
        self._include = [pattern(text) for text in settings.include]
        self._exclude = [pattern(text) for text in settings.exclude]
        self._in_session = settings.cookies
        self._logins = {login.place for login in settings.login}
        self._seeds: set[str] = set()
        self._always = frozenset(settings.always)
        self._schemes = {"http", "https", *settings.follow_schemes}
        bans, wanted = tuple(self._forbids()), (self._not_included,) if self._include else ()
        self._bans: tuple[UrlFilter, ...] = (*bans, *filters)
        self._chain: tuple[UrlFilter, ...] = (*self._places(), *bans, *wanted, *filters)
        for seed in seeds:
            self.extend(seed)

    def extend(self, seed: str) -> None:
        """Counts one more URL among the seeds."""
        self._seeds.add(seed)
        self._schemes.add(seed.partition(":")[0])
        if self._kind == "domain":
            self._homes.add(self._domain(origin(seed)))
        elif self._kind == "host":
            self._homes.add(_either(origin(seed)))
        elif self._kind == "prefix":
            path = _either(seed.partition("?")[0])
            self._prefixes += (path[: path.rfind("/") + 1],)

    def objection(self, url: str, home: str) -> str:
        """The reason why a URL with origin `home` is not followed, one of `OUT_OF_SCOPE`; empty
        when it is."""
        if url in self._always:
            return ""
        for says in self._chain:
            if reason := says(url, home):
                return reason
        return ""

    def forbidden(self, url: str, home: str) -> str:
        """The reason why a URL is never fetched, not even as a file that a page needs; empty when
        it may be."""
        for says in self._bans:
            if reason := says(url, home):
                return reason
        return ""

    def _places(self) -> Iterator[UrlFilter]:
        """The first part of the chain: how URLs are reached, and where they are."""
        yield self._by_another_scheme
        if self._kind == "host":
            yield self._on_another_host
        elif self._kind == "domain":
            yield self._on_another_domain
        elif self._kind == "prefix":
            yield self._outside_prefix

    def _forbids(self) -> Iterator[UrlFilter]:
        """The second part: what is never fetched."""
        if self._exclude:
            yield self._excluded
        if self._in_session or self._logins:
            yield self._harms_a_session

    def _by_another_scheme(self, url: str, home: str) -> str:
        if url.startswith(WEB) or (scheme := url.partition(":")[0]) in self._schemes:
            return ""
        return reasons.reason("scheme", scheme)

    def _on_another_host(self, url: str, home: str) -> str:
        if _either(home) in self._homes:
            return ""
        # The FTP or Gopher server of a host is the same host, at another port.
        if not home.startswith(WEB) and hostname(home) in map(hostname, self._homes):
            return ""
        return reasons.reason("other-host")

    def _on_another_domain(self, url: str, home: str) -> str:
        return "" if self._domain(home) in self._homes else reasons.reason("other-domain")

    def _outside_prefix(self, url: str, home: str) -> str:
        return "" if _either(url).startswith(self._prefixes) else reasons.reason("outside-prefix")

    def _excluded(self, url: str, home: str) -> str:
        return reasons.reason("exclude") if any(p.search(url) for p in self._exclude) else ""

    def _not_included(self, url: str, home: str) -> str:
        # What to follow from a seed is said by patterns that the seed itself need not match.
        followed = url in self._seeds or any(p.search(url) for p in self._include)
        return "" if followed else reasons.reason("include")

    def _harms_a_session(self, url: str, home: str) -> str:
        logged_in = home in self._logins
        if (self._in_session or logged_in) and _ENDS_SESSION.search(url, len(home)):
            return reasons.reason("ends-session")
        if logged_in and _CHANGES.search(url, len(home)):
            return reasons.reason("changes-something")
        return ""

    def _domain(self, home: str) -> str:
        found = self._domain_of.get(home)
        if found is None:
            name = hostname(home)
            private = self._suffixes.privatesuffix(name) if self._suffixes else None
            found = self._domain_of[home] = private or name
        return found


def _either(url: str) -> str:
    """The same for both schemes: a site that moved to HTTPS still has links to its pages as they
    were."""
    return "http://" + url[8:] if url.startswith("https://") else url


def admit(
    found: Iterable[tuple[int, str, str, int, float, float]], via: int, depth: int, hops: int, scope: Scope,
    max_depth: int | None, rank: Rank,
) -> list[NewUrl]:  # fmt: skip
    """Rows for URLs that are not known yet, which have the fields of `Found`. Nothing is dropped:
    what is not followed is kept with the reason."""
    rows = []
    last, host = "", 0  # most of them are of one host
    for id, url, anchor, kind, modified, relevance in found:
        home = origin(url)
        if home != last:
            last, host = home, identity(home)
        reason = scope.objection(url, home)
        if not reason and max_depth is not None and depth > max_depth:
            reason = reasons.reason("too-deep")
        if not reason and hops > MAX_HOPS:
            reason = reasons.reason("too-many-redirects", MAX_HOPS)
        state = State.EXCLUDED if reason else State.QUEUED
        rows.append(
            NewUrl(id, url, host, depth, state, rank(depth), via, hops, anchor, reason, kind, modified, 0, relevance)
        )
    return rows
