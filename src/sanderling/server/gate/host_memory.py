"""What hosts taught, host by host and domain by domain, while they are visited and between runs."""

from collections.abc import Callable

import msgspec
from publicsuffixlist import PublicSuffixList

from sanderling.model import Host
from sanderling.server.gate import traps
from sanderling.server.gate.identity import KeptIdentity, QueryParameters, Twins
from sanderling.server.gate.traps import DomainBudget, HostBudget
from sanderling.urls import hostname

# Hosts that are remembered at a time; what others taught is in the store.
MOST_HOSTS = 20_000


class LearnedHost(msgspec.Struct, array_like=True):
    """What is kept of a host, in `Host.learned`."""

    names: KeptIdentity
    traps: traps.KeptTraps


def learned(host: Host) -> LearnedHost:
    if not host.learned:
        return LearnedHost(KeptIdentity(), traps.KeptTraps())
    return msgspec.msgpack.decode(host.learned, type=LearnedHost)


class RememberedHost:
    """What is known about one host while it is visited."""

    __slots__ = ("budget", "domain", "indexes", "parameters", "probed", "unkept")

    def __init__(self, kept: LearnedHost, domain: str) -> None:
        self.budget = HostBudget(kept.traps)
        self.parameters = QueryParameters(kept.names)
        self.indexes = set(kept.names.indexes)
        self.domain = domain
        self.probed = False
        self.unkept = 0  # pages that taught something which is not in the store yet


class HostMemory:
    """All hosts that taught something lately."""

    def __init__(self, host_of: Callable[[int], Host | None], is_home: Callable[[str], bool], many_hosts: bool) -> None:
        self.host_of = host_of
        self._is_home = is_home
        self._suffixes = PublicSuffixList() if many_hosts else None
        self._hosts: dict[int, RememberedHost] = {}
        self.domains: dict[str, DomainBudget] = {}
        self.twins = Twins()

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
            found = self._hosts[host] = RememberedHost(kept, self.domain(known.origin))
            if len(self._hosts) > MOST_HOSTS:
                del self._hosts[next(iter(self._hosts))]
        return found

    def domain(self, home: str) -> str:
        """The domain whose hosts are counted, when the scope may lead to more and more of them."""
        if self._suffixes is None or self._is_home(home):
            return ""
        name = hostname(home)
        if name[-1:].isdigit() or ":" in name:
            return ""
        return self._suffixes.privatesuffix(name) or ""

    def crowd_of(self, domain: str) -> DomainBudget:
        found = self.domains.get(domain)
        if found is None:
            found = self.domains[domain] = DomainBudget()
            if len(self.domains) > MOST_HOSTS:
                del self.domains[next(iter(self.domains))]
        return found

    def keep(self, host: int) -> list[Host]:
        """A host with all that it taught, for the store; nothing when it is not remembered."""
        known, watched = self.host_of(host), self._hosts.get(host)
        if known is None or watched is None:
            return []
        parameters = watched.parameters
        kept = KeptIdentity(
            parameters.ignored,
            sorted(parameters.counting)[:100],
            self.twins.merged.get(known.origin, ""),
            sorted(watched.indexes),
        )
        known.learned = msgspec.msgpack.encode(LearnedHost(kept, watched.budget.keep()))
        watched.unkept = 0
        return [known]

    def unkept(self) -> list[Host]:
        """The hosts that taught something since they were kept."""
        chosen = [host for host, watched in self._hosts.items() if watched.unkept]
        return [known for host in chosen for known in self.keep(host)]
