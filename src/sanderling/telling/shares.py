"""How much the pages of each host changed: the shares of the six degrees of change."""

from collections import Counter
from collections.abc import Iterable

from msgspec import Struct, field

from sanderling.change.verdict import Degree
from sanderling.model import ChangeKind, PageRow, VersionRow
from sanderling.urls import hostname


class Shares(Struct):
    """The visits to known pages of a host, by degree and kind of change. A page that appeared or
    went has no degree."""

    host: str
    new: int = 0
    gone: int = 0
    degrees: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)

    def add(self, version: VersionRow) -> None:
        if version.kinds & ChangeKind.GONE:
            self.gone += 1
        elif version.kinds & ChangeKind.NEW:
            self.new += 1
        else:
            self.degrees[version.degree or Degree.NO_TEXT] += 1
            self.kinds.update(version.kinds.names)


def shares_by_host(versions: Iterable[VersionRow]) -> dict[str, Shares]:
    found: dict[str, Shares] = {}
    for version in versions:
        host = hostname(version.url)
        found.setdefault(host, Shares(host)).add(version)
    return found


def add_unchanged(shares: dict[str, Shares], pages: Iterable[PageRow], others: bool) -> None:
    """Visits are counted, but only changes have a date: this is for all time. With `others`, hosts
    that never changed are added."""
    for page in pages:
        host, visits = hostname(page.url), page.visits - page.changes - 1
        if visits > 0 and (others or host in shares):
            shares.setdefault(host, Shares(host)).degrees[Degree.NONE] += visits


def all_hosts(shares: Iterable[Shares]) -> Shares:
    total = Shares("all hosts")
    for each in shares:
        total.new += each.new
        total.gone += each.gone
        total.degrees += each.degrees
        total.kinds += each.kinds
    return total
