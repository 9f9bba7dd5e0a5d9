"""Where a single request may lead, by the rule of the requests of a crawl: to public addresses, and
to the private ones that a seed had when the user named it."""

from collections.abc import Collection
from typing import NamedTuple

from sanderling.network import is_public, names_private


class NetworkReach(NamedTuple):
    """Where the request for one URL may lead."""

    anywhere: bool = False  # the user named the URL, or lifted the rule
    addresses: tuple[str, ...] = ()  # the private ones among those that are allowed

    def objection(self, name: str) -> str:
        """What is wrong with a host name by its text alone; empty if nothing is."""
        allowed = self.anywhere or self.addresses or not names_private(name)
        return "" if allowed else f"leads to the private address {name}"

    def allows(self, address: str) -> bool:
        return self.anywhere or may_be_reached(address, self.addresses)


PUBLIC = NetworkReach()
ANYWHERE = NetworkReach(anywhere=True)


def may_be_reached(address: str, private: Collection[str]) -> bool:
    """Whether an address is public, or one of the private ones that are allowed."""
    return is_public(address) or address.partition("%")[0] in private
