"""What hosts taught, host by host and domain by domain, while they are visited and between runs."""

from collections.abc import Callable, Iterable

import msgspec
from publicsuffixlist import PublicSuffixList

from sanderling.model import Host
from sanderling.server.gate import traps
from sanderling.server.gate.identity import KeptIdentity, QueryParameters, Twins
from sanderling.server.gate.mirror_evidence import KeptMirror, MirrorPair
from sanderling.server.gate.traps import DomainBudget, HostBudget, KeptDomain, Ways
from sanderling.server.gate.views import HostViews, KeptViews
from sanderling.urls import hostname

# Hosts that are remembered at a time; what others taught is in the store.
MOST_HOSTS = 20_000
# Domains that are kept between runs, and the key of the note that has them.
MOST_DOMAINS = 50
DOMAINS = "domains"


class LearnedHost(msgspec.Struct, array_like=True):
    """What is kept of a host, in `Host.learned`."""

    names: KeptIdentity
    traps: traps.KeptTraps
    mirror: KeptMirror = msgspec.field(default_factory=KeptMirror)
    views: KeptViews = msgspec.field(default_factory=KeptViews)


class _MirrorOnly(msgspec.Struct, array_like=True):
    """The same, if only the last part is to be read."""

    names: msgspec.Raw
    traps: msgspec.Raw
    mirror: KeptMirror = msgspec.field(default_factory=KeptMirror)


def learned(host: Host) -> LearnedHost:
    if not host.learned:
        return LearnedHost(KeptIdentity(), traps.KeptTraps())
    return msgspec.msgpack.decode(host.learned, type=LearnedHost)


def kept_mirror(host: Host) -> KeptMirror:
    return msgspec.msgpack.decode(host.learned, type=_MirrorOnly).mirror if host.learned else KeptMirror()


def mirror_of(known: LearnedHost) -> str:
    """The origin that a host is a mirror of; empty when it is none."""
    pair = known.mirror.pair
    return pair.original if pair is not None and pair.proven else ""


class RememberedHost:
    """What is known about one host while it is visited."""

    __slots__ = ("budget", "domain", "indexes", "parameters", "probed", "sketch", "unkept", "views")

    def __init__(self, kept: LearnedHost, domain: str) -> None:
        self.budget = HostBudget(kept.traps)
        self.parameters = QueryParameters(kept.names)
        self.views = HostViews(kept.views)
        self.indexes = set(kept.names.indexes)
        self.domain = domain
        self.probed = False
        self.sketch = list(kept.mirror.sketch)  # see `mirror_evidence`
        self.unkept = 0  # pages that taught something which is not in the store yet


class HostMemory:
    """All hosts that taught something lately."""

    def __init__(
        self,
        host_of: Callable[[int], Host | None],
        is_home: Callable[[str], bool],
        many_hosts: bool,
        kept_domains: str = "",
    ) -> None:
        self.host_of = host_of
        self.is_home = is_home
        self._suffixes = PublicSuffixList() if many_hosts else None
        self._hosts: dict[int, RememberedHost] = {}
        self._kept_domains = msgspec.json.decode(kept_domains or "{}", type=dict[str, KeptDomain])
        self.domains = {name: DomainBudget(each) for name, each in self._kept_domains.items()}
        self.twins = Twins()
        self.ways = Ways()
        self.pairs: dict[int, MirrorPair] = {}  # by hosts that are, or may be, mirrors of others

    def get(self, host: int) -> RememberedHost | None:
        """A host that is remembered."""
        return self._hosts.get(host)

    def of(self, host: int) -> RememberedHost | None:
        """A host, from the store if need be; None when it is not known there."""
        found = self._hosts.get(host)
        if found is None:
            known = self.host_of(host)
            if known is None:
                return None
            kept = learned(known)
            self.twins.know(known.origin, kept.names.twin)
            self.ways.restore(host, kept.traps.ways)
            if kept.mirror.pair is not None:
                self.pairs.setdefault(host, kept.mirror.pair)
            found = self._hosts[host] = RememberedHost(kept, self.domain(known.origin))
            if len(self._hosts) > MOST_HOSTS:
                del self._hosts[next(iter(self._hosts))]
        return found

    def domain(self, home: str) -> str:
        """The domain whose hosts are counted, when the scope may lead to more and more of them."""
        if self._suffixes is None or self.is_home(home):
            return ""
        name = hostname(home)
        if name[-1:].isdigit() or ":" in name:
            return ""
        return self._suffixes.privatesuffix(name) or ""

    def crowd_of(self, domain: str) -> DomainBudget:
        found = self.domains.get(domain)
        if found is None:
            found = self.domains[domain] = DomainBudget(KeptDomain())
            if len(self.domains) > MOST_HOSTS:
                del self.domains[next(iter(self.domains))]
        return found

    def keep(self, host: int) -> list[Host]:
        """A host with all that it taught, for the store; nothing when it is not remembered."""
        known, watched = self.host_of(host), self._hosts.get(host)
        if known is None or watched is None:
            return []
        kept = watched.parameters.keep(self.twins.merged.get(known.origin, ""), watched.indexes)
        mirror = KeptMirror(self.pairs.get(host), watched.sketch)
        traps_kept = watched.budget.keep(self.ways.to_keep(host))
        known.learned = msgspec.msgpack.encode(LearnedHost(kept, traps_kept, mirror, watched.views.keep()))
        watched.unkept = 0
        return [known]

    def keep_domains(self, names: Iterable[str]) -> dict[str, str]:
        """The suspicious domains as a note for the store; nothing when these are as they were."""
        found = {name: self.domains[name].keep() for name in names if name in self.domains}
        if all(self._kept_domains.get(name) == kept for name, kept in found.items()):
            return {}
        kept = {name: each for name, each in {**self._kept_domains, **found}.items() if each is not None}
        most = sorted(kept, key=lambda name: kept[name].run, reverse=True)[:MOST_DOMAINS]
        self._kept_domains = {name: kept[name] for name in most}
        return {DOMAINS: msgspec.json.encode(self._kept_domains).decode()}

    def unkept(self) -> list[Host]:
        """The hosts that taught something since they were kept."""
        chosen = [host for host, watched in self._hosts.items() if watched.unkept]
        return [known for host in chosen for known in self.keep(host)]
