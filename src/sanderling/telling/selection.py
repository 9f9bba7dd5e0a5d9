"""Which versions are worth telling, and what is told of each."""

import uuid
from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct

from sanderling.model import ChangeKind, VersionRow
from sanderling.urls import hostname, origin

# Commits come in the order of time, give or take the length of a report.
SLACK = 600.0


class ChangeFilter(Struct, frozen=True, kw_only=True):
    """What somebody wants to be told; by default all news."""

    since: float = 0.0
    kinds: ChangeKind = ChangeKind(0)  # none: all
    significance: float = 0.0
    hosts: tuple[str, ...] = ()  # with all below them; none: all
    everything: bool = False  # also what is no news, and what no reader sees

    def takes(self, version: VersionRow) -> bool:
        return (
            version.at >= self.since
            and version.significance >= self.significance
            and (not self.kinds or bool(version.kinds & self.kinds))
            and (self.everything or (version.news and bool(version.kinds)))
            and (not self.hosts or _is_under(version.url, self.hosts))
        )

    def of(self, newest_first: Iterable[VersionRow]) -> Iterator[VersionRow]:
        """The wanted ones; what is older than asked for is not even read."""
        for version in newest_first:
            if version.at < self.since - SLACK:
                return
            if self.takes(version):
                yield version


def kinds_named(names: Iterable[str]) -> ChangeKind:
    found = ChangeKind(0)
    for name in names:
        found |= ChangeKind[name.upper()]
    return found


def identity_of(version: VersionRow) -> str:
    """A name for a change that stays the same wherever and however often it is told."""
    return uuid.uuid5(uuid.NAMESPACE_URL, f"{version.url}#{version.at!r}").urn


def as_table(version: VersionRow) -> dict[str, Any]:
    """What is told of a change, in JSON: the same keys on the command line, in a webhook and in the API."""
    return {
        "id": identity_of(version), "url": version.url, "at": version.at, "kinds": version.kinds.names,
        "significance": version.significance, "degree": version.degree, "summary": version.summary,
        "news": version.news, "title": version.title,
    }  # fmt: skip


def _is_under(url: str, hosts: tuple[str, ...]) -> bool:
    name, place = hostname(url), origin(url).partition("://")[2]
    return any(host in (name, place) or name.endswith("." + host) for host in hosts)
