"""Selects the versions to report, and defines what is reported about each."""

import uuid
from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct

from sanderling.model import ChangeKind, VersionRow
from sanderling.telling.edits import edit_id
from sanderling.urls import hostname, origin

# Versions are stored nearly in the order of time. Those of one report may differ by this many
# seconds.
SLACK = 600.0


class ChangeFilter(Struct, frozen=True, kw_only=True):
    """The changes that somebody wants to receive. The default is all news."""

    since: float = 0.0
    kinds: ChangeKind = ChangeKind(0)  # 0 means all kinds
    significance: float = 0.0
    hosts: tuple[str, ...] = ()  # and their subdomains; an empty tuple means all hosts
    everything: bool = False  # also changes that are not news or not visible
    login: bool = False  # also pages that were read in a session of the user's
    urls: frozenset[str] | None = None  # only these pages
    after: int = 0  # only versions with a higher number, such as those after the baseline

    @property
    def _asked_for(self) -> ChangeKind:
        """Kinds that are told only to those who ask for them."""
        return self.kinds & ChangeKind.BEHAVIOUR

    def takes(self, version: VersionRow) -> bool:
        return (
            version.at >= self.since
            and version.number > self.after
            and version.significance >= self.significance
            and (self.login or not version.login)
            and (not self.kinds or bool(version.kinds & self.kinds))
            and (self.everything or (version.news and bool(version.kinds)) or bool(version.kinds & self._asked_for))
            and (self.urls is None or version.url in self.urls)
            and (not self.hosts or _is_under(version.url, self.hosts))
        )

    def of(self, newest_first: Iterable[VersionRow]) -> Iterator[VersionRow]:
        """Yields the wanted versions. It stops reading at versions that are too old."""
        for version in newest_first:
            if version.at < self.since - SLACK or version.number <= self.after:
                return
            if self.takes(version):
                yield version


def kinds_named(names: Iterable[str]) -> ChangeKind:
    found = ChangeKind(0)
    for name in names:
        found |= ChangeKind[name.upper()]
    return found


def identity_of(version: VersionRow) -> str:
    """An id of a change. It is the same in every feed, digest and delivery."""
    return uuid.uuid5(uuid.NAMESPACE_URL, f"{version.url}#{version.at!r}").urn


def told(version: VersionRow) -> str:
    """What changed, in one line: the summary, and the change itself. A summary repeats prices; the
    excerpt has them."""
    if not version.excerpt:
        return version.summary
    parts = [part for part in version.summary.split("; ") if not (part.startswith("price ") and " -> " in part)]
    return f"{'; '.join(parts)}: {version.excerpt}"


def as_table(version: VersionRow) -> dict[str, Any]:
    """A change as JSON. The command line, webhooks and the API use the same keys."""
    return {
        "id": identity_of(version), "url": version.url, "at": version.at, "kinds": version.kinds.names,
        "significance": version.significance, "degree": version.degree, "summary": version.summary,
        "excerpt": version.excerpt, "news": version.news, "title": version.title, "edit": edit_id(version),
    }  # fmt: skip


def _is_under(url: str, hosts: tuple[str, ...]) -> bool:
    name, place = hostname(url), origin(url).partition("://")[2]
    return any(host in (name, place) or name.endswith("." + host) for host in hosts)
